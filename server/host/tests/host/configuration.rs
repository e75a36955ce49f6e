//! The configuration is read where it blocks nobody, and what was asked meanwhile counts in its order.

use crate::front_end::FrontEnd;
use crate::world::{Home, World};
use ropewalk_host::Environment;
use ropewalk_protocol::{Event, Mode, Op, Prompt, Reply, StopReason};
use ropewalk_testkit::model::ScriptedReply;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

/// A disk that hangs until it is let go.
struct Hanging {
    home: Home,
    hangs: Mutex<bool>,
    told: Condvar,
}

impl Hanging {
    fn new(world: &World) -> Arc<Self> {
        let home = Home(world.dir.path().join("home"));
        Arc::new(Self { home, hangs: Mutex::new(false), told: Condvar::new() })
    }

    /// Hangs until this is dropped, so that no test that fails waits for ever.
    fn hang(self: &Arc<Self>) -> Hold {
        *self.hangs.lock().unwrap() = true;
        Hold(self.clone())
    }
}

struct Hold(Arc<Hanging>);

impl Drop for Hold {
    fn drop(&mut self) {
        *self.0.hangs.lock().unwrap() = false;
        self.0.told.notify_all();
    }
}

impl Environment for Hanging {
    fn home(&self) -> Option<PathBuf> {
        self.home.home()
    }
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        drop(self.told.wait_while(self.hangs.lock().unwrap(), |hangs| *hangs).unwrap());
        self.home.read(path, limit)
    }
}

#[tokio::test]
async fn requests_wait_in_line_for_a_disk_that_hangs() {
    let world = World::new([("first", vec![ScriptedReply::new().text("Planned.")])]);
    let disk = Hanging::new(&world);
    let hold = disk.hang();
    let mut front = FrontEnd::new(world.host_in(disk.clone()));
    // There is one thread: each of these returns though the disk gives nothing, and none is answered yet.
    let mut asked = Vec::new();
    for op in [Op::Mode(Mode::Plan), Op::Status, Op::Prompt(Prompt::new("Plan it")), Op::Status] {
        let mut answer = front.host.handle(op.into());
        assert!(futures::poll!(&mut answer).is_pending());
        asked.push(answer);
    }
    assert!(front.host.snapshot(None).session.is_none());
    drop(hold);
    let replies = futures::future::join_all(asked).await;
    let Ok(Reply::Turn(session, 1)) = &replies[2] else { panic!("{replies:?}") };
    front.session = Some(session.clone());
    assert_eq!(front.turn().await, StopReason::EndTurn);
    assert_eq!(front.host.snapshot(None).mode, Mode::Plan);
}

#[tokio::test]
async fn an_interrupt_waits_for_no_disk() {
    let script =
        vec![ScriptedReply::new().text("First."), ScriptedReply::new().text("Second.").forever()];
    let world = World::new([("first", script)]);
    let disk = Hanging::new(&world);
    let mut front = FrontEnd::new(world.host_in(disk.clone()));
    front.prompt("First").await;
    front.turn().await;
    // Something may have changed, and the disk hangs.
    front.host.set_client_settings(serde_json::json!({ "mode": "plan" }));
    let _hold = disk.hang();
    let prompted = front.host.handle(Op::Prompt(Prompt::new("Second")).into());
    let changed = front.host.handle(Op::SetModel("any/other".to_owned()).into());
    let stopped = front.host.handle(Op::Interrupt(None).into());
    assert!(matches!(prompted.await, Ok(Reply::Turn(_, 2))));
    assert!(changed.await.is_err());
    assert!(matches!(stopped.await, Ok(Reply::Taken)));
    let ended = front.until(|event| matches!(event, Event::TurnEnded { .. })).await;
    assert!(matches!(ended, Event::TurnEnded { turn: 2, .. }));
}

#[tokio::test]
async fn an_edit_of_the_configuration_counts_from_the_next_prompt_on() {
    let script = vec![ScriptedReply::new().text("First."), ScriptedReply::new().text("Second.")];
    let world = World::new([("first", script)]);
    let mut front = FrontEnd::new(world.host());
    front.prompt("First").await;
    front.turn().await;
    configure(&world, "mode = \"plan\"\n");
    front.prompt("Second").await;
    front.until(|event| matches!(event, Event::ModeChanged { mode: Mode::Plan })).await;
    front.turn().await;
}

fn configure(world: &World, config: &str) {
    let folder = world.dir.path().join("home/.config/ropewalk");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), config).unwrap();
}

#[tokio::test]
async fn a_model_without_its_key_says_what_is_missing() {
    let world = World::new([("first", vec![])]);
    let config = "[provider.far]\nprotocol = \"chat\"\n\
                  base_url = \"https://far.example/v1\"\napi_key_env = \"FAR_KEY\"\n";
    configure(&world, config);
    let host = world.host();
    let missing = host.missing_for("far/any".to_owned()).await;
    assert_eq!(missing.as_deref(), Some("set FAR_KEY"));
    assert_eq!(host.missing_for("nobody/any".to_owned()).await, None);
}
