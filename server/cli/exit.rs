//! Exit codes: the one list of them, and errors of usage.
//!
//! `ropewalk lsp` has LSP's own two codes and is not concerned.

use ropewalk_protocol::StopReason;
use std::process::ExitCode;

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
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
const EXITS: &[(Exit, u8, &str)] = &[
    (Exit::Done, 0, "done"),
    (Exit::Error, 1, "error: it could not go on, and says why"),
    (Exit::Usage, 2, "the command line is wrong"),
    (Exit::MaxTokens, 3, "the answer was cut at the bound for output tokens"),
    (Exit::MaxSteps, 4, "stopped at the bound for steps"),
    (Exit::Refusal, 5, "the model declined"),
    (
        Exit::Proposed,
        6,
        "done, with changes proposed and not written (those of earlier runs included)",
    ),
    (Exit::Budget, 7, "stopped because a budget of tokens or money is used up"),
    (Exit::CheckFailed, 8, "done, but the check at its end failed (whatever is proposed)"),
    // By custom 128 and the number of the signal SIGINT.
    (Exit::Interrupted, 130, "interrupted by Ctrl-C, a signal, or a closed standard output"),
];

/// `ropewalk demo` was asked for an editor that is not there; for tests/run, too, 3 means that something was
/// left out.
#[cfg(feature = "demo")]
pub(crate) const NO_EDITOR: u8 = 3;

impl Exit {
    /// The end of a turn. `failed`: so did its last check. `proposed`: changes are left that nobody has accepted.
    pub(crate) fn of(stop: StopReason, failed: bool, proposed: bool) -> Exit {
        match stop {
            StopReason::EndTurn if failed => Exit::CheckFailed,
            StopReason::EndTurn if proposed => Exit::Proposed,
            StopReason::EndTurn => Exit::Done,
            StopReason::MaxTokens => Exit::MaxTokens,
            StopReason::MaxSteps => Exit::MaxSteps,
            StopReason::Budget => Exit::Budget,
            StopReason::Refusal => Exit::Refusal,
            StopReason::Interrupted => Exit::Interrupted,
            StopReason::Error => Exit::Error,
        }
    }

    /// The process's exit code.
    pub(crate) fn code(self) -> u8 {
        // The test below holds that every exit is listed.
        EXITS.iter().find(|(exit, ..)| *exit == self).map_or(1, |(_, code, _)| *code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The codes of `ropewalk run`, for its help.
pub(crate) fn table() -> String {
    listed(&EXITS.iter().collect::<Vec<_>>())
}

/// The codes of a command that runs no turn, for its help.
pub(crate) fn short_table() -> String {
    let exits = [Exit::Done, Exit::Error, Exit::Usage];
    listed(&EXITS.iter().filter(|(exit, ..)| exits.contains(exit)).collect::<Vec<_>>())
}

fn listed(exits: &[&(Exit, u8, &str)]) -> String {
    let mut table = "Exit codes:".to_owned();
    for (_, code, meaning) in exits {
        table.push_str(&format!("\n  {code:>3}  {meaning}"));
    }
    table
}

/// Something is wrong with the command line: one sentence that says what to do.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_a_code_of_its_own() {
        let all = [
            Exit::Done,
            Exit::Error,
            Exit::Usage,
            Exit::MaxTokens,
            Exit::MaxSteps,
            Exit::Refusal,
            Exit::Proposed,
            Exit::Budget,
            Exit::CheckFailed,
            Exit::Interrupted,
        ];
        assert_eq!(EXITS.iter().map(|(exit, ..)| *exit).collect::<Vec<_>>(), all);
        assert!(EXITS.is_sorted_by(|(_, a, _), (_, b, _)| a < b), "sorted, and no code twice");
    }

    #[test]
    fn only_a_good_end_is_a_proposal() {
        for (stop, failed, proposed, exit) in [
            (StopReason::EndTurn, false, true, Exit::Proposed),
            (StopReason::EndTurn, false, false, Exit::Done),
            (StopReason::EndTurn, true, true, Exit::CheckFailed),
            (StopReason::EndTurn, true, false, Exit::CheckFailed),
            (StopReason::MaxSteps, true, true, Exit::MaxSteps),
        ] {
            assert_eq!(Exit::of(stop, failed, proposed), exit, "{stop} {failed} {proposed}");
        }
    }
}
