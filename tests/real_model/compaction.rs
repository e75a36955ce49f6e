//! A talk that is longer than the context: it must go on over two compactions.

use crate::server::{Desk, Server};
use crate::text;
use libtest_mimic::Failed;
use ropewalk_model::Protocol;
use ropewalk_testkit::model::{CountedContext, Overflow, ScriptedModel, ScriptedReply};
use serde_json::Value;
use std::collections::BTreeSet;

/// Tokens of the context.
const TOKENS: u64 = 8_192;

/// Prompts after which it must have been compacted twice.
const MOST: usize = 40;

/// The first words of the user, which no compaction may drop.
const FIRST: &str = "We name the project Kittiwake.";

/// The course of a talk.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) prompts: usize,
    /// Authors of the summaries.
    pub(crate) by: Vec<String>,
}

/// Prompts of about 700 tokens each, until the talk was compacted twice, and one more. A fault is an error in words.
pub(crate) fn talk(server: &Server) -> Result<Talk, String> {
    let desk = Desk::new(&server.of_context(TOKENS));
    let mut talk = Talk { prompts: 0, by: Vec::new() };
    loop {
        if talk.prompts == MOST {
            return Err(format!("{MOST} prompts, and {} compactions", talk.by.len()));
        }
        let is_last = talk.by.len() >= 2;
        let options: &[&str] = if talk.prompts == 0 { &[] } else { &["--continue"] };
        let name = format!("{}.jsonl", talk.prompts);
        let run = desk.run(&name, options, &prompt(talk.prompts))?;
        let compacted = run.events.iter().filter(|event| text(event, "type") == "compacted");
        talk.by.extend(compacted.map(|event| text(event, "by").to_owned()));
        talk.prompts += 1;
        if is_last {
            knows_the_beginning(&run.tape)?;
            return Ok(talk);
        }
    }
}

fn prompt(number: usize) -> String {
    let first = if number == 0 { FIRST } else { "Here is more." };
    let lines = (0..60).map(|line| format!("Note {number}.{line}: the gulls came back at noon.\n"));
    let notes: String = lines.collect();
    format!("{first} Read these notes, call no tool, and answer with one short sentence.\n{notes}")
}

/// The first request of a recording, which is whole there, still has the user's first words.
fn knows_the_beginning(tape: &[Value]) -> Result<(), String> {
    let request = tape.iter().find_map(|line| line.get("request"));
    let request = request.ok_or("nothing was asked")?.to_string();
    if request.contains(FIRST) { Ok(()) } else { Err(format!("the beginning is lost: {request}")) }
}

/// The same with the scripted model, which counts and refuses what is too long.
pub(crate) fn scripted(protocol: Protocol) -> Result<(), Failed> {
    let context = CountedContext { tokens: TOKENS, overflow: Overflow::Refuse };
    let reply = ScriptedReply::new().text("The gulls came back at noon.").by_beginning().forever();
    let model = ScriptedModel::start_counting(protocol, [reply], context)?;
    let talk = talk(&Server::scripted(&model))?;
    let over = model.counted().iter().filter(|request| request.is_over).count();
    let authors: BTreeSet<&str> = talk.by.iter().map(String::as_str).collect();
    if over == 0 && talk.by.len() >= 2 && !authors.contains("ropewalk") {
        Ok(())
    } else {
        Err(format!("{talk:?}, {over} requests over the limit").into())
    }
}
