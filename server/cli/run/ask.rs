//! Approvals at a terminal: one question at a time, answered by a line.
//!
//! Keys typed before the question stood there are no answer to it. The default is no.

use crate::plain::plain;
use crate::terminal;
use ropewalk_protocol::{Approval, Event, Op, Request, SessionEvent, Verdict};
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::sync::mpsc;
use tokio::sync::mpsc as events;

/// Asks, and keeps what happens meanwhile.
pub(super) struct Asking {
    waiting: VecDeque<OpenQuestion>,
    current: Option<OpenQuestion>,
    /// Asks the thread that reads for a line; none before the first question.
    wanted: Option<mpsc::Sender<()>>,
    lines: (events::UnboundedSender<Option<String>>, events::UnboundedReceiver<Option<String>>),
}

/// A call that waits, and the teammate that makes it; none is the session itself.
struct OpenQuestion {
    approval: Approval,
    member: Option<String>,
}

impl Asking {
    pub(super) fn new() -> Self {
        let lines = events::unbounded_channel();
        Self { waiting: VecDeque::new(), current: None, wanted: None, lines }
    }

    /// True while a question stands on the screen.
    pub(super) fn is_open(&self) -> bool {
        self.current.is_some()
    }

    /// Takes in what approvals there are. Gives true if the question on the screen needs no answer any more.
    pub(super) fn event(&mut self, told: &SessionEvent) -> bool {
        match &told.event {
            Event::ApprovalRequested { approval, .. } => {
                let (approval, member) = (approval.clone(), told.member.clone());
                self.waiting.push_back(OpenQuestion { approval, member });
            }
            // Their numbers are the process's.
            Event::ApprovalResolved { approval, .. } => {
                self.waiting.retain(|question| question.approval.id != *approval);
                return self.current.take_if(|open| open.approval.id == *approval).is_some();
            }
            _ => {}
        }
        false
    }

    /// Puts the next question on the screen, if none is there.
    pub(super) fn open(&mut self) {
        if self.current.is_some() {
            return;
        }
        let Some(question) = self.waiting.pop_front() else { return };
        terminal::drop_typed_ahead();
        put(&format!("{}\n{}", words(&question), answers(&question.approval)));
        self.current = Some(question);
        self.want_line();
    }

    /// The answer to the question on the screen, for whose it is; waits until there is one.
    pub(super) async fn answer(&mut self) -> Request {
        loop {
            let Some(question) = &self.current else { return std::future::pending().await };
            let line = self.lines.1.recv().await.flatten();
            // The end of the input is no yes.
            let OpenQuestion { approval, member } = question;
            let verdict = line.map_or(Some(Verdict::Refuse(None)), |line| verdict(approval, &line));
            if let Some(verdict) = verdict {
                let (op, member) = (Op::Approve(Some(approval.id), verdict), member.clone());
                self.current = None;
                return Request { session: None, member, op };
            }
            put(&format!("That is none of the answers.\n{}", answers(approval)));
            self.want_line();
        }
    }

    /// Has the thread read a line. It may be left waiting for one when the process ends.
    fn want_line(&mut self) {
        let lines = self.lines.0.clone();
        let wanted = self.wanted.get_or_insert_with(|| {
            let (wanted, asked) = mpsc::channel();
            let reading = move || {
                for () in asked {
                    let mut line = String::new();
                    let read = std::io::stdin().lock().read_line(&mut line);
                    let _ = lines.send(read.is_ok_and(|bytes| bytes > 0).then_some(line));
                }
            };
            let named = std::thread::Builder::new().name("answers".to_owned());
            if let Err(error) = named.spawn(reading) {
                tracing::error!(%error, "no answer can be read");
            }
            wanted
        });
        if wanted.send(()).is_err() {
            // Without the thread nobody can say yes.
            let _ = self.lines.0.send(None);
        }
    }
}

