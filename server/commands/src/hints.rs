//! Hints about the sandbox, told by the words in a command's output.

/// A sign of something, in small letters.
struct Sign {
    /// All of these stand in the output.
    words: &'static [&'static str],
    /// And one of the names of this machine.
    here: bool,
}

const fn sign(words: &'static [&'static str]) -> Sign {
    Sign { words, here: false }
}

const fn sign_here(words: &'static [&'static str]) -> Sign {
    Sign { words, here: true }
}

/// Signs that a name could not be looked up, that nothing could be reached, or that nothing listens where something
/// was looked for. Words that a program's own messages may have as well count only beside this machine's name.
const WANTS_NETWORK: &[Sign] = &[
    // No name is known: the system's words, then the runtimes' and the tools' own.
    sign(&["name resolution"]),
    sign(&["temporary failure resolving"]),
    sign(&["name or service not known"]),
    sign(&["nodename nor servname"]),
    sign(&["no address associated with hostname"]),
    sign(&["could not resolve host"]),
    sign(&["couldn't resolve host"]),
    sign(&["unable to resolve host"]),
    sign(&["could not reach host"]),
    sign(&["no servers could be reached"]),
    sign(&["dns error"]),
    sign(&["failed to lookup address"]),
    sign(&["server misbehaving"]),
    sign(&["eai_again"]),
    sign(&["getaddrinfo enotfound"]),
    sign(&["unknownhostexception"]),
    sign(&["io::socket", "bad hostname"]),
    sign(&[":nxdomain"]),
    // Maven, which is told that there is none.
    sign(&["cannot access", "in offline mode"]),
    // Nothing leads there.
    sign(&["network is unreachable"]),
    sign(&["no route to host"]),
    sign(&["enetunreach"]),
    sign(&["ehostunreach"]),
    // Nothing listens there, in words that only runtimes and tools have for that.
    sign(&["connectionrefusederror"]),
    sign(&["[errno 111] connection refused"]),
    sign(&["connect econnrefused"]),
    sign(&["code: 'econnrefused'"]),
    sign(&["errno::econnrefused"]),
    sign(&["(os error 111)"]),
    sign(&["(111: connection refused)"]),
    sign(&["connect: connection refused"]),
    sign(&["errno=connection refused"]),
    sign(&["connecting to", "failed: connection refused"]),
    sign(&["connect to host", "connection refused"]),
    sign(&["connectexception"]),
    sign(&[":econnrefused"]),
    // In words that may be anybody's.
    sign_here(&["connection refused"]),
    sign_here(&["econnrefused"]),
    sign_here(&["failed to connect"]),
    sign_here(&["could not connect"]),
    sign_here(&["couldn't connect"]),
    sign_here(&["can't connect"]),
    sign_here(&["cannot connect"]),
];

/// The ways to name this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1", "::1"];

/// Signs that a folder of the disk's was renamed, which an overlay refuses.
const WANTS_RENAME: &[Sign] =
    &[sign(&["cross-device link"]), sign(&["exdev:"]), sign(&["(os error 18)"])];

/// Signs that there is no room left for what is written.
const WANTS_ROOM: &[Sign] =
    &[sign(&["no space left on device"]), sign(&["enospc:"]), sign(&["(os error 28)"])];

fn has(output: &str, signs: &[Sign]) -> bool {
    let output = output.to_lowercase();
    let says = |words: &&str| output.contains(*words);
    signs.iter().any(|sign| sign.words.iter().all(says) && (!sign.here || HERE.iter().any(says)))
}

/// True if a command that had no network seems to have failed for want of it, or of this machine's own servers.
pub(super) fn wants_network(output: &str, failed: bool) -> bool {
    failed && has(output, WANTS_NETWORK)
}

/// True if a command seems to have failed because it renamed a folder of the disk's.
pub(super) fn wants_rename(output: &str, failed: bool) -> bool {
    failed && has(output, WANTS_RENAME)
}

/// The part of an output that is looked through for names.
pub(super) fn end_of(output: &str) -> &str {
    let from = output.len().saturating_sub(16 * 1024);
    (from..=output.len()).find_map(|from| output.get(from..)).unwrap_or_default()
}

