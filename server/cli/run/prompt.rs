//! The request of `ropewalk run`: from the command line, or from standard input.

use crate::exit::UsageError;
use std::io::{IsTerminal, Read};

/// The longest request that is read, in bytes; what is longer belongs into a file.
const LONGEST: u64 = 1 << 20;

/// The request, never blank. `-`, and none where standard input is no terminal, read it from there.
///
/// # Errors
/// When there is none, or it is too long or no UTF-8.
pub(super) fn read(argument: Option<String>) -> anyhow::Result<String> {
    let piped = !std::io::stdin().is_terminal();
    let prompt = match argument {
        Some(words) if words != "-" => words,
        None if !piped => anyhow::bail!(UsageError(
            "There is no request: write it behind `ropewalk run`, in quotes, or pipe it in.".into()
        )),
        _ => from(std::io::stdin().lock())?,
    };
    if prompt.trim().is_empty() {
        anyhow::bail!(UsageError("The request is empty: say what is to be done.".into()));
    }
    Ok(prompt)
}

fn from(input: impl Read) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let wrong = |words: String| anyhow::Error::from(UsageError(words));
    input.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| {
        wrong(format!("The request can't be read from standard input: {error}."))
    })?;
    if bytes.len() as u64 > LONGEST {
        return Err(wrong(format!(
            "The request is longer than {LONGEST} bytes: put its material into a file, and name that."
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| wrong("The request on standard input is not UTF-8 text.".to_owned()))
}
