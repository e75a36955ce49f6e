//! Names of files and words of commands that may hold secrets.
//!
//! A pattern of the shell counts as the names it plainly stands for (`cat .e*`, `cat id_?sa`), but not one that
//! begins with a star. A command's search through a folder, or a program of one's own, can read such files
//! unnamed: this is a guard against accidents, not a wall.

use super::pattern::matches as glob;
use crate::danger::{self, Word};

/// Names of files and folders that hold secrets, in small letters. `*` stands for anything; a name with a
/// slash is two components.
const SENSITIVE: &[&str] = &[
    ".env*",
    "*.env",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".password-store",
    "credentials.json",
    ".docker/config.json",
    ".config/gcloud",
    ".cargo/credentials*",
    ".config/gh",
    ".m2/settings.xml",
    ".dockercfg",
    ".htpasswd",
    ".my.cnf",
    ".s3cfg",
    ".terraformrc",
    ".vault-token",
    "*.kdbx",
    "*.p8",
    "*.ppk",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "service-account*.json",
    "terraform.tfvars",
    // Keyrings, and profiles of browsers and mail.
    "share/keyrings",
    "share/kwalletd",
    ".config/keepassxc",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome*",
    ".config/chromium",
    ".config/bravesoftware",
    ".config/microsoft-edge*",
    ".config/vivaldi",
    ".config/opera",
];

/// Names that a pattern of the shell may stand for, one of each kind; the pattern must be as plain as that.
const EXAMPLES: &[&str] = &[
    ".env",
    ".env.local",
    ".envrc",
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".password-store",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials.json",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "server.key",
    "server.pem",
];

/// The most patterns of a command that are looked at; with more, one is taken to be about a secret.
const MOST_PATTERNS: usize = 200;

/// Names that look like [`SENSITIVE`] and are meant to be read.
const HARMLESS: &[&str] =
    &[".env.example", ".env.sample", ".env.template", ".env.dist", ".environment", "*.pub"];

/// Programs whose arguments with blanks are prose, not code.
const PROSE: &[&str] = &["echo", "gh", "git", "printf"];

/// True if a path may hold secrets, by its name alone.
pub fn is_sensitive(path: &str) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let hits = |names: &[&str], text: &str| names.iter().any(|name| glob(name, text));
    let pairs = parts.windows(2).map(|pair| pair.join("/"));
    // The environment that a process has been given to keep to itself.
    let is_environment = parts.contains(&"proc") && parts.last() == Some(&"environ");
    is_environment
        || parts.iter().any(|part| hits(SENSITIVE, part) && !hits(HARMLESS, part))
        || pairs
            .into_iter()
            .any(|pair| SENSITIVE.iter().any(|name| name.contains('/') && glob(name, &pair)))
}

/// The first thing in a command that may hold secrets.
pub(super) fn in_command(command: &str) -> Option<String> {
    let (parts, unknown) = danger::readable_commands(command);
    // A text that is not plain is looked through as it stands too, its quotes taken off.
    let as_it_stands = || in_text(&command.replace(['\'', '"', '\\'], ""));
    if unknown.is_some() {
        // Escapes in such quotes can spell any name.
        let escaped = command.contains("$'").then(|| "a text in $'…'".to_owned());
        if let Some(name) = as_it_stands().or(escaped) {
            return Some(name);
        }
    }
    let mut patterns = 0;
    parts.iter().find_map(|part| {
        let is_prose = part.program().is_some_and(|program| PROSE.contains(&program));
        let words = part.words.iter().map(|word| word.text());
        let words = words.filter(|word| !(is_prose && word.contains(char::is_whitespace)));
        let targets = part.redirects.iter().map(|redirect| redirect.target.text());
        let assigned = part.assignments.iter().map(String::as_str);
        if let Some(name) = words.chain(targets).chain(assigned).find_map(in_text) {
            return Some(name);
        }
        let targets = part.redirects.iter().map(|redirect| &redirect.target);
        let open =
            part.words.iter().skip(1).chain(targets).filter(|word| word.sure_start().is_some());
        open.map(Word::text).find_map(|word| {
            patterns += 1;
            (patterns > MOST_PATTERNS || stands_for_secret(word)).then(|| word.to_owned())
        })
    })
}

/// The first name in a text that may hold secrets: the text itself, or what stands between signs that no
/// plain name holds.
fn in_text(text: &str) -> Option<String> {
    let cut = |c: char| c.is_whitespace() || "'\"=:;|&<>(){}[]$`,@".contains(c);
    std::iter::once(text).chain(text.split(cut)).find(|name| is_sensitive(name)).map(str::to_owned)
}

/// True if a word that the shell expands may become the name of a secret. A leading dot must be written, and a
/// pattern that begins with a star, such as `*` or `*.json`, is not taken for more than it says.
fn stands_for_secret(word: &str) -> bool {
    word.to_lowercase().split('/').filter(|part| part.contains(['*', '?', '[', '{'])).any(|part| {
        if part.starts_with('*') || part.len() > 200 {
            return part.len() > 200;
        }
        // A word that is no pattern is taken by a shell as it stands.
        let Ok(glob) = globset::Glob::new(part) else { return false };
        let glob = glob.compile_matcher();
        let dot = part.starts_with(['.', '{']);
        EXAMPLES.iter().any(|name| (dot || !name.starts_with('.')) && glob.is_match(name))
    })
}

/// Parts of the names of variables and options whose values are keys, in small letters.
const KEY_NAMES: &[&str] = &[
    "apikey",
    "api-key",
    "api_key",
    "authorization",
    "bearer",
    "credential",
    "passw",
    "secret",
    "token",
];

/// How keys of common services begin.
const KEY_STARTS: &[&str] =
    &["AKIA", "AIza", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "xox"];

/// The text with `***` for what looks like a key: after a name of one, or by how it begins. For the audit, in
/// which a command is named and nothing secret is to stand.
pub fn without_keys(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || "_-.~+%".contains(c);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Some if a name of a key came before; true in it if a space is enough between it and the
    // value.
    let mut after_name = None;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = after;
        if !is_word(first) {
            // A value stands behind its name on the same line, with signs between them but no other command.
            let is_space = run.trim().is_empty();
            let goes_on = !run.starts_with('/') && !run.contains(['\n', ';', '|', '&', '(']);
            after_name = after_name.filter(|by_space| goes_on && (*by_space || !is_space));
            out.push_str(run);
            continue;
        }
        let small = run.to_lowercase();
        let is_name = !run.contains('.') && KEY_NAMES.iter().any(|name| small.contains(name));
        let is_key = run.len() >= 16 && KEY_STARTS.iter().any(|start| run.starts_with(start));
        if is_key || (after_name.is_some() && !is_name) {
            out.push_str("***");
        } else {
            out.push_str(run);
        }
        after_name = is_name.then(|| run.starts_with('-') || small == "bearer");
    }
    out
}
