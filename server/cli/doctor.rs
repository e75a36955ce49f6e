//! `ropewalk doctor`: what is set up, what is missing, and how to mend it.
//!
//! It changes nothing but a trial file in the state folder, asks the model's server one question that costs
//! no tokens, and never shows a key.

mod checks;

use crate::exit::Exit;
use crate::plain::{plain, plain_json};
use crate::setup;
use ropewalk_config::{RealEnvironment, rules_file};
use std::io::Write;
use std::sync::Arc;

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    /// As it should be.
    Good,
    /// Worth knowing; it works all the same.
    Fair,
    /// It can't work like this.
    Bad,
}

/// One line of the report.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    grade: Grade,
    /// What it is about, in one word.
    about: &'static str,
    /// What was found and, if it is not good, how to mend it.
    words: String,
    /// What mends it, where that is told apart from what was found.
    mend: Option<&'static str>,
    /// Lines to be copied as they stand, which are shown below.
    lines: Vec<String>,
}

/// How the report is given.
#[derive(clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print a JSON list of objects with level (ok, note, fail), about, what, and mend (or null).
    #[arg(long)]
    json: bool,
}

impl Finding {
    fn new(grade: Grade, about: &'static str, words: String) -> Self {
        Self { grade, about, words, mend: None, lines: Vec::new() }
    }

    /// The same with what mends it.
    fn mended_by(self, mend: &'static str) -> Self {
        Self { mend: Some(mend), ..self }
    }

    fn good(about: &'static str, words: impl Into<String>) -> Self {
        Self::new(Grade::Good, about, words.into())
    }

    fn fair(about: &'static str, words: impl Into<String>) -> Self {
        Self::new(Grade::Fair, about, words.into())
    }

    fn bad(about: &'static str, words: impl Into<String>) -> Self {
        Self::new(Grade::Bad, about, words.into())
    }
}

/// Looks at everything and prints the report. `flags` are those of `-c`. [`Exit::Done`] when all that is
/// needed is there, else [`Exit::Error`].
pub(crate) fn doctor(args: &DoctorArgs, flags: Vec<String>) -> anyhow::Result<Exit> {
    let mut findings = vec![Finding::good(
        "ropewalk",
        format!(
            "{} on {} {}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ),
    )];
    let current = std::env::current_dir();
    let config = setup::config(current.as_ref().ok().cloned().into_iter().collect(), flags);
    let factory = crate::models::factory(Arc::new(RealEnvironment));
    let (_, problems) = ropewalk_host::settings::settings_of(&config, &factory, false);
    let model = factory(&config);
    findings.extend(checks::configuration(&config));
    findings.extend(checks::model(&config, model.as_ref().err()));
    findings.extend(checks::thinking(&config));
    if let Ok(model) = model {
        findings.extend(checks::server(&*model)?);
        findings.extend(checks::context(&*model)?);
        findings.extend(checks::tools(&*model));
    }
    findings.extend(checks::local(&config)?);
    findings.extend(checks::rules(&config, rules_file(&RealEnvironment), &problems));
    findings.extend(checks::locks(&config));
    findings.extend(checks::trust(&config));
    findings.extend(checks::programs());
    findings.push(checks::commands(&config)?);
    findings.push(checks::state(setup::state_folder()));
    findings.extend(checks::sessions(setup::sessions()));
    findings.push(checks::root(current, std::env::home_dir()));
    findings.push(Finding::good("editors", "editors/README.md says how to set up each of them"));
    let worst = findings.iter().map(|finding| finding.grade).max();
    let worked = worst.is_none_or(|worst| worst < Grade::Bad);
    let closing = match worked {
        true => "Ropewalk can be used.",
        false => "Ropewalk can't be used yet: fix what is marked FAIL.",
    };
    let told = match args.json {
        true => plain_json(json(&findings)),
        false => format!("{}\n{closing}", report(&findings)),
    };
    // One that is closed shows nothing; the exit code says it all the same.
    let _ = writeln!(std::io::stdout(), "{told}");
    Ok(if worked { Exit::Done } else { Exit::Error })
}

impl Grade {
    fn word(self) -> &'static str {
        match self {
            Grade::Good => "ok",
            Grade::Fair => "note",
            Grade::Bad => "fail",
        }
    }
}

fn json(findings: &[Finding]) -> String {
    let object = |Finding { grade, about, words, mend, lines }: &Finding| {
        let lines = Some(lines.join("\n")).filter(|lines| !lines.is_empty());
        let mend = mend.map(str::to_owned).into_iter().chain(lines).collect::<Vec<_>>().join("\n");
        let mend = Some(mend).filter(|mend| !mend.is_empty());
        serde_json::json!({ "level": grade.word(), "about": about, "what": words, "mend": mend })
    };
    findings.iter().map(object).collect::<serde_json::Value>().to_string()
}

fn report(findings: &[Finding]) -> String {
    let line = |finding: &Finding| {
        let mark = match finding.grade {
            Grade::Bad => "FAIL",
            grade => grade.word(),
        };
        let mend = finding.mend.map(|mend| format!(": {mend}")).unwrap_or_default();
        let words = plain(&format!("{}{mend}", finding.words)).replace('\n', " ");
        let lines = finding.lines.iter().map(|line| format!("\n{:16}{}", "", plain(line)));
        format!("{mark:<5} {:<9} {words}{}", finding.about, lines.collect::<String>())
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}
