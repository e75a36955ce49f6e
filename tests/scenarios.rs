//! Plays every page of `tests/scenarios`, each as a test named after its file: the real binary over pipes,
//! with a fake editor and a scripted model. `cargo test --test scenarios NAME` plays those with NAME in
//! their name. What a page can say is described in `tests/scenarios/README.md`.

use libtest_mimic::{Arguments, Trial};
use ropewalk_testkit::scenario::Scenario;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let entries = std::fs::read_dir(&folder).expect("tests/scenarios is there");
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    pages.sort();
    assert!(!pages.is_empty(), "{} has no pages", folder.display());
    let trials = pages.into_iter().map(|page| {
        let name = page.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name, move || {
            let relative = page.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(&page);
            let text = std::fs::read_to_string(&page)?;
            let scenario = Scenario::parse(relative, &text)?;
            scenario.play(Path::new(env!("CARGO_BIN_EXE_ropewalk")));
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
