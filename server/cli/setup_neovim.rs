//! `ropewalk setup neovim`: the plugin that this binary has inside, written into Neovim's data folder, or removed there.
//!
//! A list beside the plugin says what was written, with the hash of each file. Only what is on it and still as it was
//! written is overwritten or removed.

use crate::exit::CliExit;
use crate::plain::plain;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use ropewalk_config::{Environment, RealEnvironment};
use ropewalk_text::ContentHash;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The plugin's files, by their paths in it.
const PLUGIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/neovim.rs"));

/// The plugin's folder below the data folder, which no plugin manager loads by itself.
const HOME: &str = "site/pack/ropewalk/opt/ropewalk";

/// The file that Neovim loads at its start, which adds the plugin. Plugin managers that replace the package path leave it.
const SHIM: &str = "site/plugin/ropewalk.lua";

/// The list of what was written.
const LIST: &str = "site/pack/ropewalk/written.txt";

const SHIM_TEXT: &str = "\
-- Written by `ropewalk setup neovim`; `ropewalk setup neovim --remove` removes it.
local site = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h')
local plugin = site .. '/pack/ropewalk/opt/ropewalk'
if not vim.g.loaded_ropewalk and vim.uv.fs_stat(plugin) then
  vim.opt.runtimepath:append(plugin)
  vim.cmd.source(plugin .. '/plugin/ropewalk.lua')
end
";

/// Arguments of `ropewalk setup`.
#[derive(Args)]
pub(crate) struct SetupArgs {
    #[command(subcommand)]
    editor: SetupEditor,
}

#[derive(Subcommand)]
enum SetupEditor {
    /// Write Ropewalk's plugin into Neovim's data folder.
    Neovim {
        /// Remove what was written there.
        #[arg(long)]
        remove: bool,
    },
}

/// Sets an editor up.
pub(crate) fn setup(args: &SetupArgs) -> anyhow::Result<CliExit> {
    let SetupEditor::Neovim { remove } = args.editor;
    let data = data_folder(&RealEnvironment)
        .context("there is no home folder: set HOME, or XDG_DATA_HOME")?;
    match remove {
        true => removed(&data),
        false => written(&data),
    }
}

/// Neovim's own data folder.
fn data_folder(environment: &dyn Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.var(name).filter(|value| !value.is_empty());
    let name = set("NVIM_APPNAME").unwrap_or_else(|| "nvim".to_owned());
    if let Some(folder) = set("XDG_DATA_HOME") {
        return Some(PathBuf::from(folder).join(name));
    }
    if cfg!(windows) {
        return Some(PathBuf::from(set("LOCALAPPDATA")?).join(format!("{name}-data")));
    }
    Some(PathBuf::from(set("HOME")?).join(".local/share").join(name))
}

/// All files by their paths below the data folder.
fn files() -> BTreeMap<String, String> {
    let plugin = PLUGIN.iter().map(|(path, text)| (format!("{HOME}/{path}"), (*text).to_owned()));
    let mut files: BTreeMap<String, String> = plugin.collect();
    files.insert(format!("{HOME}/doc/tags"), help_tags());
    files.insert(SHIM.to_owned(), SHIM_TEXT.to_owned());
    files
}

/// The help tags, as `:helptags` makes them.
fn help_tags() -> String {
    let mut tags = BTreeSet::new();
    for (path, text) in PLUGIN {
        let Some(name) = path.strip_prefix("doc/").filter(|name| name.ends_with(".txt")) else {
            continue;
        };
        for word in text.split_whitespace() {
            let tag = word.strip_prefix('*').and_then(|word| word.strip_suffix('*'));
            if let Some(tag) = tag.filter(|tag| !tag.is_empty() && !tag.contains(['*', '|'])) {
                tags.insert(format!("{tag}\t{name}\t/*{}*", tag.replace('/', "\\/")));
            }
        }
    }
    tags.into_iter().map(|line| line + "\n").collect()
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", ContentHash::of(bytes).0)
}

/// Prints a line. A standard output that is closed shows nothing.
fn tell(words: &str) {
    let _ = writeln!(std::io::stdout(), "{}", plain(words));
}

