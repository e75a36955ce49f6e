//! Each file of tests is part of a binary: one that no `mod` line names would never be run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::{Expr, ExprLit, Item, ItemMod, Lit, Meta};

/// Adds the files of a folder and of those below it, but for data.
fn files(folder: &Path, out: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() && !path.ends_with("data") {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.insert(path);
        }
    }
}

/// Path in `#[path = "…"]`.
fn given(module: &ItemMod) -> Option<String> {
    module.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(value) if value.path.is_ident("path") => match &value.value {
            Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
}

/// The path without `..` in it.
fn plain(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Adds a file and those that its `mod` lines name. `children` is the folder of modules without a path of their own.
fn reach(file: &Path, children: &Path, out: &mut BTreeSet<PathBuf>) {
    if !out.insert(plain(file)) {
        return;
    }
    let text = std::fs::read_to_string(file).unwrap();
    walk(&syn::parse_file(&text).unwrap().items, file, children, out);
}

fn walk(items: &[Item], file: &Path, children: &Path, out: &mut BTreeSet<PathBuf>) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        if let Some((_, items)) = &module.content {
            walk(items, file, &children.join(name), out);
            continue;
        }
        let beside = file.parent().unwrap();
        let (file, children) = match given(module) {
            // A file with `#[path]` has its child modules in its own folder.
            Some(path) => {
                let file = beside.join(path);
                let children = file.parent().unwrap().to_owned();
                (file, children)
            }
            None if children.join(format!("{name}.rs")).exists() => {
                (children.join(format!("{name}.rs")), children.join(name))
            }
            None => (children.join(&name).join("mod.rs"), children.join(name)),
        };
        reach(&file, &children, out);
    }
}

#[test]
fn every_file_of_tests_is_part_of_a_binary() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().unwrap();
    let mut reached = BTreeSet::new();
    for target in metadata.packages.iter().flat_map(|package| &package.targets) {
        if target.is_test() || target.is_bench() {
            let file = target.src_path.as_std_path();
            reach(file, file.parent().unwrap(), &mut reached);
        }
    }
    let mut all = BTreeSet::new();
    files(&root.join("tests"), &mut all);
    for room in std::fs::read_dir(root.join("server")).unwrap().map(Result::unwrap) {
        let tests = room.path().join("tests");
        if tests.is_dir() {
            files(&tests, &mut all);
        }
    }
    assert!(all.len() > 200, "only {} files of tests were found", all.len());
    let lost: Vec<_> =
        all.iter().map(|file| plain(file)).filter(|file| !reached.contains(file)).collect();
    assert!(
        lost.is_empty(),
        "no `mod` line names these files, so their tests never run: {lost:#?}"
    );
}
