//! Empty boards for tests between processes: files, a PostgreSQL server that hosts with cut links reach, small disks.

use ropewalk_board::{Board, BoardOptions, Team};
use ropewalk_testkit::namespaces::{BRIDGE_ADDRESS, Namespaces};
use ropewalk_testkit::postgres::Postgres;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

/// Host of the processes whose link is cut.
pub(crate) const FAR: &str = "far";

/// Says why this program is in the machine's own network, if it is.
static MOVED: OnceLock<Result<(), String>> = OnceLock::new();
/// Server of all tests, on the bridge where there are hosts.
static CLUSTER: Mutex<Option<Postgres>> = Mutex::new(None);
static HOSTS: LazyLock<Result<Namespaces, String>> = LazyLock::new(|| {
    moved()?;
    Namespaces::new(&[FAR])
});

fn moved() -> Result<(), String> {
    MOVED.get().cloned().unwrap_or_else(|| Err("Nobody has tried to move.".to_owned()))
}

/// Keeps how the program's move into a network of its own has ended.
pub(crate) fn keep(moved: Result<(), String>) {
    let _ = MOVED.set(moved);
}

/// Stops the server.
pub(crate) fn end() {
    drop(CLUSTER.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Place of one test's board.
pub(crate) struct Ground {
    pub(crate) place: String,
    /// Kept until the test has ended.
    folder: TempDir,
    is_mounted: bool,
}

impl Ground {
    pub(crate) fn sqlite() -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let place = folder.path().join("board.db").display().to_string();
        Ok(Self { place, folder, is_mounted: false })
    }

    pub(crate) fn postgres() -> Result<Self, String> {
        let address = if HOSTS.is_ok() { BRIDGE_ADDRESS } else { "127.0.0.1" };
        let mut cluster = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
        if cluster.is_none() {
            let process = std::process::id();
            let folder = format!("{}/postgres-faults-{process}", env!("CARGO_TARGET_TMPDIR"));
            *cluster = Some(Postgres::start_at(Path::new(&folder), address, false)?);
        }
        let place = cluster.as_ref().unwrap().database()?;
        let mut ground = Self::sqlite()?;
        ground.place = place;
        Ok(ground)
    }

    /// PostgreSQL, with processes that have clocks of their own.
    pub(crate) fn with_clocks() -> Result<Self, String> {
        let is_here = Command::new("faketime").arg("--version").output().is_ok();
        match is_here {
            true => Self::postgres(),
            false => {
                Err("faketime is not installed here: run tests/provision/faketime.".to_owned())
            }
        }
    }

    /// PostgreSQL, with the host [`FAR`].
    pub(crate) fn apart() -> Result<Self, String> {
        HOSTS.as_ref().map_err(Clone::clone)?;
        Self::postgres()
    }

    /// A file on a disk of two megabytes.
    pub(crate) fn mounts() -> Result<Self, String> {
        moved()?;
        let mut ground = Self::sqlite()?;
        let disk = ground.folder.path().display().to_string();
        mount(&["-t", "tmpfs", "-o", "size=2m", "tmpfs", &disk]);
        ground.is_mounted = true;
        Ok(ground)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Mounts the disk of [`Ground::mounts`] anew, with these options.
    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        mount(&["-o", &options, &self.folder.path().display().to_string()]);
    }

    /// Does something with the team in this process.
    pub(crate) fn team<T>(&self, act: impl AsyncFnOnce(&Team) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let place = self.place.parse().unwrap();
            let board = Board::open(place, BoardOptions::default()).await.unwrap();
            let done = act(&board.team("crew", "", "").await.unwrap()).await;
            board.close().await;
            done
        })
    }

    /// Runs a statement on the board's database, past the board, and gives its first number.
    pub(crate) fn sql(&self, statement: &'static str) -> i64 {
        sqlx::any::install_default_drivers();
        let url = match self.place.starts_with('/') {
            true => format!("sqlite://{}", self.place),
            false => self.place.clone(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let pool = sqlx::any::AnyPoolOptions::new().connect(&url).await.unwrap();
            let number = sqlx::query_scalar(statement).fetch_one(&pool).await.unwrap();
            pool.close().await;
            number
        })
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if self.is_mounted {
            let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
        }
    }
}

/// Runs `mount`, in this program's own table of mounts.
fn mount(arguments: &[&str]) {
    let output = Command::new("mount").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The far host's link, which comes back when this is dropped.
pub(crate) struct CutLink(&'static Namespaces);

impl CutLink {
    pub(crate) fn new() -> Self {
        let hosts = HOSTS.as_ref().unwrap();
        hosts.cut(FAR).unwrap();
        Self(hosts)
    }
}

impl Drop for CutLink {
    fn drop(&mut self) {
        self.0.mend(FAR).unwrap();
    }
}
