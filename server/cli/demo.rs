//! `ropewalk demo`: a whole turn, reviewed, in a few seconds: the real server as a process of its own, a
//! scripted model on a real loopback socket, and an editor: one that behaves like VS Code, or a real Neovim.
//!
//! Whatever it claims it has checked; it ends with an error at the first claim that is not true. It reads
//! nothing of the user's configuration, and leaves nothing behind.

mod desk;
mod home;
mod neovim;
mod page;
mod script;
mod story;
mod team;
mod team_script;

use crate::exit::{self, UsageError};
use crate::in_words::in_words;
use crate::plain;
use anyhow::Context;
use clap::{Args, ValueEnum};
use desk::{DemoDesk, FakeDesk};
use home::DemoHome;
use neovim::{Neovim, NeovimDesk};
use page::DemoPage;
use ropewalk_testkit::model::ScriptedModel;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `ropewalk demo`.
#[derive(Args)]
pub(crate) struct DemoArgs {
    /// The editor to play in.
    #[arg(long, value_enum, default_value = "fake")]
    editor: EditorName,
    /// The Neovim to use; else NVIM_BIN, `nvim` in PATH, and what tests/run has installed.
    #[arg(long, value_name = "PATH")]
    nvim: Option<PathBuf>,
    /// Play a team instead: two teammates and a worker, which is killed, find their work on a board.
    #[arg(long, conflicts_with_all = ["editor", "nvim"])]
    team: bool,
}

/// The editors that the demo can play in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EditorName {
    /// One in this program, as strict as VS Code.
    Fake,
    /// A real Neovim, 0.11 or later, without its configuration. Without one: exit code 3.
    Nvim,
}

/// Runs the demo. It exits with 0 only if everything it says was verified, and with
/// [`exit::NO_EDITOR`] if the editor asked for is not there.
pub(crate) fn demo(args: DemoArgs) -> anyhow::Result<ExitCode> {
    let neovim = match (args.editor, args.nvim) {
        (EditorName::Fake, None) => None,
        (EditorName::Fake, Some(_)) => {
            let words = "--nvim is for a demo in Neovim: add --editor nvim";
            return Err(UsageError(words.to_owned()).into());
        }
        (EditorName::Nvim, named) => match neovim::find(named) {
            Ok(neovim) => Some(neovim),
            Err(words) => {
                plain::say(&words);
                return Ok(ExitCode::from(exit::NO_EDITOR));
            }
        },
    };
    let mut page = DemoPage::default();
    let shown = in_words(|| match args.team {
        true => play_team(&mut page),
        false => play(&mut page, neovim),
    });
    // The page before a failure is what helps to understand it.
    page.print();
    shown.map(|()| ExitCode::SUCCESS)
}

/// Plays the story in one editor.
fn play(page: &mut DemoPage, neovim: Option<Neovim>) -> anyhow::Result<()> {
    let model = ScriptedModel::start(script::script());
    let model = model.context("no port of this machine can be used")?;
    let home = DemoHome::new(&model.base_url(), home::CHECKED)?;
    let played = match neovim {
        None => play_at(page, &home, &model, FakeDesk::open(&home)),
        Some(neovim) => play_at(page, &home, &model, NeovimDesk::open(&home, &neovim)),
    };
    checked(model, played)
}

/// Plays the story of a team.
fn play_team(page: &mut DemoPage) -> anyhow::Result<()> {
    let model = ScriptedModel::start(team_script::script());
    let model = model.context("no port of this machine can be used")?;
    let home = DemoHome::new(&model.base_url(), team_script::SETTINGS)?;
    let played = in_words(|| {
        let mut desk = FakeDesk::open_with(&home, json!({ "events": true, "team": true }))?;
        team::play(page, &home, &model, &mut desk)?;
        desk.close()
    });
    checked(model, played)
}

/// Fails if the story failed, or if the model's part in it did.
fn checked(model: ScriptedModel, played: anyhow::Result<()>) -> anyhow::Result<()> {
    // After a failure the script was not played to its end, which is no news.
    let faults = model.finish();
    played?;
    if let Err(faults) = faults {
        anyhow::bail!("the model's server saw faults:\n{}", faults.join("\n"));
    }
    Ok(())
}

/// Plays it at a desk, if that could be opened, and leaves it.
fn play_at(
    page: &mut DemoPage,
    home: &DemoHome,
    model: &ScriptedModel,
    desk: anyhow::Result<impl DemoDesk>,
) -> anyhow::Result<()> {
    let mut desk = desk?;
    let played = in_words(|| story::play(page, home, model, &mut desk));
    let left = in_words(|| {
        if played.is_ok() {
            return desk.close();
        }
        drop(desk);
        Ok(())
    });
    // The first failure is the one to tell, not what it left behind.
    played.and(left)
}
