//! An empty board for a test, on each engine, and members on it.

use ropewalk_board::{Board, BoardOptions, BoardPlace, Membership, NewMember, NewTask, Task, Team};
use ropewalk_testkit::postgres::Postgres;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;
use tempfile::TempDir;

/// The cluster of the tests that run at this moment. The last of them stops it.
static CLUSTER: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());

/// Place of one test's board.
pub(crate) struct Ground {
    pub(crate) place: BoardPlace,
    /// Kept until the test has ended.
    _folder: TempDir,
    pub(crate) cluster: Option<Arc<Postgres>>,
}

impl Ground {
    pub(crate) fn sqlite() -> Self {
        let folder = TempDir::new().unwrap();
        let place = BoardPlace::File(folder.path().join("a board's folder/board.db"));
        Self { place, _folder: folder, cluster: None }
    }

    /// None where PostgreSQL can't be had; under `CI=true` that is a failure.
    pub(crate) fn postgres() -> Option<Self> {
        let mut shared = CLUSTER.lock().unwrap_or_else(PoisonError::into_inner);
        let cluster = match shared.upgrade() {
            Some(cluster) => cluster,
            None => {
                let started = started("postgres-tests")?;
                *shared = Arc::downgrade(&started);
                started
            }
        };
        Some(Self::on(cluster))
    }

    /// A cluster of its own, for a test that ends its server.
    pub(crate) fn own_postgres() -> Option<Self> {
        Some(Self::on(started("postgres-crash")?))
    }

    fn on(cluster: Arc<Postgres>) -> Self {
        let place = BoardPlace::Postgres(cluster.database().unwrap());
        let folder = TempDir::new().unwrap();
        Self { place, _folder: folder, cluster: Some(cluster) }
    }

    pub(crate) async fn open(&self) -> Board {
        Board::open(self.place.clone(), BoardOptions::default()).await.unwrap()
    }

    pub(crate) async fn team(&self) -> Team {
        self.open().await.team("crew", "s1", "/src").await.unwrap()
    }

    /// The team as somebody sees it whose leases are over at once.
    pub(crate) async fn fleeting(&self) -> Team {
        let options = BoardOptions { lease: Duration::ZERO, ..BoardOptions::default() };
        let board = Board::open(self.place.clone(), options).await.unwrap();
        board.team("crew", "s1", "/src").await.unwrap()
    }
}

fn started(name: &str) -> Option<Arc<Postgres>> {
    // One that has ended may still be taking its folder away.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = format!("{}/{name}-{process}-{next}", env!("CARGO_TARGET_TMPDIR"));
    match Postgres::start(Path::new(&folder), false) {
        Ok(cluster) => Some(Arc::new(cluster)),
        Err(why) => {
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "can't be skipped: {why}"
            );
            eprintln!("skipped: {why}");
            None
        }
    }
}

pub(crate) async fn join(team: &Team, name: &str, role: &str) -> Membership {
    let member = NewMember { name: name.to_owned(), role: role.to_owned(), ..NewMember::default() };
    team.join(&member).await.unwrap()
}

pub(crate) async fn task(team: &Team, subject: &str, blocked_by: &[i64]) -> Task {
    let blocked_by = blocked_by.to_vec();
    let new = NewTask { subject: subject.to_owned(), blocked_by, ..NewTask::default() };
    team.create("test", &new).await.unwrap()
}
