//! Commands in real sandboxes. This program is its own holder, so it has a `main` of its own, which asks first
//! whether it was started as that.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod world;

use libtest_mimic::{Arguments, Trial};
use ropewalk_sandbox::End;
use std::process::ExitCode;
use world::World;

/// A test: its name and what it does.
type Case = (&'static str, fn());

const BASICS: &[Case] = &[("a_command_writes_to_its_layer_alone", writes_to_its_layer_alone)];

fn main() -> ExitCode {
    if let Some(code) = ropewalk_sandbox::helper() {
        return code;
    }
    let trials = BASICS.iter().map(|(name, test)| {
        Trial::test(*name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn writes_to_its_layer_alone() {
    World::new().run(async |world| {
        world.write("kept.txt", "old");
        world.write("gone/a.txt", "a");
        let sandbox = world.sandbox().await;
        let (end, said) = world
            .sh(&sandbox, "pwd; cat kept.txt; echo; echo new > kept.txt; rm -r gone; mkdir gone; ls gone; cat kept.txt; exit 3")
            .await;
        assert_eq!(said, format!("{}\nold\nnew\n", world.root().display()));
        assert_eq!(end, End::Exited { code: 3, left_running: false });
        assert_eq!(world.read("kept.txt"), "old");
        assert_eq!(world.read("gone/a.txt"), "a");
        let up = sandbox.layers().join("main/0/up");
        assert_eq!(std::fs::read_to_string(up.join("kept.txt")).unwrap(), "new\n");
        // The next command finds what this one left.
        let (_, said) = world.sh(&sandbox, "cat kept.txt; ls gone").await;
        assert_eq!(said, "new\n");
    });
}
