//! Names of types: each is used once in all rooms, so that it says what it is without its module.
//!
//! Test modules and the folders of tests and benches are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::{Attribute, Item};

/// Names that are used twice, each with its reason.
const TWICE: &[(&str, &str)] = &[
    ("Running", "the sandbox's, and the same where a system has none"),
    ("Sandbox", "the sandbox's, and the same where a system has none"),
    ("Signals", "one for each kind of system"),
];

/// The types of a file, but for its test modules.
fn types(items: &[Item], out: &mut Vec<String>) {
    for item in items {
        let (name, attributes) = match item {
            Item::Struct(one) => (&one.ident, &one.attrs),
            Item::Enum(one) => (&one.ident, &one.attrs),
            Item::Trait(one) => (&one.ident, &one.attrs),
            Item::Type(one) => (&one.ident, &one.attrs),
            Item::Mod(child) => {
                if let Some((_, items)) = &child.content
                    && !is_test(&child.attrs)
                {
                    types(items, out);
                }
                continue;
            }
            _ => continue,
        };
        if !is_test(attributes) {
            out.push(name.to_string());
        }
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|of| of.is_ident("test"))
    })
}

/// All Rust files of the rooms, but for their tests and benches.
fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if ["tests", "benches"].contains(&stem) {
            continue;
        }
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn no_type_name_is_used_twice() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    files(&top.join("server"), &mut all);
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &all {
        let code = syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap();
        let mut names = Vec::new();
        types(&code.items, &mut names);
        let shown = file.strip_prefix(top).unwrap().display().to_string();
        for name in names {
            places.entry(name).or_default().push(shown.clone());
        }
    }
    assert!(places.len() > 1000, "{}", places.len());
    places.retain(|name, places| places.len() > 1 && TWICE.iter().all(|(twice, _)| twice != name));
    assert_eq!(places, BTreeMap::new(), "names of types that are used twice");
}

#[test]
fn types_of_test_modules_are_left_out() {
    let code =
        "struct A; mod b { enum B {} } #[cfg(test)] mod tests { struct C; } type D = A; trait E {}";
    let mut names = Vec::new();
    types(&syn::parse_file(code).unwrap().items, &mut names);
    assert_eq!(names, ["A", "B", "D", "E"]);
}
