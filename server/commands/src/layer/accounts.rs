//! Passwords and tokens in the settings of repositories: commands see them redacted, and git works.
//!
//! For each settings file that holds one, a copy without stands in the layer while a command runs. It is nobody's
//! change: it is taken away before what the command did to a `.git` is looked at. Outside the roots, where commands
//! write nothing, the sandbox shows the copy in the file's place.

use super::folder::{Folder, StampKind};
use super::{Layer, RootLayer};
use crate::command::account_in;
use std::io;
use std::path::{Path, PathBuf};

/// The longest settings that are looked into; git's are some hundred bytes.
const LONGEST: u64 = 1 << 20;
/// The most folders of submodules and worktrees that are looked at in one repository.
const MOST_FOLDERS: usize = 500;
/// How the names of settings end whose value is a secret, in small letters, beside those with an address in them.
const SECRET_ENDS: &[&str] = &["extraheader", "pass", "password", "passphrase", "token", "secret"];

/// Settings as they stand in a layer, by path from the root.
pub(super) type Redacted = Vec<(PathBuf, Vec<u8>)>;

impl Layer {
    /// From the next [`Layer::materialise`] on, the settings of these repositories (their `.git` folders) stand
    /// without what opens accounts.
    pub fn redact_accounts(&mut self, repositories: &[PathBuf]) {
        for own in &mut self.roots {
            let inside = repositories.iter().filter_map(|git| git.strip_prefix(&own.root).ok());
            own.repositories = inside.map(Path::to_owned).collect();
        }
    }
}

/// Texts that stand in for the settings of a root's repositories.
pub(super) fn find(own: &RootLayer, below: &Folder) -> Redacted {
    let mut out = Redacted::new();
    for git in &own.repositories {
        let Ok(Some(folder)) = below.reach(git) else { continue };
        let mut left = MOST_FOLDERS;
        look(git, &folder, &mut left, &mut out);
    }
    out
}

/// The bytes that commands read in the place of settings outside the roots, by absolute path: of those of these folders
/// that are git's own. Blocking.
pub(crate) fn redacted_outside(folders: Vec<PathBuf>) -> Vec<(PathBuf, Vec<u8>)> {
    // Where a link leads is where the file is replaced.
    let mut real: Vec<PathBuf> =
        folders.into_iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    real.sort_unstable();
    real.dedup();
    let mut out = Redacted::new();
    for path in real {
        let Ok(folder) = Folder::disk(&path) else { continue };
        if matches!(folder.look("HEAD".as_ref()), Ok(Some(_))) {
            let mut left = MOST_FOLDERS;
            look(&path, &folder, &mut left, &mut out);
        }
    }
    // A worktree's folder lies in its repository's.
    out.sort_unstable();
    out.dedup_by(|one, other| one.0 == other.0);
    out
}

/// Looks at the settings in a folder of git's own, and at those of submodules and worktrees below.
fn look(path: &Path, folder: &Folder, left: &mut usize, out: &mut Redacted) {
    for name in ["config", "config.worktree"] {
        let is_file =
            matches!(folder.look(name.as_ref()), Ok(Some(found)) if found.kind == StampKind::File);
        let read = || folder.read(name.as_ref(), LONGEST).ok();
        if let Some(redacted) = is_file.then(read).flatten().and_then(|bytes| redact(&bytes)) {
            out.push((path.join(name), redacted));
        }
    }
    for name in ["modules", "worktrees"] {
        if let Ok(inner) = folder.enter(name.as_ref()) {
            look_below(&path.join(name), &inner, left, out);
        }
    }
}

/// The name of a submodule may have slashes in it, so that its folder lies deeper.
fn look_below(path: &Path, folder: &Folder, left: &mut usize, out: &mut Redacted) {
    for name in folder.names().unwrap_or_default() {
        let Ok(inner) = folder.enter(&name) else { continue };
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = path.join(&name);
        let is_gits = matches!(inner.look("HEAD".as_ref()), Ok(Some(_)));
        if is_gits {
            look(&path, &inner, left, out);
        } else {
            look_below(&path, &inner, left, out);
        }
    }
}

