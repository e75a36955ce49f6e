//! What a command's output says of the sandbox it ran in, told by the words that programs have for it.

/// Signs that a name could not be looked up or nothing could be reached, in small letters.
const NO_NETWORK: &[&str] = &[
    "could not resolve host",
    "couldn't resolve host",
    "dns error",
    "eai_again",
    "enetunreach",
    "failed to lookup address",
    "getaddrinfo enotfound",
    "name or service not known",
    "name resolution",
    "network is unreachable",
    "no address associated with hostname",
    "no route to host",
    "nodename nor servname",
    "server misbehaving",
    "unable to resolve host",
];

/// Signs that a program was refused a connection, in words that only its runtime has for that.
const REFUSED_BY_THE_SYSTEM: &[&str] = &[
    "connectionrefusederror",
    "connect econnrefused",
    "connectexception",
    "connection refused (os error 111)",
    "errno::econnrefused",
];

/// Signs that nothing listens where something was looked for.
const REFUSED: &[&str] = &["connection refused", "econnrefused", "failed to connect"];

/// The ways to name this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// Whether a command that had no network seems to have failed for want of it, or of this machine's own servers.
pub(super) fn wants_network(output: &str, failed: bool) -> bool {
    let output = output.to_lowercase();
    let has = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
    failed && (has(NO_NETWORK) || has(REFUSED_BY_THE_SYSTEM) || has(REFUSED) && has(HERE))
}

/// Whether a command seems to have failed because it renamed a folder of the disk's, which an overlay refuses.
pub(super) fn wants_rename(output: &str, failed: bool) -> bool {
    let output = output.to_lowercase();
    failed && ["cross-device link", "(os error 18)"].iter().any(|sign| output.contains(sign))
}

/// The part of an output that is looked through for names.
pub(super) fn end_of(output: &str) -> &str {
    let from = output.len().saturating_sub(16 * 1024);
    (from..=output.len()).find_map(|from| output.get(from..)).unwrap_or_default()
}

/// Whether a command seems to have run out of room for what it writes.
pub(super) fn wants_room(output: &str) -> bool {
    output.to_lowercase().contains("no space left on device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn want_of_the_network_is_told_by_its_words() {
        for words in [
            "curl: (6) Could not resolve host: example.com",
            "fatal: unable to access: Temporary failure in name resolution",
            "npm ERR! getaddrinfo EAI_AGAIN registry",
            "connect: Network is unreachable",
            "curl: (7) Failed to connect to localhost port 5432",
            "Error: connect ECONNREFUSED 127.0.0.1:6379",
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "Io(Custom { kind: Other, error: Connection refused (os error 111) })",
            "java.net.ConnectException: Connection refused",
        ] {
            assert!(wants_network(words, true), "{words}");
            assert!(!wants_network(words, false), "{words}");
        }
        for words in ["assertion failed: connection refused", "error[E0425]", ""] {
            assert!(!wants_network(words, true), "{words}");
        }
    }
}
