//! Commands in real sandboxes, and without. This program is its own holder and keeper, so it has a `main` of its own,
//! which asks first whether it was started as that.

#![expect(clippy::unwrap_used, reason = "tests and their helpers may be blunt")]

mod beside;
mod check;
mod count;
mod ends;
mod hostile;
mod kept;
mod owners;
mod sees;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
mod world;

use check::check;
use hostile::ROWS;
use libtest_mimic::{Arguments, Failed, Trial};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;

/// A test: its name and what it does.
type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("a_command_writes_to_its_layer_alone", sees::writes_to_its_layer_alone),
    ("layers_on_a_disk", sees::layers_on_a_disk),
    ("roots_of_any_name", sees::roots_of_any_name),
    ("several_roots", sees::several_roots),
    ("a_root_is_there_under_its_links_name_too", sees::a_root_is_there_under_its_links_name_too),
    (
        "a_root_in_memory_and_inside_a_shown_folder",
        sees::a_root_in_memory_and_inside_a_shown_folder,
    ),
    ("a_home_that_is_the_root", sees::a_home_that_is_the_root),
    ("toolchains_are_seen_and_not_written", sees::toolchains_are_seen_and_not_written),
    (
        "a_root_inside_a_toolchain_hides_nothing_of_it",
        sees::a_root_inside_a_toolchain_hides_nothing_of_it,
    ),
    ("caches_are_written_in_earnest", sees::caches_are_written_in_earnest),
    (
        "what_is_written_in_earnest_or_to_toolchains_on_a_disk_is_bounded",
        sees::what_is_written_in_earnest_or_to_toolchains_on_a_disk_is_bounded,
    ),
    ("a_cache_lies_over_a_folder_of_a_root", sees::a_cache_lies_over_a_folder_of_a_root),
    ("shown_and_unhidden_for_one_command", sees::shown_and_unhidden_for_one_command),
    (
        "a_folder_above_a_root_covers_nothing_of_the_fork",
        beside::a_folder_above_a_root_covers_nothing_of_the_fork,
    ),
    (
        "what_is_installed_meanwhile_is_the_next_commands",
        beside::what_is_installed_meanwhile_is_the_next_commands,
    ),
    (
        "a_link_in_the_home_leads_no_mount_outside",
        beside::a_link_in_the_home_leads_no_mount_outside,
    ),
    (
        "a_root_is_there_again_when_the_folders_around_it_were_moved",
        beside::a_root_is_there_again_when_the_folders_around_it_were_moved,
    ),
    (
        "keys_in_toolchains_are_empty_and_the_toolchains_work",
        beside::keys_in_toolchains_are_empty_and_the_toolchains_work,
    ),
    ("secrets_of_a_home_are_shown_by_nothing", beside::secrets_of_a_home_are_shown_by_nothing),
    (
        "secrets_of_a_home_that_is_the_root_are_shown_by_nothing",
        beside::secrets_of_a_home_that_is_the_root_are_shown_by_nothing,
    ),
    (
        "what_is_hidden_elsewhere_is_seen_where_it_is_the_root_or_holds_it",
        beside::what_is_hidden_elsewhere_is_seen_where_it_is_the_root_or_holds_it,
    ),
    ("a_replaced_file_is_read_in_other_words", beside::a_replaced_file_is_read_in_other_words),
    ("sockets_beside_the_roots_lead_nowhere", beside::sockets_beside_the_roots_lead_nowhere),
    (
        "the_network_is_the_machines_only_if_asked_for",
        sees::the_network_is_the_machines_only_if_asked_for,
    ),
    (
        "an_abstract_socket_is_out_of_reach_even_with_the_network",
        sees::an_abstract_socket_is_out_of_reach_even_with_the_network,
    ),
    (
        "commands_reach_each_other_over_the_loopback",
        sees::commands_reach_each_other_over_the_loopback,
    ),
    ("the_usual_things_work", sees::the_usual_things_work),
    (
        "what_an_overlay_does_otherwise_tools_can_do_with",
        sees::what_an_overlay_does_otherwise_tools_can_do_with,
    ),
    ("a_file_saved_outside_shows_through", sees::a_file_saved_outside_shows_through),
    (
        "plans_that_cannot_be_run_are_refused_in_words",
        sees::plans_that_cannot_be_run_are_refused_in_words,
    ),
    ("a_kill_ends_everything", ends::a_kill_ends_everything),
    ("a_dropped_command_is_ended", ends::a_dropped_command_is_ended),
    ("ends_are_told_apart", ends::ends_are_told_apart),
    ("a_shared_segment_goes_with_its_command", ends::a_shared_segment_goes_with_its_command),
    ("what_cannot_be_started_is_said", ends::what_cannot_be_started_is_said),
    ("long_commands_and_environments", ends::long_commands_and_environments),
    ("many_commands_at_a_time", ends::many_commands_at_a_time),
    ("a_dead_holder_is_noticed", ends::a_dead_holder_is_noticed),
    ("a_killed_server_leaves_nothing", ends::a_killed_server_leaves_nothing),
    ("kept: ends_are_told_apart", kept::ends_are_told_apart),
    ("kept: a_kill_ends_everything", kept::a_kill_ends_everything),
    ("kept: what_runs_from_its_end_is_caught", kept::what_runs_from_its_end_is_caught),
    ("kept: what_cannot_be_started_is_said", kept::what_cannot_be_started_is_said),
    ("kept: a_command_holds_nothing_of_its_keepers", kept::a_command_holds_nothing_of_its_keepers),
    (
        "kept: a_keeper_that_is_killed_takes_the_command_along",
        kept::a_keeper_that_is_killed_takes_the_command_along,
    ),
    (
        "kept: a_command_that_ends_its_keeper_leaves_nothing",
        kept::a_command_that_ends_its_keeper_leaves_nothing,
    ),
    ("kept: a_killed_server_leaves_nothing", kept::a_killed_server_leaves_nothing),
    ("a_command_costs_few_look_ups", count::a_command_costs_few_look_ups),
    ("a_root_with_a_mount_in_it_is_told", ends::a_root_with_a_mount_in_it_is_told),
    (
        "a_project_of_another_group_is_refused_in_words",
        owners::a_project_of_another_group_is_refused_in_words,
    ),
    ("a_layer_that_lies_on_an_overlay_is_told", ends::a_layer_that_lies_on_an_overlay_is_told),
    (
        "a_sandbox_outlives_the_thread_that_started_it",
        ends::a_sandbox_outlives_the_thread_that_started_it,
    ),
    ("this_machine_is_found_fit", ends::this_machine_is_found_fit),
];