/// Takes away what was put there and is as it was, with the folders that were made for it.
pub(super) fn take_away(up: &Folder, redacted: &mut Redacted) -> io::Result<()> {
    for (path, bytes) in redacted.drain(..) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
        let Some(folder) = up.reach(parent)? else { continue };
        if !matches!(folder.look(name)?, Some(found) if found.kind == StampKind::File)
            || folder.read(name, LONGEST).ok().as_ref() != Some(&bytes)
        {
            continue;
        }
        folder.remove(name)?;
        for path in parent.ancestors() {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { break };
            let Some(above) = up.reach(above)? else { break };
            if name == ".git" || !above.remove_empty(name) {
                break;
            }
        }
    }
    Ok(())
}

/// The settings without passwords and tokens; None where there are none.
fn redact(settings: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(settings.len());
    let (mut is_redacted, mut goes_on) = (false, false);
    for line in settings.split_inclusive(|byte| *byte == b'\n') {
        // The rest of a value that is gone.
        if goes_on {
            goes_on = is_continued(line);
            continue;
        }
        let text = String::from_utf8_lossy(line);
        let redacted = without_value(&text).or_else(|| without_accounts(&text));
        goes_on = without_value(&text).is_some() && is_continued(line);
        is_redacted |= redacted.is_some();
        out.extend_from_slice(redacted.as_deref().map_or(line, str::as_bytes));
    }
    is_redacted.then_some(out)
}

fn is_continued(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    backslashes % 2 == 1
}

/// A line whose value is a secret, with an empty one.
fn without_value(line: &str) -> Option<String> {
    let (name, value) = line.split_once('=')?;
    let last = name.trim_end().rsplit([' ', '\t', ']', '.']).next()?.to_ascii_lowercase();
    let is_secret = SECRET_ENDS.iter().any(|end| last.ends_with(end));
    (is_secret && !value.trim().is_empty()).then(|| format!("{name}=\n"))
}

/// A line with addresses without accounts.
fn without_accounts(line: &str) -> Option<String> {
    let mut out = String::new();
    let (mut rest, mut is_redacted) = (line, false);
    while let Some((before, after)) = rest.split_once("://") {
        let account = account_in(before, after).unwrap_or(0);
        is_redacted |= account > 0;
        out.push_str(before);
        out.push_str("://");
        rest = after.get(account..).unwrap_or_default();
    }
    out.push_str(rest);
    is_redacted.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_opens_accounts_is_redacted() {
        for (settings, redacted) in [
            (
                "[remote \"o\"]\n\turl = https://me:pw@h/a.git\n\tfetch = +a:b\n",
                "[remote \"o\"]\n\turl = https://h/a.git\n\tfetch = +a:b\n",
            ),
            (
                "[url \"https://tok@h/\"]\n\tinsteadOf = https://h/\r\n",
                "[url \"https://h/\"]\n\tinsteadOf = https://h/\r\n",
            ),
            ("[http]\n\textraHeader = AUTHORIZATION: basic eA==\n", "[http]\n\textraHeader =\n"),
            (
                "[http \"https://h/\"] extraheader=x \\\n more\n\tproxy = http://p\n",
                "[http \"https://h/\"] extraheader=\n\tproxy = http://p\n",
            ),
            ("[sendemail]\n\tsmtpPass = pw", "[sendemail]\n\tsmtpPass =\n"),
            ("\t# url = https://me:pw@h/ ünï\n", "\t# url = https://h/ ünï\n"),
        ] {
            let found = redact(settings.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(found.as_deref(), Some(redacted), "{settings}");
        }
        for settings in [
            "",
            "[core]\n\tbare = false\n",
            "[remote \"o\"]\n\turl = ssh://git@h/a\n\turl = git@h:a/b\n",
            "\u{fffd} = https://h/a@b\n",
        ] {
            assert_eq!(redact(settings.as_bytes()), None, "{settings}");
        }
        // Bytes that are no text stay as they are.
        assert_eq!(redact(b"\xff\nurl = https://a:b@h\n").unwrap(), b"\xff\nurl = https://h\n");
    }
}