/// True if a command seems to have failed because it ran out of room for what it writes.
pub(super) fn wants_room(output: &str, failed: bool) -> bool {
    failed && has(output, WANTS_ROOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of programs when a name is not known, and then when nothing listens.
    const OF_THE_NETWORK: &[&str] = &[
        "curl: (6) Could not resolve host: example.invalid",
        "curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server",
        "wget: unable to resolve host address \u{2018}example.invalid\u{2019}",
        "Connecting to 127.0.0.1:9... failed: Connection refused.",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>",
        "WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7f46>: Failed to establish a new connection: [Errno 111] Connection refused')': /x/",
        "fatal: unable to access 'http://example.invalid/x.git/': Could not resolve host: example.invalid",
        "fatal: unable to look up example.invalid (port 9418) (Temporary failure in name resolution)",
        "fatal: unable to connect to example.org:\nexample.org[0: 10.0.0.1]: errno=Connection refused",
        "ssh: Could not resolve hostname example.invalid: Temporary failure in name resolution",
        "ssh: connect to host example.org port 22: Connection refused",
        "ssh: connect to host 10.0.0.1 port 22: Network is unreachable",
        "  [cause]: Error: getaddrinfo EAI_AGAIN example.invalid",
        "Error: connect ECONNREFUSED 127.0.0.1:6379",
        "npm error request to http://example.invalid/x failed, reason: getaddrinfo EAI_AGAIN example.invalid",
        "npm error   code: 'ECONNREFUSED',\nnpm error   errno: 'ECONNREFUSED',",
        "  [6] Could not resolve hostname (Could not resolve host: example.invalid)",
        "  [7] Could not connect to server (Failed to connect to 127.0.0.1 port 9 after 0 ms: Could not connect to server)",
        "error sending request for url (http://x/): error trying to connect: dns error: failed to lookup address information",
        "Io(Custom { kind: Other, error: Connection refused (os error 111) })",
        "go: example.org/m: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: server misbehaving",
        "dial tcp 10.0.0.1:9: connect: connection refused",
        "Temporary failure resolving 'deb.debian.org'",
        "Could not connect to 127.0.0.1:9 (127.0.0.1). - connect (111: Connection refused)",
        "Exception in thread \"main\" java.net.UnknownHostException: example.invalid",
        "java.net.ConnectException: Connection refused",
        "[ERROR] Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact a:b:pom:1 has not been downloaded from it before.",
        "IO::Socket::INET: Bad hostname 'example.invalid:9' at -e line 1.",
        "IO::Socket::INET: connect: Connection refused at -e line 1.",
        "bash: line 1: example.invalid: Temporary failure in name resolution",
        "bash: connect: Connection refused",
        "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
        "Could not connect to Redis at 127.0.0.1:6379: Connection refused",
    ];

    #[test]
    fn want_of_the_network_is_told_by_its_words() {
        for words in OF_THE_NETWORK {
            let around = format!("compiling\n\u{fc}\n{words}\nmore of it\n");
            assert!(wants_network(&around, true), "{words}");
            assert!(!wants_network(&around, false), "{words}");
        }
        for words in [
            "assertion failed: connection refused",
            "test refuses_a_connection ... FAILED",
            "failed to connect the parts",
            "unknown host key type",
            "error[E0425]: cannot find function `connect`",
            "at 127.0.0.1: 3 passed, 1 failed",
            "No such file or directory (os error 2)",
            "",
        ] {
            assert!(!wants_network(words, true), "{words}");
        }
    }

    #[test]
    fn a_refused_rename_is_told_by_its_words() {
        for words in [
            "OSError: [Errno 18] Invalid cross-device link: 'folder' -> 'other'",
            "fatal: renaming 'folder' failed: Invalid cross-device link",
            "Error: EXDEV: cross-device link not permitted, rename 'folder' -> 'other'",
            "Error: Os { code: 18, kind: CrossesDevices, message: \"Invalid cross-device link\" }",
            "could not rename: Invalid cross-device link (os error 18)",
            "rename folder other: invalid cross-device link",
        ] {
            assert!(wants_rename(words, true) && !wants_rename(words, false), "{words}");
        }
        for words in ["a link to another device", "(os error 180)", ""] {
            assert!(!wants_rename(words, true), "{words}");
        }
    }

    #[test]
    fn want_of_room_is_told_by_its_words() {
        for words in [
            "head: write error: No space left on device",
            "OSError: [Errno 28] No space left on device",
            "Error: ENOSPC: no space left on device, write",
            "failed to write: No space left on device (os error 28)",
        ] {
            assert!(wants_room(words, true) && !wants_room(words, false), "{words}");
        }
        assert!(!wants_room("there is space left", true));
    }
}
