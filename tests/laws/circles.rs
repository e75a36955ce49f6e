//! Circles of files: files of a room that import each other in a loop can only be understood together.
//!
//! Read from the code itself: every `use`. A re-export is a door: it is followed to where the name is defined, and ties
//! nobody by itself. Tests inside of files are left out.
#![expect(clippy::indexing_slicing, reason = "helpers of tests may be blunt, as tests are")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::{Item, ItemUse, UseTree, Visibility};

/// The most files in a circle.
const MOST: usize = 3;

/// The rooms without any circle.
const BOUNDS: &[(&str, usize)] = &[("protocol", 1), ("agent", 1), ("host", 1), ("lsp", 1)];

/// A module by its names from the top of its room.
type Name = Vec<String>;

#[derive(Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Re-exports: the name, and the path as it is written. `*` stands for all of a module.
    doors: Vec<(String, Name)>,
    /// Paths that its code names, as they are written.
    paths: BTreeSet<Name>,
}

/// The modules of a room.
#[derive(Default)]
struct Room(BTreeMap<Name, Module>);

impl Room {
    fn of(top: &Path) -> Self {
        let mut room = Self::default();
        room.read(top, Vec::new());
        room
    }

    fn read(&mut self, file: &Path, name: Name) {
        let code = syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap();
        self.take(file, name, code.items);
    }

    fn take(&mut self, file: &Path, name: Name, items: Vec<Item>) {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        for item in items.into_iter().filter(|item| !is_test(item)) {
            if let Some(defined) = name_of(&item) {
                module.items.insert(defined);
            }
            match item {
                Item::Mod(child) => {
                    let child_name = child.ident.to_string();
                    module.children.insert(child_name.clone());
                    let full = [name.clone(), vec![child_name.clone()]].concat();
                    match child.content {
                        Some((_, items)) => self.take(file, full, items),
                        None => self.read(&file_of(file, &child_name), full),
                    }
                }
                Item::Use(one) => {
                    let is_door = !matches!(one.vis, Visibility::Inherited);
                    leaves(&one.tree, &mut Vec::new(), &mut |name, path| match is_door {
                        true => module.doors.push((name, path)),
                        false => drop(module.paths.insert(path)),
                    });
                }
                item => Uses(&mut module.paths).visit_item(&item),
            }
        }
        self.0.insert(name, module);
    }

    /// The file in which that is defined which `path` names in the module `from`. None if it is of another crate.
    fn target(&self, from: &Name, path: &[String], depth: usize) -> Option<&Path> {
        let module = &self.0[from];
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return self.down(&Vec::new(), rest, depth),
            "self" => return self.down(from, rest, depth),
            "super" => {
                let up = from[..from.len().checked_sub(1)?].to_vec();
                let is_again = rest.first().is_some_and(|next| next == "super");
                return if is_again {
                    self.target(&up, rest, depth)
                } else {
                    self.down(&up, rest, depth)
                };
            }
            _ => {}
        }
        module.children.contains(first).then(|| self.down(from, path, depth)).flatten()
    }

    fn down(&self, from: &Name, path: &[String], depth: usize) -> Option<&Path> {
        let module = &self.0[from];
        let Some((first, rest)) = path.split_first() else { return Some(&module.file) };
        if module.children.contains(first) {
            return self.down(&[from.clone(), vec![first.clone()]].concat(), rest, depth);
        }
        if module.items.contains(first) || depth == 0 {
            return Some(&module.file);
        }
        let named = module.doors.iter().find(|(name, _)| name == first);
        if let Some((_, door)) = named {
            return self.target(from, door, depth - 1);
        }
        let stars = module.doors.iter().filter(|(name, _)| name == "*");
        let mut behind = stars.filter_map(|(_, door)| {
            let path = [door.clone(), vec![first.clone()]].concat();
            self.target(from, &path, depth - 1)
        });
        behind.next_back().or(Some(&module.file))
    }

    /// Which files each file names something of.
    fn arrows(&self) -> BTreeMap<&Path, BTreeSet<&Path>> {
        let mut arrows: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
        for (name, module) in &self.0 {
            let targets = module.paths.iter().filter_map(|path| self.target(name, path, 8));
            let others = targets.filter(|target| *target != module.file);
            arrows.entry(&module.file).or_default().extend(others);
        }
        arrows
    }

    /// The groups of two files and more of which each reaches every other.
    fn circles(&self) -> Vec<BTreeSet<&Path>> {
        let arrows = self.arrows();
        let reached = |from: &Path| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(next) = open.pop() {
                for target in arrows.get(next).into_iter().flatten() {
                    if seen.insert(*target) {
                        open.push(target);
                    }
                }
            }
            seen
        };
        let reach: BTreeMap<&Path, BTreeSet<&Path>> =
            arrows.keys().map(|file| (*file, reached(file))).collect();
        let mut circles = BTreeSet::new();
        for (file, own) in reach.iter().filter(|(file, own)| own.contains(**file)) {
            circles
                .insert(own.iter().copied().filter(|other| reach[other].contains(file)).collect());
        }
        circles.into_iter().collect()
    }
}

