//! Keys that a program prints (`api_key_command`), such as a password manager: the key alone, or a JSON object with it and with
//! the time for which it is taken, as programs of cloud providers print it. What it prints goes nowhere but into the key: not
//! into a log, and not into an error.

use ropewalk_config::KeyCommand;
use ropewalk_model::{ApiKey, GivenKey, LazyKey, ModelError};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
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
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            read(&text, now).map_err(|error| match error {
                ModelError::MissingKey { .. } => {
                    ModelError::KeyCommand { why: "it printed nothing".into() }
                }
                other => other,
            })
        })
    })
}

/// Members of an object that hold a key.
const KEY_MEMBERS: &[&str] = &["access_token", "accessToken", "token", "api_key", "key"];

/// The key in a command's output. `now` is the time since 1970.
fn read(text: &str, now: Duration) -> Result<GivenKey, ModelError> {
    if !text.trim_start().starts_with('{') {
        return ApiKey::new(text, "api_key_command").map(GivenKey::from);
    }
    let wrong = |why: &str| ModelError::KeyCommand { why: why.to_owned() };
    let json: Value =
        serde_json::from_str(text).map_err(|_| wrong("it printed an object that is no JSON"))?;
    let key = KEY_MEMBERS.iter().find_map(|name| json.get(name)?.as_str());
    let key = key.ok_or_else(|| {
        wrong(&format!("the object that it printed has none of {}", KEY_MEMBERS.join(", ")))
    })?;
    let seconds = |name| {
        let value = json.get(name)?;
        value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let lasts = seconds("expires_in")
        .or_else(|| Some((seconds("expires_on")? - now.as_secs_f64()).max(0.0)));
    let lasts = lasts.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    Ok(GivenKey { key: ApiKey::new(key, "api_key_command")?, lasts })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_alone_or_from_an_object_with_its_end() {
        let now = Duration::from_secs(1_000);
        let key = |text: &str| ApiKey::new(text, "").unwrap();
        for (text, expected, lasts) in [
            ("sk-1\n", "sk-1", None),
            (r#"{"access_token":"t","expires_in":3600,"token_type":"Bearer"}"#, "t", Some(3_600)),
            (r#"{"accessToken":"t","expires_on":1600,"expiresOn":"2026-01-01"}"#, "t", Some(600)),
            (r#" {"token": "t", "expires_on": "900"}"#, "t", Some(0)),
            (r#"{"key":"t","expires_in":"soon"}"#, "t", None),
            (r#"{"key":"t","expires_in":-5}"#, "t", None),
            (r#"{"key":"t","expires_in":1e300}"#, "t", None),
        ] {
            let given = read(text, now).unwrap();
            assert!(given.key == key(expected), "{text}");
            assert_eq!(given.lasts, lasts.map(Duration::from_secs), "{text}");
        }
        for wrong in ["{", "{}", r#"{"token":7}"#, r#"{"secret":"sk-hidden"}"#, r#"{"key":""}"#, ""]
        {
            let error = read(wrong, now).map(|_| ()).unwrap_err().to_string();
            assert!(!error.contains("sk-hidden"), "{error}");
        }
    }
}
