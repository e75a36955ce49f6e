//! Types of subagents: what each is told, and which tools it has.

use ropewalk_tools::bash::Bash;
use ropewalk_tools::diagnostics::Diagnostics;
use ropewalk_tools::glob::Glob;
use ropewalk_tools::grep::Grep;
use ropewalk_tools::list_dir::ListDir;
use ropewalk_tools::read_file::ReadFile;
use ropewalk_tools::{CommandMode, TypedTool as _};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentType {
    /// The file that it comes from, as shown; None for a built-in one.
    pub file: Option<String>,
    /// The name that calls have for it.
    pub name: String,
    /// Use of it, for whoever chooses one.
    pub purpose: String,
    /// Words for itself, behind `You are a NAME subagent`.
    pub words: String,
    /// The only tools it has; None for all that one may have.
    pub tools: Option<Vec<String>>,
    /// The whole name of the model that it works with; None for the session's.
    pub model: Option<String>,
    /// True if it changes nothing.
    pub is_reading: bool,
}

/// A type that is always there; its fields are those of [`AgentType`].
struct BuiltInType {
    name: &'static str,
    purpose: &'static str,
    words: &'static str,
    is_reading: bool,
}

const BUILT_IN: [BuiltInType; 3] = [
    BuiltInType {
        name: "explore",
        purpose: "searches widely and reports; changes nothing",
        words: "Search widely, by several names and in several places, and read what you find. Change nothing. Return a \
         structured, brief summary: what you found, with paths and lines, and what you did not find.",
        is_reading: true,
    },
    BuiltInType {
        name: "plan",
        purpose: "looks and returns numbered steps; changes nothing",
        words: "Look at the code that the task is about, then return a numbered list of steps, each with the files that it \
         changes and how. Change nothing.",
        is_reading: true,
    },
    BuiltInType {
        name: "code",
        purpose: "implements, and changes files",
        words: "Implement the task, and check what you did where you can. Others work beside you: touch only what the task \
         needs. What you change comes back to the one who asked when you are done.",
        is_reading: false,
    },
];

const END: &str = "Nobody answers questions, and only your last message is read by the one who asked: end with a clear \
                   summary.";

const DROPPED: &str = "What your commands write is dropped. ";

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
    /// The types that are always there.
    pub(crate) fn built_in() -> Vec<AgentType> {
        let of = |own: BuiltInType| AgentType {
            name: own.name.to_owned(),
            purpose: own.purpose.to_owned(),
            words: own.words.to_owned(),
            is_reading: own.is_reading,
            ..AgentType::default()
        };
        BUILT_IN.map(of).into()
    }

    /// Words that say to the subagent who it is.
    pub fn identity(&self) -> String {
        let dropped = if self.is_reading { DROPPED } else { "" };
        let article = if self.name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("You are {article} {} subagent. {} {dropped}{END}", self.name, self.words)
    }

    /// True if it has this tool, where commands run so.
    pub fn has_tool(&self, name: &str, commands: CommandMode) -> bool {
        if !may_have(name)
            || self.tools.as_ref().is_some_and(|own| !own.iter().any(|it| it == name))
        {
            return false;
        }
        // In place nothing takes back what a command writes.
        !self.is_reading || reads(name) && (name != Bash::NAME || commands.sees_fork())
    }
}

/// True if a subagent may have this tool.
pub(crate) fn may_have(tool: &str) -> bool {
    !OF_SESSION.contains(&tool)
}

/// True if a type that changes nothing may have this tool.
pub(crate) fn reads(tool: &str) -> bool {
    READING.contains(&tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_writes_and_none_has_the_tools_of_the_session() {
        for kind in AgentType::built_in() {
            let (is_code, has) = (kind.name == "code", |tool, mode| kind.has_tool(tool, mode));
            for tool in ["task", "todo_write", "compact", "check_background"] {
                assert!(!has(tool, CommandMode::OverFork), "{} {tool}", kind.name);
            }
            assert!(has("read_file", CommandMode::InPlace) && has("bash", CommandMode::Copy));
            assert_eq!(has("edit_file", CommandMode::OverFork), is_code);
            assert_eq!(has("some_server_tool", CommandMode::OverFork), is_code);
            assert_eq!(has("bash", CommandMode::InPlace), is_code);
        }
    }
}