/// The number of a user that nobody is.
const ORDINARY_USER: u32 = 23_456;

fn main() -> ExitCode {
    if let Some(code) = ropewalk_sandbox::helper() {
        return code;
    }
    let role = match std::env::args().nth(1).as_deref() {
        Some(ends::VICTIM) => Some(ends::victim as fn()),
        Some(count::COUNTED) => Some(count::counted as fn()),
        Some(kept::VICTIM) => Some(kept::victim as fn()),
        Some(ends::MOUNTED) => Some(ends::mounted as fn()),
        Some(owners::MEMBER) => Some(owners::member as fn()),
        Some(ends::ON_AN_OVERLAY) => Some(ends::on_an_overlay as fn()),
        _ => None,
    };
    if let Some(role) = role {
        role();
        return ExitCode::SUCCESS;
    }
    let mut trials = Vec::new();
    for (name, test) in CASES {
        trials.push(Trial::test(*name, move || {
            test();
            Ok(())
        }));
    }
    for row in ROWS {
        let name = format!("hostile: {}", row.name);
        trials.push(Trial::test(name, move || {
            check(row);
            Ok(())
        }));
    }
    let arguments = Arguments::from_args();
    // Root's sandbox differs from that of everybody else, so root tests both.
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    if is_root && !arguments.list {
        trials.push(Trial::test("all_of_it_as_an_ordinary_user", as_an_ordinary_user));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs this program again as somebody without rights.
fn as_an_ordinary_user() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::os::unix::fs::chown(folder.path(), Some(ORDINARY_USER), Some(ORDINARY_USER))?;
    let output = std::process::Command::new("/proc/self/exe")
        .env("TMPDIR", folder.path())
        .env("HOME", folder.path())
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .current_dir("/")
        .output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stdout).into())
    }
}
