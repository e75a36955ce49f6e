//! Faults between real processes: stopped ones, cut links, wrong clocks, restarted servers, races of first starts, disks that
//! are full or read-only. All of it happens in a network and a table of mounts that this program alone has, where it may.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests and their helpers may be blunt")]

mod disks;
mod ground;
mod leases;
mod process;
mod starts;

use ground::Ground;
use libtest_mimic::{Arguments, Failed, Trial};
use ropewalk_testkit::namespaces;

type Test = fn(&Ground);

fn main() {
    if process::work_if_told() {
        return;
    }
    let arguments = Arguments::from_args();
    let moved = namespaces::move_in();
    ground::keep(moved);
    let on_both: [(&str, Test); 3] = [
        ("stopped_past_the_lease", leases::stopped_past_the_lease),
        ("first_starts_at_once", starts::first_starts_at_once),
        ("later_version", starts::later_version),
    ];
    let mut trials: Vec<Trial> = Vec::new();
    for (name, test) in on_both {
        trials.push(trial(format!("{name}_on_sqlite"), Ground::sqlite, test));
        trials.push(trial(format!("{name}_on_postgres"), Ground::postgres, test));
    }
    trials.push(trial(
        "clocks_an_hour_off".to_owned(),
        Ground::with_clocks,
        leases::clocks_an_hour_off,
    ));
    trials.push(trial("cut_link".to_owned(), Ground::apart, leases::cut_link));
    trials.push(trial("full_disk".to_owned(), Ground::mounts, disks::full));
    trials.push(trial("read_only_disk".to_owned(), Ground::mounts, disks::read_only));
    trials.push(trial("read_only_file".to_owned(), Ground::sqlite, disks::read_only_file));
    let conclusion = libtest_mimic::run(&arguments, trials);
    ground::end();
    conclusion.exit();
}

/// A test on a ground that may not be had here: then it is skipped in words, or failed under `CI=true`.
fn trial(name: String, ground: fn() -> Result<Ground, String>, test: Test) -> Trial {
    Trial::test(name, move || match ground() {
        Ok(ground) => {
            test(&ground);
            Ok(())
        }
        Err(why) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => Err(Failed::from(why)),
        Err(why) => {
            eprintln!("skipped: {why}");
            Ok(())
        }
    })
}
