//! Places of boards: races of first starts, later versions, files that can't be used, servers that go away.

use crate::ground::{Ground, join, task};
use ropewalk_board::{Board, BoardError, BoardOptions, BoardPlace};
use std::time::Duration;

crate::on_both!(many_first_starts_make_one_board, teams_are_apart);

async fn many_first_starts_make_one_board(ground: &Ground) {
    let starts: Vec<_> = (0..12)
        .map(|_| {
            let place = ground.place.clone();
            tokio::spawn(async move {
                let board = Board::open(place, BoardOptions::default()).await?;
                board.team("crew", "s1", "/src").await.map(drop)
            })
        })
        .collect();
    for start in starts {
        start.await.unwrap().unwrap();
    }
    assert_eq!(ground.open().await.team_names().await.unwrap(), ["crew"]);
}

async fn teams_are_apart(ground: &Ground) {
    let board = ground.open().await;
    let (one, two) =
        (board.team("one", "s1", "").await.unwrap(), board.team("two", "s2", "").await.unwrap());
    assert_eq!(task(&one, "a", &[]).await.number, 1);
    assert_eq!(task(&two, "b", &[]).await.number, 1);
    assert!(join(&one, "alice", "").await.claim().await.unwrap().is_some());
    assert!(join(&two, "alice", "").await.claim().await.unwrap().is_some());
    assert!(board.find_team("three").await.unwrap().is_none());
    assert_eq!(board.team("one", "other", "").await.unwrap().lead_session().await.unwrap(), "s1");
    one.adopt("other").await.unwrap();
    assert_eq!(one.lead_session().await.unwrap(), "other");
}

/// Whoever ends an idle connection, and for whatever reason: the next call makes another one, and says nothing.
#[tokio::test]
async fn an_idle_connection_that_the_server_ends_is_made_anew() {
    let Some(ground) = Ground::postgres() else { return };
    let BoardPlace::Postgres(url) = &ground.place else { panic!() };
    sqlx::any::install_default_drivers();
    let outside = sqlx::any::AnyPoolOptions::new().max_connections(1).connect(url).await.unwrap();
    let others =
        "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    let count = async || -> i64 {
        let query = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) {others}")));
        query.fetch_one(&outside).await.unwrap()
    };
    let run = async |sql: String| sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&outside).await;

    let board = ground.open().await;
    assert_eq!(count().await, 1);
    run(format!("select pg_terminate_backend(pid, 10000) {others}")).await.unwrap();
    assert_eq!(count().await, 0);
    board.team("crew", "s1", "/src").await.unwrap();
    board.close().await;

    let database = url.rsplit('/').next().unwrap();
    run(format!("alter database \"{database}\" set idle_session_timeout = 50")).await.unwrap();
    assert_eq!(board.team_names().await.unwrap(), ["crew"]);
    while count().await > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(board.team_names().await.unwrap(), ["crew"]);
}

#[tokio::test]
async fn the_bundled_sqlite_is_not_older_than_its_mended_log() {
    let version = Ground::sqlite().open().await.database().await.unwrap();
    let numbers: Vec<u32> =
        version.trim_start_matches("SQLite ").split('.').map(|n| n.parse().unwrap()).collect();
    assert!(numbers >= vec![3, 51, 3], "{version}");
}

#[tokio::test]
async fn a_later_versions_board_is_refused() {
    let ground = Ground::sqlite();
    ground.open().await.close().await;
    let BoardPlace::File(file) = &ground.place else { panic!() };
    let url = format!("sqlite://{}", file.display());
    let pool = sqlx::any::AnyPoolOptions::new().connect(&url.replace(' ', "%20")).await.unwrap();
    sqlx::query("insert into _sqlx_migrations (version, description, success, checksum, execution_time) values (99, 'later', 1, x'00', 1)")
        .execute(&pool).await.unwrap();
    let error = Board::open(ground.place.clone(), BoardOptions::default()).await.unwrap_err();
    assert!(matches!(error, BoardError::LaterVersion(99)), "{error}");
}

#[tokio::test]
async fn a_broken_file_is_told() {
    let ground = Ground::sqlite();
    let BoardPlace::File(file) = &ground.place else { panic!() };
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, "no database, whatever its name says. ".repeat(200)).unwrap();
    let error = Board::open(ground.place.clone(), BoardOptions::default()).await.unwrap_err();
    assert!(matches!(error, BoardError::Damaged(_)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_went_away_is_told_and_found_again() {
    let Some(ground) = Ground::own_postgres() else { return };
    let cluster = ground.cluster.clone().unwrap();
    let team = ground.team().await;
    let alice = join(&team, "alice", "").await;
    task(&team, "one", &[]).await;
    cluster.kill().unwrap();
    let error = alice.claim().await.unwrap_err();
    assert!(matches!(error, BoardError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("It is tried again in"), "{error}");
    cluster.serve().unwrap();
    let claimed = async {
        loop {
            match alice.claim().await {
                Ok(task) => break task.unwrap().number,
                Err(BoardError::Unreachable { retry_in, .. }) => {
                    assert!(retry_in <= Duration::from_secs(30));
                    tokio::time::sleep(retry_in).await;
                }
                Err(other) => panic!("{other}"),
            }
        }
    };
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), claimed).await.unwrap(), 1);
}
