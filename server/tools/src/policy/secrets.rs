//! What may hold secrets, told by names alone: of files, and in the words of commands.
//!
//! A pattern of the shell (`cat .e*`), a search through a folder or a program of one's own can read such files
//! unnamed: this is a guard against accidents, not a wall.

use super::rule::glob;
use crate::danger;

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
];

/// Names that look like [`SENSITIVE`] and are meant to be read.
const HARMLESS: &[&str] =
    &[".env.example", ".env.sample", ".env.template", ".env.dist", ".environment", "*.pub"];

/// Programs whose arguments with blanks are prose, not code.
const PROSE: &[&str] = &["echo", "gh", "git", "printf"];

/// Whether a path may hold secrets, by its name alone.
pub fn is_sensitive(path: &str) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split(['/', '\\']).collect();
    let hits = |names: &[&str], text: &str| names.iter().any(|name| glob(name, text));
    let pairs = parts.windows(2).map(|pair| pair.join("/"));
    parts.iter().any(|part| hits(SENSITIVE, part) && !hits(HARMLESS, part))
        || pairs
            .into_iter()
            .any(|pair| SENSITIVE.iter().any(|name| name.contains('/') && glob(name, &pair)))
}

/// The first thing in a command that may hold secrets.
pub(super) fn in_command(command: &str) -> Option<String> {
    let Ok(parts) = danger::simple_commands(command) else {
        // What can't be read is looked through as it stands, its quotes taken off.
        return in_text(&command.replace(['\'', '"', '\\'], ""));
    };
    parts.iter().find_map(|part| {
        let is_prose = part.program().is_some_and(|program| PROSE.contains(&program));
        let words = part.words.iter().map(|word| word.text());
        let words = words.filter(|word| !(is_prose && word.contains(char::is_whitespace)));
        let targets = part.redirects.iter().map(|redirect| redirect.target.text());
        let assigned = part.assignments.iter().map(String::as_str);
        words.chain(targets).chain(assigned).find_map(in_text)
    })
}

/// The first name in a text that may hold secrets: the text itself, or what stands between signs that no
/// plain name holds.
fn in_text(text: &str) -> Option<String> {
    let cut = |c: char| c.is_whitespace() || "'\"=:;|&<>(){}[]$`,@".contains(c);
    std::iter::once(text).chain(text.split(cut)).find(|name| is_sensitive(name)).map(str::to_owned)
}
