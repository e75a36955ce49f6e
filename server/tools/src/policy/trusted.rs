//! Files that other programs trust: editors, shells, git hooks, build servers and debuggers run what they name, and
//! agents follow what they say. A change of one takes effect outside of what the user is looking at, so it waits for the
//! user's review in every mode.
//!
//! Build files that are ordinary work (`build.rs`, `Makefile`, `package.json`) are not among them: the user runs those.

use ropewalk_workspace::{Place, Roots};
use std::collections::HashSet;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use super::git_settings::hook_folders;
use super::pattern::{fold, matches as glob};

/// Why a change of such a file waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustedReader {
    /// An editor.
    Editor,
    /// A shell, or what sets up one for a folder.
    Shell,
    /// Git, by a hook.
    Hook,
    /// A server that builds and tests.
    Builds,
    /// A package manager or build tool, whatever it is asked for.
    Packages,
    /// A debugger or an interactive interpreter.
    Debugger,
    /// Programs that make a container or machine for the project.
    Container,
    /// Another agent, or this one.
    Agent,
}

impl std::fmt::Display for TrustedReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Editor => "editors run programs that it names",
            Self::Shell => "shells run what is in it",
            Self::Hook => "git runs what it names",
            Self::Builds => "build servers run what is in it",
            Self::Packages => "package managers and build tools run programs that it names",
            Self::Debugger => "debuggers and interpreters run what is in it",
            Self::Container => "development containers run what it names",
            Self::Agent => "coding agents follow it",
        })
    }
}

/// Names in small letters, of files and of folders with all that is in them. `*` stands for anything; a name with a
/// slash is several components.
const TRUSTED: &[(TrustedReader, &[&str])] = &[
    (
        TrustedReader::Editor,
        &[
            ".vscode",
            "*.code-workspace",
            ".vs",
            ".idea",
            ".fleet",
            ".run",
            ".zed",
            ".helix",
            ".nova",
            "*.sublime-project",
            ".nvim",
            ".nvim.lua",
            ".nvimrc",
            ".exrc",
            ".vimrc",
            "_vimrc",
            ".vim",
            ".lvimrc",
            ".dir-locals.el",
            ".dir-locals-2.el",
            ".emacs",
            ".emacs.d",
            ".kateproject*",
            ".neoconf.json",
            ".lazy.lua",
            "rust-analyzer.toml",
        ],
    ),
    (
        TrustedReader::Shell,
        &[
            ".envrc",
            ".mise.toml",
            ".mise.*.toml",
            "mise.toml",
            "mise.*.toml",
            ".mise",
            ".config/mise",
            ".autoenv*",
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".ssh",
        ],
    ),
    (
        TrustedReader::Hook,
        &[
            ".husky",
            ".githooks",
            ".git-hooks",
            ".github/hooks",
            ".gitconfig",
            ".pre-commit-config.yaml",
            ".pre-commit-config.yml",
            "lefthook.y*ml",
            "lefthook.toml",
            "lefthook.json",
            "lefthook-local.*",
            ".lefthook*",
            ".lintstagedrc*",
            ".overcommit.yml",
        ],
    ),
    (
        TrustedReader::Builds,
        &[
            ".github/workflows",
            ".github/actions",
            ".gitea/workflows",
            ".forgejo/workflows",
            ".gitlab-ci.yml",
            ".gitlab/ci",
            ".circleci",
            ".buildkite",
            ".woodpecker*",
            ".drone.yml",
            ".travis.yml",
            "appveyor.yml",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "jenkinsfile",
        ],
    ),
    (
        TrustedReader::Packages,
        &[
            ".cargo/config.toml",
            ".cargo/config",
            ".npmrc",
            ".yarnrc*",
            ".yarn/releases",
            ".yarn/plugins",
            ".pnpmfile.*js",
            "bunfig.toml",
            "pip.conf",
            ".mvn",
        ],
    ),
    (
        TrustedReader::Debugger,
        &[".gdbinit", ".lldbinit", ".pdbrc*", ".ghci", ".rprofile", ".irbrc", ".pryrc"],
    ),
    (TrustedReader::Container, &[".devcontainer", ".devcontainer.json", ".gitpod.yml", ".idx"]),
    (
        TrustedReader::Agent,
        &[
            "agents.md",
            "agents.override.md",
            "agent.md",
            "claude.md",
            "claude.local.md",
            "gemini.md",
            "qwen.md",
            "skill.md",
            "copilot-instructions.md",
            ".github/instructions",
            ".github/prompts",
            ".github/agents",
            ".github/chatmodes",
            ".mcp.json",
            ".ropewalk",
            ".agents",
            ".claude",
            ".codex",
            ".cursor",
            ".cursorrules",
            ".gemini",
            ".windsurf",
            ".windsurfrules",
            ".clinerules",
            ".roo",
            ".roorules",
            ".aider*",
            ".continue",
            ".kiro",
            ".amazonq",
            ".opencode",
            "opencode.json*",
            ".junie",
            ".qwen",
            ".goosehints",
            ".rules",
        ],
    ),
];

