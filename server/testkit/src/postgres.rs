//! A PostgreSQL cluster for one run of tests: made anew under a folder, on a free port of the loopback, and gone with this
//! process however that ends.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// User and group that own the cluster where the tests run as root, which PostgreSQL refuses to be.
const NOBODY: u32 = 65_534;
/// Time for a server to take its first connection.
const START: Duration = Duration::from_secs(60);

/// A running cluster. It is stopped and its folder removed when this is dropped.
#[derive(Debug)]
pub struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    address: String,
    port: u16,
    databases: AtomicU32,
}

impl Postgres {
    /// Starts a cluster under `folder`, which is made. Its commits are durable if `is_durable`, and quicker else.
    ///
    /// # Errors
    ///
    /// A sentence, where PostgreSQL is not installed or does not start.
    pub fn start(folder: &Path, is_durable: bool) -> Result<Self, String> {
        Self::start_at(folder, "127.0.0.1", is_durable)
    }

    /// As [`Postgres::start`], listening on `address`, such as a bridge's between network namespaces.
    ///
    /// # Errors
    ///
    /// As [`Postgres::start`].
    pub fn start_at(folder: &Path, address: &str, is_durable: bool) -> Result<Self, String> {
        let programs = programs()
            .ok_or("PostgreSQL 13 or later is not installed here: run tests/provision/postgres.")?;
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        if is_root() {
            chown(folder, Some(NOBODY), Some(NOBODY))
                .map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(folder, private).map_err(|error| error.to_string())?;
        let data = folder.join("data");
        let mut init = unprivileged(&programs.join("initdb"));
        init.args([
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
        ]);
        run(init.arg(&data))?;
        let port = free_port(address)?;
        let settings = format!(
            "listen_addresses = '{address}'\nport = {port}\nunix_socket_directories = ''\nmax_connections = 250\n\
             fsync = {}\nlogging_collector = off\n",
            if is_durable { "on" } else { "off" },
        );
        let file = data.join("postgresql.auto.conf");
        fs::write(&file, settings).map_err(|error| error.to_string())?;
        fs::write(data.join("pg_hba.conf"), "host all all 0.0.0.0/0 trust\n")
            .map_err(|error| error.to_string())?;
        let cluster = Self {
            programs,
            folder: folder.to_owned(),
            address: address.to_owned(),
            port,
            databases: AtomicU32::new(0),
        };
        cluster.serve()?;
        Ok(cluster)
    }

    /// URL of a new, empty database.
    ///
    /// # Errors
    ///
    /// A sentence, where the server does not answer.
    pub fn database(&self) -> Result<String, String> {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut create = Command::new(self.programs.join("createdb"));
        let port = self.port.to_string();
        run(create.args(["-h", &self.address, "-p", &port, "-U", "postgres", &name]))?;
        Ok(format!("postgres://postgres@{}:{port}/{name}", self.address))
    }

    /// Ends the server at once, as a crash does.
    ///
    /// # Errors
    ///
    /// A sentence, where the server is not there.
    pub fn kill(&self) -> Result<(), String> {
        let mut stop = unprivileged(&self.programs.join("pg_ctl"));
        run(stop.args(["stop", "-m", "immediate", "-w", "-D"]).arg(self.folder.join("data")))
    }

    /// Starts the server after [`Postgres::kill`], at the same port.
    ///
    /// # Errors
    ///
    /// A sentence, where it does not take connections in time.
    pub fn serve(&self) -> Result<(), String> {
        let mut server = unprivileged(&self.programs.join("postgres"));
        server.arg("-D").arg(self.folder.join("data"));
        let log = fs::File::create(self.folder.join("log")).map_err(|error| error.to_string())?;
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let (started, start) = mpsc::channel();
        // The kernel ends a child with the thread that started it, so that thread stays until the server has gone.
        std::thread::spawn(move || {
            let child = server.spawn();
            let _ = started.send(child.as_ref().map(|_| ()).map_err(ToString::to_string));
            if let Ok(mut child) = child {
                let _ = child.wait();
            }
        });
        start.recv().map_err(|error| error.to_string())??;
        let begin = Instant::now();
        let port = self.port.to_string();
        loop {
            let mut ready = Command::new(self.programs.join("pg_isready"));
            match run(ready.args(["-q", "-h", &self.address, "-p", &port])) {
                Ok(()) => return Ok(()),
                Err(error) if begin.elapsed() > START => {
                    let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                    return Err(format!("PostgreSQL does not start: {error}\n{log}"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.kill();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Folder of the newest installed version's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let numbered = versions.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        let programs = entry.path().join("bin");
        (version >= 13 && programs.join("initdb").exists()).then_some((version, programs))
    });
    numbered.max().map(|(_, programs)| programs)
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// `program` without root's rights, and ended by the kernel when this process ends.
fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command.args(["--pdeathsig", "QUIT", "--"]).arg(program);
    command
}

fn run(command: &mut Command) -> Result<(), String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn free_port(address: &str) -> Result<u16, String> {
    let socket = TcpListener::bind((address, 0)).map_err(|error| error.to_string())?;
    Ok(socket.local_addr().map_err(|error| error.to_string())?.port())
}