/// Text of the question, harmless, with all that would run.
fn words(OpenQuestion { approval: asked, member }: &OpenQuestion) -> String {
    let detail = plain(&asked.detail).trim_end().replace('\n', "\n    ");
    let rule = match &asked.rule_words {
        Some(words) if asked.always => format!("\n  Session and always allow {}.", plain(words)),
        Some(words) => format!("\n  Session allows {}.", plain(words)),
        None => String::new(),
    };
    let reason = plain(&asked.reason);
    let whose: Vec<String> = member.iter().chain(&asked.agent).map(|name| plain(name)).collect();
    let of = if whose.is_empty() { String::new() } else { format!(" ({})", whose.join(", ")) };
    format!("? {}{of} waits for your approval: {reason}\n    {detail}{rule}", plain(&asked.tool))
}

fn answers(asked: &Approval) -> String {
    let session = if asked.rule_words.is_some() { ", [s]ession" } else { "" };
    let always = if asked.always { ", [a]lways" } else { "" };
    format!("  [y]es once{session}{always}, [N]o (words after n are for the model): ")
}

/// The verdict that a line is; none if it is none of the answers.
fn verdict(asked: &Approval, line: &str) -> Option<Verdict> {
    let line = line.trim();
    let (word, rest) = line.split_once([' ', ',']).unwrap_or((line, ""));
    let rest = rest.trim();
    match (&*word.to_lowercase(), rest) {
        ("", "") | ("n" | "no", "") => Some(Verdict::Refuse(None)),
        ("n" | "no", words) => Some(Verdict::Refuse(Some(words.to_owned()))),
        ("y" | "yes", "") => Some(Verdict::Once),
        ("s" | "session", "") if asked.rule_words.is_some() => Some(Verdict::Session),
        ("a" | "always", "") if asked.always => Some(Verdict::Always),
        _ => None,
    }
}

/// Writes to the terminal, with no line end behind it.
fn put(words: &str) {
    terminal::above(|| {
        let mut err = std::io::stderr();
        let _ = err.write_all(words.as_bytes()).and_then(|()| err.flush());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_yes_is_one() {
        let question = |rule: bool, always| Approval {
            tool: "bash".to_owned(),
            detail: "ls\u{1b}[2J\nrm x".to_owned(),
            reason: "it asks".to_owned(),
            rule_words: rule.then(|| "every command".to_owned()),
            always,
            ..Approval::default()
        };
        let all = question(true, true);
        let no = |words: &str| Some(Verdict::Refuse(Some(words.to_owned())));
        for (line, said) in [
            ("\n", Some(Verdict::Refuse(None))),
            ("n\n", Some(Verdict::Refuse(None))),
            ("No\r\n", Some(Verdict::Refuse(None))),
            ("n use ls\n", no("use ls")),
            ("no, use ls, please\n", no("use ls, please")),
            (" Y \n", Some(Verdict::Once)),
            ("yes\n", Some(Verdict::Once)),
            ("s\n", Some(Verdict::Session)),
            ("always\n", Some(Verdict::Always)),
            ("yy\n", None),
            ("y n\n", None),
            ("yes please\n", None),
            ("maybe\n", None),
        ] {
            assert_eq!(verdict(&all, line), said, "{line:?}");
        }
        assert_eq!(verdict(&question(true, false), "a"), None);
        assert_eq!(verdict(&question(false, false), "s"), None);
        let of = |member: Option<&str>| {
            let (approval, member) = (all.clone(), member.map(str::to_owned));
            words(&OpenQuestion { approval, member })
        };
        assert!(of(Some("alice")).contains("bash (alice) waits for your approval"));
        let asked = of(None) + &answers(&all);
        assert!(asked.contains("bash waits for your approval: it asks\n    ls␛[2J\n    rm x\n"));
        assert!(asked.contains("[y]es once, [s]ession, [a]lways, [N]o"));
        assert!(answers(&question(false, false)).contains("[y]es once, [N]o"));
    }
}
