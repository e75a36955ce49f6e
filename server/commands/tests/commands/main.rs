//! `bash`, in place and over the fork with real sandboxes: one command after another, beside each other, and what
//! they build.
//!
//! This program is its own sandboxes' helper, so it has a `main` of its own, which asks first whether it was started
//! as that. Where commands can't run over the fork, that is said and only those in place are tried.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may be blunt")]

mod bash;
mod builds;
mod full;
mod hidden;
mod session;
#[path = "../../../../tests/support/skip.rs"]
mod skip;
#[path = "../../../tools/tests/tools/support.rs"]
#[expect(dead_code, reason = "the tools' own tests use the rest of it")]
mod support;

use libtest_mimic::{Arguments, Trial};
use ropewalk_commands::{CommandModeChoice, CommandSettings, Commands};
use ropewalk_protocol::OverFork;
use ropewalk_tools::{Context, NoCommands};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use support::Bench;

/// A test: its name and what it does.
type Case = (&'static str, fn());

const CASES: &[Case] = &[
    ("what_one_command_leaves_the_next_finds", session::what_one_leaves_the_next_finds),
    (
        "a_file_that_is_moved_where_nothing_is_kept_stays",
        session::a_file_that_is_moved_where_nothing_is_kept_stays,
    ),
    ("a_folder_that_may_be_read_is_seen", session::a_folder_that_may_be_read_is_seen),
    ("one_command_runs_at_a_time", session::one_runs_at_a_time),
    ("a_runner_beside_has_its_own_layer", session::a_runner_beside_has_its_own_layer),
    ("a_full_layer_is_left_by_one_in_the_background", full::it_is_left_by_one_in_the_background),
    ("what_is_ignored_and_large_stays_behind", full::what_is_ignored_and_large_stays_behind),
    ("a_full_layer_on_a_disk_is_left", full::on_a_disk_the_command_is_ended_and_the_next_one_works),
    (
        "one_in_the_background_keeps_its_layer",
        full::one_in_the_background_keeps_its_layer_when_the_session_takes_another,
    ),
    ("more_secrets_than_are_hidden_are_said", session::more_secrets_than_are_hidden_are_said),
    ("a_build_is_of_the_text_that_commands_see", builds::make_builds_the_text_that_commands_see),
    ("what_the_fork_or_a_buffer_has_is_hidden", hidden::what_the_fork_or_a_buffer_has_is_hidden),
    (
        "what_comes_to_be_hidden_is_so_for_the_next_command",
        hidden::what_comes_to_be_hidden_is_so_for_the_next_command,
    ),
    (
        "what_is_written_blindly_is_dropped_in_words",
        hidden::what_is_written_blindly_is_dropped_in_words,
    ),
    (
        "what_opens_accounts_is_redacted_from_repositories_and_git_works",
        hidden::what_opens_accounts_is_redacted_from_repositories_and_git_works,
    ),
    (
        "what_opens_accounts_is_redacted_from_repositories_around_the_roots",
        hidden::what_opens_accounts_is_redacted_from_repositories_around_the_roots,
    ),
    (
        "what_opens_accounts_is_redacted_from_a_repository_that_a_command_names",
        hidden::what_opens_accounts_is_redacted_from_a_repository_that_a_command_names,
    ),
    (
        "a_package_manager_without_a_network_fails_at_once",
        session::a_package_manager_without_a_network_fails_at_once,
    ),
    ("what_is_lost_with_other_folders_is_said", hidden::what_is_lost_with_other_folders_is_said),
    ("the_want_of_a_network_is_said_once_there_is_none", session::the_want_of_a_network_is_said),
    ("the_words_of_real_programs_are_known", session::the_words_of_real_programs_are_known),
    ("a_folder_of_the_disk_is_renamed_by_a_copy", session::a_folder_of_the_disk_is_renamed),
    ("each_tier_is_told_of_as_it_is", session::each_tier_is_told_of_as_it_is),
    ("ignored_folders_stay_in_the_layer", builds::ignored_folders_stay_in_the_layer),
    ("what_a_command_runs_is_what_it_built", builds::what_a_command_runs_is_what_it_built),
    ("what_a_killed_command_built_is_not_fresh", builds::what_a_killed_command_built_is_not_fresh),
    ("a_nested_package_is_built_from_its_text", builds::a_nested_package_is_built_from_its_text),
];

/// Tests of commands in place.
const IN_PLACE: &[Case] = &[
    ("a_command_runs_in_the_first_root", bash::a_command_runs_in_the_first_root),
    (
        "a_long_output_is_kept_whole_and_can_be_read_on",
        bash::a_long_output_is_kept_whole_and_can_be_read_on,
    ),
];

fn main() -> ExitCode {
    if let Some(code) = ropewalk_sandbox::helper() {
        return code;
    }
    let arguments = Arguments::from_args();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let over_fork = match runtime.block_on(ropewalk_sandbox::probe()) {
        Ok(_) => CASES,
        Err(unsupported) => {
            skip::skip(&format!("commands can't run over the fork here: {}", unsupported.why));
            &[]
        }
    };
    let trial = |(name, test): &Case| {
        let test = *test;
        Trial::test(*name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, IN_PLACE.iter().chain(over_fork).map(trial).collect())
        .exit_code()
}

/// A session over these files whose commands run so, in its first turn.
fn begun(over_fork: OverFork, files: &[(&str, &[u8])]) -> (Bench, CommandModeChoice) {
    let mut bench = Bench::new(files);
    let chosen = begin(&mut bench, over_fork);
    (bench, chosen)
}

/// Another session on the same folders takes the place of the one that was.
fn begin(bench: &mut Bench, over_fork: OverFork) -> CommandModeChoice {
    begin_with(bench, CommandSettings { over_fork, ..CommandSettings::default() })
}

/// The same, with more settings.
fn begin_with(bench: &mut Bench, settings: CommandSettings) -> CommandModeChoice {
    // The build caches are free again before they are asked for.
    bench.run_by(Arc::new(NoCommands));
    let commands = Arc::new(Commands::new(CommandSettings {
        cache_bytes: 1 << 30,
        cache_folder: Some(bench.beside("cache")),
        ..settings
    }));
    bench.run_by(commands.clone());
    let Context { view, grant, .. } = bench.context();
    bench.wait(commands.turn_begins(&view, &grant.hides)).clone()
}

/// A turn begins.
fn turn(bench: &mut Bench) {
    let Context { view, grant, .. } = bench.context();
    bench.wait(bench.runner.begin(&view, &grant.hides));
}

/// Output of a command.
fn says(bench: &mut Bench, command: &str) -> String {
    bench.say("bash", json!({ "command": command }))
}

/// Output of a background command, at its end.
fn says_in_background(bench: &mut Bench, mut input: Value) -> String {
    input["background"] = true.into();
    let started = bench.say("bash", input);
    assert!(started.starts_with("Started in the background as number "), "{started}");
    bench.wait(bench.runner.finished()).output.words().to_owned()
}
