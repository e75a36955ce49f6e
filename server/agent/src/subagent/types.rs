//! Types of subagents: what each is told, and which tools it has.

use ropewalk_protocol::Mode;
use ropewalk_tools::bash::Bash;
use ropewalk_tools::diagnostics::Diagnostics;
use ropewalk_tools::glob::Glob;
use ropewalk_tools::grep::Grep;
use ropewalk_tools::list_dir::ListDir;
use ropewalk_tools::read_file::ReadFile;
use ropewalk_tools::{CommandMode, TypedTool as _};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentType {
    /// The name that calls have for it.
    pub(crate) name: &'static str,
    /// Use of it, for whoever chooses one.
    pub(crate) purpose: &'static str,
    /// Words for itself, behind `You are a NAME subagent`.
    words: &'static str,
    /// True if it changes nothing.
    pub(crate) is_reading: bool,
    /// True if it is told what the repository says about work in it.
    pub(crate) has_instructions: bool,
}

const ALL: [AgentType; 3] = [
    AgentType {
        name: "explore",
        purpose: "searches widely and reports; changes nothing",
        words: "Search widely, by several names and in several places, and read what you find. Change nothing. Return a \
                structured, brief summary: what you found, with paths and lines, and what you did not find.",
        is_reading: true,
        has_instructions: false,
    },
    AgentType {
        name: "plan",
        purpose: "looks and returns numbered steps; changes nothing",
        words: "Look at the code that the task is about, then return a numbered list of steps, each with the files that it \
                changes and how. Change nothing.",
        is_reading: true,
        has_instructions: true,
    },
    AgentType {
        name: "code",
        purpose: "implements, and changes files",
        words: "Implement the task, and check what you did where you can. Others work beside you: touch only what the task \
                needs. What you change comes back to the one who asked when you are done.",
        is_reading: false,
        has_instructions: true,
    },
];

const END: &str = "Nobody answers questions, and only your last message is read by the one who asked: end with a clear \
                   summary.";

const DROPPED: &str = " What your commands write is dropped.";

/// The tools of a type that changes nothing.
const READING: [&str; 10] = [
    Bash::NAME,
    ReadFile::NAME,
    Grep::NAME,
    Glob::NAME,
    ListDir::NAME,
    Diagnostics::NAME,
    "load_skill",
    "symbols",
    "definition",
    "references",
];

/// The tools about the session itself, which no subagent has.
const OF_SESSION: [&str; 4] = ["task", "todo_write", "compact", "check_background"];

impl AgentType {
    /// The types there are.
    pub(crate) fn all() -> &'static [AgentType] {
        &ALL
    }

    /// The type of this name.
    ///
    /// # Errors
    /// Words for the model if there is none, or if it may not be started in this mode.
    pub(crate) fn find(name: &str, mode: Mode) -> Result<&'static AgentType, String> {
        let found = ALL.iter().find(|one| one.name == name).ok_or_else(|| {
            let known: Vec<&str> = ALL.iter().map(|one| one.name).collect();
            format!("there is no subagent type {name:?}; the types are: {}", known.join(", "))
        })?;
        if mode == Mode::Plan && !found.is_reading {
            return Err(format!(
                "the mode is plan, in which nothing is changed: no {name} subagent starts in it"
            ));
        }
        Ok(found)
    }

    /// Words that say to the subagent who it is.
    pub(crate) fn identity(&self) -> String {
        let dropped = if self.is_reading { DROPPED } else { "" };
        format!("You are a {} subagent. {}{dropped} {END}", self.name, self.words)
    }

    /// True if it has this tool, where commands run so.
    pub(crate) fn has_tool(&self, name: &str, commands: CommandMode) -> bool {
        if OF_SESSION.contains(&name) {
            return false;
        }
        if !self.is_reading {
            return true;
        }
        // In place nothing takes back what a command writes.
        READING.contains(&name) && (name != Bash::NAME || commands.sees_fork())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_writes_and_none_has_the_tools_of_the_session() {
        let has = |name: &str, tool: &str, commands| {
            AgentType::find(name, Mode::Review).unwrap().has_tool(tool, commands)
        };
        for name in ["explore", "plan", "code"] {
            for tool in ["task", "todo_write", "compact", "check_background"] {
                assert!(!has(name, tool, CommandMode::OverFork), "{name} {tool}");
            }
            assert!(
                has(name, "read_file", CommandMode::InPlace)
                    && has(name, "bash", CommandMode::Copy)
            );
            assert_eq!(has(name, "edit_file", CommandMode::OverFork), name == "code");
            assert_eq!(has(name, "some_server_tool", CommandMode::OverFork), name == "code");
            assert_eq!(has(name, "bash", CommandMode::InPlace), name == "code");
        }
    }

    #[test]
    fn in_mode_plan_nobody_implements() {
        assert!(AgentType::find("explore", Mode::Plan).is_ok());
        assert!(AgentType::find("code", Mode::Plan).unwrap_err().contains("plan"));
        let unknown = AgentType::find("test", Mode::Auto).unwrap_err();
        assert!(unknown.contains("explore, plan, code"), "{unknown}");
    }
}