/// The hashes of what was written before, by path. A line that is none of ours counts for nothing.
fn list(data: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = match fs::read_to_string(data.join(LIST)) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("{} can't be read", data.join(LIST).display()))?,
    };
    let line = |line: &str| line.split_once("  ").map(|(hash, path)| (path.into(), hash.into()));
    let is_ours = |path: &String| {
        let is_in = path == SHIM || path.starts_with(&format!("{HOME}/"));
        is_in && !Path::new(path).components().any(|part| part.as_os_str() == "..")
    };
    Ok(text.lines().filter_map(line).filter(|(path, _)| is_ours(path)).collect())
}

/// True if a file may not be written or removed: somebody else wrote it, or has changed it.
fn is_foreign(file: &Path, known: Option<&String>) -> anyhow::Result<bool> {
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("{} can't be read", file.display())),
        Ok(found) if !found.is_file() => Ok(true),
        Ok(_) => {
            let bytes =
                fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
            Ok(known.is_none_or(|known| *known != hash(&bytes)))
        }
    }
}

fn written(data: &Path) -> anyhow::Result<CliExit> {
    let (files, before) = (files(), list(data)?);
    let mut foreign = Vec::new();
    for (path, text) in &files {
        let file = data.join(path);
        let same = fs::read(&file).is_ok_and(|bytes| bytes == text.as_bytes());
        if !same && is_foreign(&file, before.get(path))? {
            foreign.push(file.display().to_string());
        }
    }
    if !foreign.is_empty() {
        bail!(
            "nothing is written, because Ropewalk did not write these files, or they were changed since:\n{}\nMove them away and run this again.",
            foreign.join("\n")
        );
    }
    // The list first: what is written next is on it, however this ends.
    let mut listed = before.clone();
    listed.extend(files.iter().map(|(path, text)| (path.clone(), hash(text.as_bytes()))));
    write(&data.join(LIST), &lines(&listed))?;
    for (path, text) in &files {
        write(&data.join(path), text)?;
    }
    for (path, known) in before.iter().filter(|(path, _)| !files.contains_key(*path)) {
        // A file of an earlier version.
        if !is_foreign(&data.join(path), Some(known))? {
            take_away(data, path)?;
        }
        listed.remove(path);
    }
    write(&data.join(LIST), &lines(&listed))?;
    let home = data.join(HOME);
    tell(&format!(
        "Ropewalk's plugin for Neovim is in {home}.\n\
         Start Neovim in a project, select lines and type :Ropewalk ask add a docstring; :help ropewalk says more.\n\
         \n\
         Does your plugin manager keep Neovim from finding it? Then, for lazy.nvim:\n\
         \x20 {{ dir = \"{home}\", lazy = false }}",
        home = home.display()
    ));
    if !is_on_path() {
        tell("\nNeovim starts `ropewalk` by its name, and it is not on your PATH yet.");
    }
    Ok(CliExit::Done)
}

fn is_on_path() -> bool {
    let program = format!("ropewalk{}", std::env::consts::EXE_SUFFIX);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(&program).is_file())
}

fn removed(data: &Path) -> anyhow::Result<CliExit> {
    let before = list(data)?;
    let mut kept = Vec::new();
    for (path, known) in &before {
        match is_foreign(&data.join(path), Some(known))? {
            true => kept.push(data.join(path).display().to_string()),
            false => take_away(data, path)?,
        }
    }
    take_away(data, LIST)?;
    tell(match (before.is_empty(), kept.is_empty()) {
        (true, _) => "Nothing was written by `ropewalk setup neovim`.",
        (_, true) => "Ropewalk's plugin for Neovim is removed.",
        _ => "Ropewalk's plugin for Neovim is removed, but for files that were changed since:",
    });
    kept.iter().for_each(|file| tell(file));
    Ok(CliExit::Done)
}

fn lines(list: &BTreeMap<String, String>) -> String {
    list.iter().map(|(path, hash)| format!("{hash}  {path}\n")).collect()
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let writing = || {
        fs::create_dir_all(file.parent().unwrap_or(file))?;
        fs::write(file, text)
    };
    writing().with_context(|| format!("{} can't be written", file.display()))
}

/// Removes a file if it is there, and the folders above it in the data folder that are empty then.
fn take_away(data: &Path, path: &str) -> anyhow::Result<()> {
    let file = data.join(path);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} can't be removed", file.display()));
        }
        _ => {}
    }
    let site = data.join("site");
    let folders = file.ancestors().skip(1).take_while(|folder| **folder != *site);
    for folder in folders {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}
