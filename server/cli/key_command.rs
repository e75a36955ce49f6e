//! Keys that a program prints (`api_key_command`), such as a password manager. What it prints goes nowhere but into
//! the key: not into a log, and not into an error.

use ropewalk_config::KeyCommand;
use ropewalk_model::{ApiKey, LazyKey, ModelError};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// How long it may take: somebody may have to type a passphrase.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest output that is read, in bytes; no key is as long.
const LONGEST: u64 = 64 << 10;

/// The key that `command` prints, asked for when it is first needed.
pub(crate) fn key_of(command: KeyCommand) -> LazyKey {
    LazyKey::new(move || {
        let command = command.clone();
        Box::pin(async move {
            let printed = tokio::time::timeout(PATIENCE, printed(&command));
            let printed = printed
                .await
                .unwrap_or_else(|_| Err(format!("it did not end within {} s", PATIENCE.as_secs())));
            let text = printed.map_err(|why| ModelError::KeyCommand { why })?;
            ApiKey::new(&text, "api_key_command").map_err(|error| match error {
                ModelError::MissingKey { .. } => {
                    ModelError::KeyCommand { why: "it printed nothing".into() }
                }
                other => other,
            })
        })
    })
}

/// Output of the command; the error says how it failed, without any of the output.
async fn printed(command: &KeyCommand) -> Result<String, String> {
    let mut program = match command {
        KeyCommand::Shell(line) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(line);
            shell
        }
        KeyCommand::Program(words) => {
            let (program, arguments) = words.split_first().ok_or("it is empty")?;
            let mut program = Command::new(program);
            program.args(arguments);
            program
        }
    };
    let mut child = program
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // When the time is over, or the user stops the turn.
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("it can't be started: {error}"))?;
    let mut bytes = Vec::new();
    if let Some(output) = child.stdout.take() {
        let reading = output.take(LONGEST + 1).read_to_end(&mut bytes).await;
        reading.map_err(|error| format!("its output can't be read: {error}"))?;
    }
    if bytes.len() as u64 > LONGEST {
        return Err(format!("it printed more than {LONGEST} bytes"));
    }
    let status = child.wait().await.map_err(|error| format!("it can't be waited for: {error}"))?;
    if !status.success() {
        return Err(format!("it ended with {status}"));
    }
    String::from_utf8(bytes).map_err(|_| "it printed something that is no text".to_owned())
}
