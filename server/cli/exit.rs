//! Exit codes: the one list of them, and errors of usage.
//!
//! `ropewalk lsp` has LSP's own two codes and is not concerned.

use ropewalk_protocol::StopReason;
use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliExit {
    /// The turn ended well, or all is set up.
    Done,
    /// The turn, or the program, could not go on.
    Error,
    /// The command line is wrong.
    Usage,
    /// The model's answer hit the bound for output tokens.
    MaxTokens,
    /// The turn hit the bound for steps.
    MaxSteps,
    /// A budget of the turn or the session is used up.
    Budget,
    /// The turn ended well, but its last check failed.
    CheckFailed,
    /// The model declined.
    Refusal,
    /// The turn ended well, and its changes are proposed, not written.
    Proposed,
    /// The user, or the system, stopped it.
    Interrupted,
}

/// Every exit, its code and what it means, in the order of the codes.
const EXITS: &[(CliExit, u8, &str)] = &[
    (CliExit::Done, 0, "done"),
    (CliExit::Error, 1, "error: it could not go on, and says why"),
    (CliExit::Usage, 2, "the command line is wrong"),
    (CliExit::MaxTokens, 3, "the answer was cut at the limit of output tokens"),
    (CliExit::MaxSteps, 4, "stopped at the limit of steps"),
    (CliExit::Refusal, 5, "the model declined"),
    (
        CliExit::Proposed,
        6,
        "done, with changes proposed and not written (those of earlier runs included)",
    ),
    (CliExit::Budget, 7, "stopped because a budget of tokens or money is used up"),
    (CliExit::CheckFailed, 8, "done, but the check at its end failed (whatever is proposed)"),
    // By custom 128 and the number of the signal SIGINT.
    (CliExit::Interrupted, 130, "interrupted by Ctrl-C, a signal, or a closed standard output"),
];

/// `ropewalk demo` was asked for an editor that is not there; for tests/run, too, 3 means that something was
/// left out.
#[cfg(feature = "demo")]
pub(crate) const NO_EDITOR: u8 = 3;

impl CliExit {
    /// The end of a turn. `failed`: so did its last check. `proposed`: changes are left that nobody has accepted.
    pub(crate) fn of(stop: StopReason, failed: bool, proposed: bool) -> CliExit {
        match stop {
            StopReason::EndTurn if failed => CliExit::CheckFailed,
            StopReason::EndTurn if proposed => CliExit::Proposed,
            StopReason::EndTurn => CliExit::Done,
            StopReason::MaxTokens => CliExit::MaxTokens,
            StopReason::MaxSteps => CliExit::MaxSteps,
            StopReason::Budget => CliExit::Budget,
            StopReason::Refusal => CliExit::Refusal,
            StopReason::Interrupted => CliExit::Interrupted,
            StopReason::Error => CliExit::Error,
        }
    }

    /// The process's exit code.
    pub(crate) fn code(self) -> u8 {
        // The test below holds that every exit is listed.
        EXITS.iter().find(|(exit, ..)| *exit == self).map_or(1, |(_, code, _)| *code)
    }
}

impl From<CliExit> for ExitCode {
    fn from(exit: CliExit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The codes of `ropewalk run`, for its help.
pub(crate) fn table() -> String {
    listed(&EXITS.iter().collect::<Vec<_>>())
}

/// The codes of a command that runs no turn, for its help.
pub(crate) fn short_table() -> String {
    let exits = [CliExit::Done, CliExit::Error, CliExit::Usage];
    listed(&EXITS.iter().filter(|(exit, ..)| exits.contains(exit)).collect::<Vec<_>>())
}

fn listed(exits: &[&(CliExit, u8, &str)]) -> String {
    let mut table = "Exit codes:".to_owned();
    for (_, code, meaning) in exits {
        table.push_str(&format!("\n  {code:>3}  {meaning}"));
    }
    table
}

/// Something is wrong with the command line: one sentence that says what to do.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_a_code_of_its_own() {
        let all = [
            CliExit::Done,
            CliExit::Error,
            CliExit::Usage,
            CliExit::MaxTokens,
            CliExit::MaxSteps,
            CliExit::Refusal,
            CliExit::Proposed,
            CliExit::Budget,
            CliExit::CheckFailed,
            CliExit::Interrupted,
        ];
        assert_eq!(EXITS.iter().map(|(exit, ..)| *exit).collect::<Vec<_>>(), all);
        assert!(EXITS.is_sorted_by(|(_, a, _), (_, b, _)| a < b), "sorted, and no code twice");
    }

    #[test]
    fn only_a_good_end_is_a_proposal() {
        for (stop, failed, proposed, exit) in [
            (StopReason::EndTurn, false, true, CliExit::Proposed),
            (StopReason::EndTurn, false, false, CliExit::Done),
            (StopReason::EndTurn, true, true, CliExit::CheckFailed),
            (StopReason::EndTurn, true, false, CliExit::CheckFailed),
            (StopReason::MaxSteps, true, true, CliExit::MaxSteps),
        ] {
            assert_eq!(CliExit::of(stop, failed, proposed), exit, "{stop} {failed} {proposed}");
        }
    }
}