/// The program that trusts the file at a path, if one does, by its name and those of the folders above it.
pub fn trusted_by(path: &str) -> Option<TrustedReader> {
    let path = fold(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_part = |pattern: &str| {
        let names = pattern.split('/');
        let is_match =
            |part: &[&str]| part.iter().zip(names.clone()).all(|(part, name)| glob(name, part));
        parts.windows(names.clone().count()).any(is_match)
    };
    let found = TRUSTED.iter().find(|(_, names)| names.iter().any(|name| is_part(name)));
    found.map(|(reader, _)| *reader)
}

/// The program that trusts what lies below the folder at a path, if one does: `.cargo` holds `.cargo/config.toml`. A
/// link of such a name brings in all that it leads to.
pub fn trusted_below(path: &str) -> Option<TrustedReader> {
    let path = fold(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let is_start = |pattern: &str| {
        let pattern: Vec<&str> = pattern.split('/').collect();
        let is_end = |length: usize| {
            let end = parts.len().checked_sub(length).and_then(|from| parts.get(from..));
            let names = pattern.get(..length).unwrap_or_default();
            end.is_some_and(|end| end.iter().zip(names).all(|(part, name)| glob(name, part)))
        };
        (1..pattern.len()).any(is_end)
    };
    let found = TRUSTED.iter().find(|(_, names)| names.iter().any(|name| is_start(name)));
    found.map(|(reader, _)| *reader)
}

/// Targets of links with such names, in the open folders: a change there is a change of them. Looked for in each open
/// folder, and in folders there that have such a name or hold one. Folders that git's settings name for hooks are among
/// them. Blocking.
#[derive(Debug, Default)]
pub struct TrustedFiles {
    linked: Vec<(PathBuf, TrustedReader)>,
}

impl TrustedFiles {
    /// Looks for links. One `read_dir` for each open folder, and for those in it that are trusted.
    pub fn of(roots: &Roots) -> Self {
        let mut found = Self::default();
        let mut seen = HashSet::new();
        for root in roots.iter().map(|root| root.path()) {
            found.look(root, root, &mut seen);
            found.linked.extend(hook_folders(root).map(|path| (path, TrustedReader::Hook)));
        }
        found
    }

    fn look(&mut self, root: &Path, folder: &Path, seen: &mut HashSet<PathBuf>) {
        if !seen.insert(folder.to_owned()) {
            return;
        }
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let is = |kind: fn(&std::fs::FileType) -> bool| is(&entry, kind);
            if is(std::fs::FileType::is_symlink) {
                let reader = trusted_by(&below).or_else(|| trusted_below(&below));
                let target = reader.and_then(|reader| Some((path.canonicalize().ok()?, reader)));
                self.linked.extend(target);
            } else if folder == root
                && is(std::fs::FileType::is_dir)
                && trusted_by(&below).or_else(|| trusted_below(&below)).is_some()
            {
                self.look(root, &path, seen);
            }
        }
    }

    /// The program that trusts the file at this place, if one does.
    pub fn reader(&self, place: &Place) -> Option<TrustedReader> {
        let relative = place.relative.to_string_lossy();
        trusted_by(&relative).or_else(|| {
            let linked = self.linked.iter().find(|(target, _)| place.path.starts_with(target));
            linked.map(|(_, reader)| *reader)
        })
    }
}

fn is(entry: &DirEntry, kind: fn(&std::fs::FileType) -> bool) -> bool {
    entry.file_type().is_ok_and(|found| kind(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUSTED_FILES: &[&str] = &[
        ".vscode/tasks.json",
        "app/.vscode/settings.json",
        ".VSCode/tasks.json",
        "x.code-workspace",
        ".idea/workspace.xml",
        ".zed/tasks.json",
        ".helix/languages.toml",
        ".nvim.lua",
        ".exrc",
        ".dir-locals.el",
        ".envrc",
        ".husky/pre-commit",
        ".github/hooks/pre.json",
        ".pre-commit-config.yaml",
        ".mcp.json",
        ".claude/settings.json",
        ".agents/commands/review.md",
        ".codex/config.toml",
        ".cursor/rules/a.mdc",
        ".gemini/settings.json",
        ".ropewalk/config.toml",
        ".devcontainer/devcontainer.json",
        ".cargo/config.toml",
        "crates/a/.cargo/config",
        ".npmrc",
        ".yarnrc.yml",
        ".github/workflows/ci.yml",
        ".github/copilot-instructions.md",
        ".gitlab-ci.yml",
        "AGENTS.md",
        "docs/agents.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".cursorrules",
        "Jenkinsfile",
        "/.vscode/x",
        "mise.local.toml",
        "lefthook-local.yml",
    ];

    const ORDINARY_FILES: &[&str] = &[
        "build.rs",
        "Makefile",
        "package.json",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        ".editorconfig",
        ".github/CODEOWNERS",
        ".github/dependabot.yml",
        "Cargo.toml",
        ".cargo/audit.toml",
        "vscode/tasks.json",
        "src/agents.rs",
        "workflows/ci.yml",
        "config.toml",
        "Dockerfile",
        "README.md",
        "",
        "é/日本",
    ];

    #[test]
    fn files_that_others_run_or_follow_are_known_and_ordinary_ones_are_not() {
        for path in TRUSTED_FILES {
            assert!(trusted_by(path).is_some(), "{path}");
        }
        for path in ORDINARY_FILES {
            assert_eq!(trusted_by(path), None, "{path}");
        }
        for (path, is_above) in [
            (".cargo", true),
            ("a/.GitHub", true),
            (".yarn", true),
            (".cargo/x", false),
            ("src", false),
            ("", false),
        ] {
            assert_eq!(trusted_below(path).is_some(), is_above, "{path}");
        }
    }

    #[test]
    fn hooks_are_where_the_settings_of_git_say() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join(".git")).unwrap();
        std::fs::create_dir_all(top.join("sub/real")).unwrap();
        let settings = "[user]\n\thooksPath = none\n[Core]\n bare = false\n; x\n\tHooksPath = \"sub/my hooks\" # theirs\n[include]\npath = more\n";
        std::fs::write(top.join(".git/config"), settings).unwrap();
        std::fs::write(top.join(".git/more"), "[core] hookspath=sub/../sub/real\n").unwrap();
        // The root is a folder of the repository.
        let roots = Roots::new(vec![("w".to_owned(), top.join("sub"))]);
        let known = TrustedFiles::of(&roots);
        for (name, reader) in [
            ("my hooks/pre-commit", Some(TrustedReader::Hook)),
            ("real/pre-commit", Some(TrustedReader::Hook)),
            ("none/pre-commit", None),
        ] {
            let place = roots.place(top.join("sub").join(name)).unwrap();
            assert_eq!(known.reader(&place), reader, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_such_a_name_leads_to_by_a_link_is_such_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for folder in ["conf/vscode", "conf/cargo", "rules", ".claude", "src"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink("conf/vscode", root.join(".vscode")).unwrap();
        std::os::unix::fs::symlink("../rules", root.join(".claude/rules")).unwrap();
        std::os::unix::fs::symlink("src", root.join("code")).unwrap();
        std::os::unix::fs::symlink("conf/cargo", root.join(".cargo")).unwrap();
        let roots = Roots::new(vec![("w".to_owned(), root.clone())]);
        let known = TrustedFiles::of(&roots);
        let reader = |name: &str| known.reader(&roots.place(root.join(name)).unwrap());
        assert_eq!(reader("conf/vscode/tasks.json"), Some(TrustedReader::Editor));
        assert_eq!(reader("conf/cargo/config.toml"), Some(TrustedReader::Packages));
        assert_eq!(reader("rules/a.md"), Some(TrustedReader::Agent));
        assert_eq!(reader("AGENTS.md"), Some(TrustedReader::Agent));
        for name in ["src/a.rs", "conf/other", "a"] {
            assert_eq!(reader(name), None, "{name}");
        }
    }
}
