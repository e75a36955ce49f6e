//! Runs the rows of `hostile.rs` and checks that the machine is as it was.

use crate::hostile::{Ends, Row, Says};
use crate::world::{World, finish};
use ropewalk_sandbox::End;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Runs one row in a world of its own.
pub(crate) fn check(row: &Row) {
    let mut world = World::new();
    let home = world.home().to_owned();
    fill(&home);
    world.plan.hidden =
        vec![home.join("project/secret.env"), home.join("project/private"), home.join(".ssh")];
    let listeners = Listeners::new(&home);
    let key = UserKey::new(&listeners.name);
    let notes = std::fs::OpenOptions::new().append(true).open(home.join("other/notes.txt"));
    // Whoever started the server may have left it open to all that it starts.
    let _left_open = rustix::io::dup(notes.unwrap()).unwrap();
    let before = picture(&home);
    world.run(async |world| {
        let sandbox = world.sandbox().await;
        world.layer(&sandbox, "next");
        let (mut spec, output) = world.spec(row.script);
        let own = [("HOST", home.to_str().unwrap().to_owned()), ("SERIAL", key.0.to_string())];
        for (variable, value) in own.into_iter().chain(listeners.variables()) {
            spec.env.push((variable.into(), value.into()));
        }
        let (end, said) = finish(&sandbox, spec, output).await;
        judge(row, &end, &said);
        // The next command, over a layer of its own, finds all as it was.
        let (mut spec, output) = world.spec("cat a.txt; ls -A | tr '\\n' ' '");
        spec.layer = "next".to_owned();
        let (end, said) = finish(&sandbox, spec, output).await;
        assert_eq!(said, "plaina.txt link-out own.sock private secret.env ", "{}", row.name);
        assert_eq!(end, End::Exited { code: 0, left_running: false }, "{}", row.name);
        assert!(sandbox.is_alive());
    });
    assert_eq!(picture(&home), before, "{}: something outside has changed", row.name);
    listeners.assert_silent(row.name);
}

/// Writes what a command must not see or change, and a plain file beside it.
fn fill(home: &Path) {
    for (name, text) in [
        (".ssh/id_rsa", "SECRET key"),
        ("other/notes.txt", "SECRET notes"),
        ("project/secret.env", "SECRET env"),
        ("project/private/key", "SECRET private"),
        ("project/a.txt", "plain"),
    ] {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::os::unix::fs::symlink(home.join("other/notes.txt"), home.join("project/link-out"))
        .unwrap();
}

/// Holds what a command has said, and its end, against its row.
fn judge(row: &Row, end: &End, said: &str) {
    let shown: String = said.chars().take(2000).collect();
    match &row.says {
        Says::Exactly(text) => assert_eq!(shown, *text, "{}: {end:?}", row.name),
        Says::Has(parts) => {
            for part in *parts {
                assert!(said.contains(part), "{}: should say {part:?}: {end:?}\n{shown}", row.name);
            }
        }
    }
    assert!(!said.contains("SECRET"), "{}: tells a secret: {shown}", row.name);
    let ended = match row.ends {
        Ends::Code(code) => *end == End::Exited { code, left_running: false },
        Ends::Leaving => *end == End::Exited { code: 0, left_running: true },
        Ends::Memory => matches!(end, End::Memory { .. }),
        Ends::Somehow => !matches!(end, End::Lost(_)),
    };
    assert!(ended, "{}: ended as {end:?}\n{shown}", row.name);
}

/// Servers of the machine that no command may reach.
struct Listeners {
    /// The name of the abstract socket, which no other test has.
    name: String,
    port: u16,
    socket: PathBuf,
    tcp: TcpListener,
    udp: UdpSocket,
    /// At `socket`, inside the root, and at the abstract name.
    unix: [UnixListener; 3],
    /// Where everybody may write, and where only root may.
    shared: Vec<(TempDir, UnixListener)>,
}

impl Listeners {
    fn new(home: &Path) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
        let socket = home.parent().unwrap().join("editor.sock");
        let name = format!("ropewalk-test-{}-{port}", std::process::id());
        let folders = ["/tmp", "/var/tmp", "/dev/shm", "/run"].iter().map(Path::new);
        let shared: Vec<(TempDir, UnixListener)> = folders
            .filter_map(|folder| {
                let own = tempfile::tempdir_in(folder).ok()?;
                let listener = UnixListener::bind(own.path().join("s")).unwrap();
                Some((own, listener))
            })
            .collect();
        assert!(shared.len() > 2, "folders for everybody are where they are looked for");
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let unix = [
            UnixListener::bind(&socket).unwrap(),
            UnixListener::bind(home.join("project/own.sock")).unwrap(),
            UnixListener::bind_addr(&address).unwrap(),
        ];
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let others = shared.iter().map(|(_, listener)| listener);
        unix.iter().chain(others).for_each(|listener| listener.set_nonblocking(true).unwrap());
        Self { name, port, socket, tcp, udp, unix, shared }
    }

    /// Tells the command where they are.
    fn variables(&self) -> [(&'static str, String); 6] {
        let sockets: Vec<String> = self
            .shared
            .iter()
            .map(|(own, _)| own.path().join("s").to_str().unwrap().to_owned())
            .collect();
        [
            ("PORT", self.port.to_string()),
            ("SERVER", std::process::id().to_string()),
            ("SOCK", self.socket.to_str().unwrap().to_owned()),
            ("SOCKETS", sockets.join(":")),
            ("ABSTRACT", self.name.clone()),
            ("KEY", self.name.clone()),
        ]
    }

    /// Fails if anybody has come.
    fn assert_silent(&self, row: &str) {
        let silent =
            |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::WouldBlock, "{row}");
        silent(self.tcp.accept().unwrap_err());
        silent(self.udp.recv(&mut [0; 9]).unwrap_err());
        let others = self.shared.iter().map(|(_, listener)| listener);
        for listener in self.unix.iter().chain(others) {
            silent(listener.accept().unwrap_err());
        }
    }
}

/// A key in the user's keyrings, gone when this is dropped.
struct UserKey(libc::c_long);

impl UserKey {
    /// The key, in the keyring of this thread's session, where the kernel has keyrings.
    fn new(name: &str) -> UserKey {
        const SESSION: libc::c_long = -3;
        let name = CString::new(name).unwrap();
        let secret = b"SECRET key";
        #[expect(unsafe_code, reason = "no library has add_key")]
        // SAFETY: the texts end with a zero, and the secret is as long as is said.
        let key = unsafe {
            let kind = c"user".as_ptr();
            libc::syscall(libc::SYS_add_key, kind, name.as_ptr(), secret.as_ptr(), 10, SESSION)
        };
        UserKey(key)
    }
}

impl Drop for UserKey {
    fn drop(&mut self) {
        const INVALIDATE: libc::c_long = 21;
        #[expect(unsafe_code, reason = "no library has keyctl")]
        // SAFETY: the call takes a number.
        unsafe {
            libc::syscall(libc::SYS_keyctl, INVALIDATE, self.0.max(0));
        }
    }
}

/// All that is below a folder: kind, mode, and content.
fn picture(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let content = if metadata.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        if metadata.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (metadata.mode(), content));
    }
    found
}
