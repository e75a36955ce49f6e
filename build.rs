//! The plugin for Neovim as a list of files, which the binary has inside.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of the plugin that Neovim loads from; what else lies beside them is for those who work on it.
const FOLDERS: [&str; 3] = ["doc", "lua", "plugin"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let plugin = root.join("editors/neovim");
    let mut files = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", plugin.join(folder).display());
        collect(&plugin.join(folder), &mut files)?;
    }
    files.sort();
    let mut list = "&[\n".to_owned();
    for file in files {
        let name = file.strip_prefix(&plugin).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        // Writing to a string can't fail.
        let _ = writeln!(list, "    ({name:?}, include_str!({:?})),", file.to_string_lossy());
    }
    list.push(']');
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("neovim.rs"), list)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        // Help tags are made where the plugin is written.
        match path.is_dir() {
            true => collect(&path, into)?,
            false if path.file_name().is_some_and(|name| name == "tags") => {}
            false => into.push(path),
        }
    }
    Ok(())
}
