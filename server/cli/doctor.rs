//! `ropewalk doctor`: what is set up, what is missing, and how to mend it.
//!
//! It changes nothing but a trial file in the state folder, asks the model's server one question that costs
//! no tokens, and never shows a key.

mod checks;

use crate::exit::CliExit;
use crate::plain::{plain, plain_json};
use crate::setup;
use ropewalk_agent::time::today;
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

/// Way to mend a finding. One that is not good always says it.
#[derive(Debug, PartialEq, Eq)]
enum Mend {
    /// There is nothing to do.
    Nothing,
    /// By this.
    By(String),
    /// The words say it.
    InWords,
    /// The lines below say it.
    InLines,
}

/// One line of the report.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    grade: Grade,
    /// Subject of the finding, in one word.
    about: &'static str,
    /// Words on what was found.
    words: String,
    mend: Mend,
    /// Lines to be copied as they stand, which are shown below.
    lines: Vec<String>,
}

/// How the report is given.
#[derive(clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print a JSON list of objects with level (ok, note, fail), about, what, and mend (null where the level is ok).
    #[arg(long)]
    json: bool,
}

impl Finding {
    fn good(about: &'static str, words: impl Into<String>) -> Self {
        let (words, mend, lines) = (words.into(), Mend::Nothing, Vec::new());
        Self { grade: Grade::Good, about, words, mend, lines }
    }

    fn fair(about: &'static str, words: impl Into<String>, mend: impl Into<String>) -> Self {
        let mend = Mend::By(mend.into());
        Self { grade: Grade::Fair, mend, ..Self::good(about, words) }
    }

    fn bad(about: &'static str, words: impl Into<String>, mend: impl Into<String>) -> Self {
        Self { grade: Grade::Bad, ..Self::fair(about, words, mend) }
    }

    /// One whose words say what to do, as those of errors and of problems do.
    fn told(grade: Grade, about: &'static str, words: impl Into<String>) -> Self {
        Self { grade, mend: Mend::InWords, ..Self::good(about, words) }
    }
}

/// Looks at everything and prints the report. `flags` are those of `-c`. [`CliExit::Done`] when all that is
/// needed is there, else [`CliExit::Error`].
pub(crate) fn doctor(args: &DoctorArgs, flags: Vec<String>) -> anyhow::Result<CliExit> {
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
    findings.extend(checks::catalogue(&today()));
    if let Ok(model) = model {
        findings.extend(checks::server(&*model)?);
        findings.extend(checks::context(&*model)?);
        findings.extend(checks::tools(&*model));
        findings.extend(checks::end_of_model(&*model, &today()));
    }
    findings.extend(checks::local(&config)?);
    findings.extend(checks::rules(&config, rules_file(&RealEnvironment), &problems));
    findings.extend(checks::locks(&config));
    findings.extend(checks::trust(&config));
    findings.extend(checks::programs());
    findings.push(checks::commands(&config)?);
    findings.push(checks::team(&config));
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
    Ok(if worked { CliExit::Done } else { CliExit::Error })
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
        let mend = match mend {
            Mend::Nothing => None,
            Mend::By(mend) => Some(mend.clone()),
            Mend::InWords => Some(words.clone()),
            Mend::InLines => Some(lines.join("\n")),
        };
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
        let mend = match &finding.mend {
            Mend::By(mend) => format!(": {mend}"),
            _ => String::new(),
        };
        let words = plain(&format!("{}{mend}", finding.words)).replace('\n', " ");
        let lines = finding.lines.iter().map(|line| format!("\n{:16}{}", "", plain(line)));
        format!("{mark:<5} {:<9} {words}{}", finding.about, lines.collect::<String>())
    };
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}