/// Collects what is used inside of functions.
struct Uses<'a>(&'a mut BTreeSet<Name>);

impl<'a> Visit<'a> for Uses<'_> {
    fn visit_item_use(&mut self, one: &'a ItemUse) {
        leaves(&one.tree, &mut Vec::new(), &mut |_, path| {
            self.0.insert(path);
        });
    }
}

/// Gives each name that a `use` brings, and its path.
fn leaves(tree: &UseTree, above: &mut Name, take: &mut impl FnMut(String, Name)) {
    match tree {
        UseTree::Path(path) => {
            above.push(path.ident.to_string());
            leaves(&path.tree, above, take);
            above.pop();
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| leaves(tree, above, take));
        }
        UseTree::Glob(_) => take("*".to_owned(), above.clone()),
        UseTree::Name(one) if one.ident == "self" => {
            take(above.last().cloned().unwrap_or_default(), above.clone());
        }
        UseTree::Name(one) => {
            let name = one.ident.to_string();
            take(name.clone(), [above.clone(), vec![name]].concat());
        }
        UseTree::Rename(one) => {
            take(one.rename.to_string(), [above.clone(), vec![one.ident.to_string()]].concat());
        }
    }
}

/// The name that an item defines.
fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(one) => &one.ident,
        Item::Enum(one) => &one.ident,
        Item::Fn(one) => &one.sig.ident,
        Item::Static(one) => &one.ident,
        Item::Struct(one) => &one.ident,
        Item::Trait(one) => &one.ident,
        Item::Type(one) => &one.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn is_test(item: &Item) -> bool {
    let (Item::Mod(syn::ItemMod { attrs, .. }) | Item::Use(ItemUse { attrs, .. })) = item else {
        return false;
    };
    attrs.iter().any(|attr| {
        attr.path().is_ident("cfg")
            && attr.parse_args::<syn::Path>().is_ok_and(|of| of.is_ident("test"))
    })
}

/// The file of a child module that is declared in `file`.
fn file_of(file: &Path, child: &str) -> PathBuf {
    let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "main" | "mod") => file.parent().unwrap().to_owned(),
        _ => file.with_extension(""),
    };
    folder.join(format!("{child}.rs"))
}

/// The rooms: their names, and the files at their tops.
fn rooms() -> Vec<(String, PathBuf)> {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("server");
    let folders = std::fs::read_dir(&server).unwrap().map(|entry| entry.unwrap().path());
    let tops = folders.filter_map(|folder| {
        let name = folder.file_name()?.to_str()?.to_owned();
        let top = [folder.join("src/lib.rs"), folder.join("main.rs")];
        Some((name, top.into_iter().find(|top| top.exists())?))
    });
    let mut rooms: Vec<_> = tops.collect();
    rooms.sort();
    rooms
}

#[test]
fn no_circle_of_files_is_larger_than_its_bound() {
    let rooms = rooms();
    assert!(rooms.len() > 9, "{rooms:?}");
    let mut found = String::new();
    for (name, top) in &rooms {
        let room = Room::of(top);
        let bound = BOUNDS.iter().find(|(bounded, _)| bounded == name);
        let most = bound.map_or(MOST, |(_, most)| *most);
        for circle in room.circles().iter().filter(|circle| circle.len() > most) {
            found.push_str(&format!("{name}:\n"));
            for (from, to) in room.arrows().iter().filter(|(from, _)| circle.contains(*from)) {
                let inside: Vec<_> = to.iter().filter(|to| circle.contains(*to)).collect();
                found.push_str(&format!("  {} -> {inside:?}\n", from.display()));
            }
        }
    }
    assert_eq!(found, "", "circles of files");
}

#[test]
fn a_circle_is_found_through_doors() {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    put("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\npub use b::B;\npub use c::*;\n");
    put("a.rs", "use crate::{B, C};\npub struct A;\n");
    put("b.rs", "pub struct B;\nfn f() { use super::a::A; }\n");
    put("c.rs", "pub struct C;\n#[cfg(test)]\nmod tests { use crate::d::D; }\n");
    put("d.rs", "use crate::A;\npub use crate::a::A;\npub struct D;\n");
    let room = Room::of(&dir.path().join("lib.rs"));
    let files: Vec<Vec<&str>> = room
        .circles()
        .iter()
        .map(|circle| {
            circle.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
        })
        .collect();
    assert_eq!(files, [["a.rs", "b.rs"]]);
}
