//! Names of files in a patch: relative to where git takes them to be, and quoted as git quotes them.

use crate::{Place, Roots};
use std::path::{Path, PathBuf};

/// Gives names to places.
pub(super) struct PlaceNames {
    /// The top of the repository that the first root is in, else that root itself.
    top: PathBuf,
}

impl PlaceNames {
    /// Names as `git apply` takes them in the first root: relative to the top of the repository it is in. Looks at the
    /// disk.
    pub(super) fn of(roots: &Roots) -> Self {
        let first = roots.iter().next().map(|root| root.path().to_owned()).unwrap_or_default();
        Self { top: repository_of(&first).unwrap_or(first) }
    }

    /// The name behind a prefix, in quotes where git would put them.
    pub(super) fn quoted(&self, prefix: &str, place: &Place) -> Vec<u8> {
        // Other roots are named as people name them.
        let name = place
            .path
            .strip_prefix(&self.top)
            .map_or_else(|_| place.shown.clone().into_bytes(), path_bytes);
        quoted(prefix, &name)
    }
}

/// The top of the repository that a folder is in.
fn repository_of(folder: &Path) -> Option<PathBuf> {
    let is_repository = |folder: &&Path| {
        let git = folder.join(".git");
        // A file that leads to it, as in a worktree; or the folder itself, and no empty one.
        git.is_file() || git.join("HEAD").symlink_metadata().is_ok()
    };
    folder.ancestors().find(is_repository).map(Path::to_owned)
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_encoded_bytes().to_vec()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// Like git with `core.quotePath`: control characters, quotes, backslashes and all that is not ASCII are escaped.
fn quoted(prefix: &str, name: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !b"\"\\".contains(byte);
    if name.iter().all(is_plain) {
        return [prefix.as_bytes(), name].concat();
    }
    let mut out = [b"\"", prefix.as_bytes()].concat();
    for byte in name {
        let letter = match byte {
            7 => Some(b'a'),
            8 => Some(b'b'),
            b'\t' => Some(b't'),
            b'\n' => Some(b'n'),
            11 => Some(b'v'),
            12 => Some(b'f'),
            b'\r' => Some(b'r'),
            b'"' | b'\\' => Some(*byte),
            _ => None,
        };
        match letter {
            Some(letter) => out.extend([b'\\', letter]),
            None if is_plain(byte) => out.push(*byte),
            None => out.extend(format!("\\{byte:03o}").into_bytes()),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        let cases: [(&[u8], &str); 6] = [
            (b"src/a b.rs", "a/src/a b.rs"),
            ("grüße".as_bytes(), r#""a/gr\303\274\303\237e""#),
            (b"a\n+++ b/other", r#""a/a\n+++ b/other""#),
            (b"\x01\x7f\xff\t\r", r#""a/\001\177\377\t\r""#),
            (br#"say "hi""#, r#""a/say \"hi\"""#),
            (br"a\b", r#""a/a\\b""#),
        ];
        for (name, expected) in cases {
            assert_eq!(String::from_utf8(quoted("a/", name)).unwrap(), expected);
        }
    }
}
