//! Which room may import which: the table of the design, held against what cargo says.
//!
//! It looks at the packages' declared dependencies, and not at how the code uses them.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::collections::{BTreeMap, BTreeSet};

/// The rooms, and what each may import. A room that is not in the list may not exist.
const ROOMS: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("text", &[]),
    ("board", &[]),
    ("files", &["text"]),
    ("workspace", &["text", "files"]),
    ("model", &["protocol"]),
    ("sandbox", &[]),
    ("tools", &["protocol", "text", "files", "workspace"]),
    ("commands", &["protocol", "text", "files", "workspace", "tools", "sandbox"]),
    ("guidance", &["protocol", "text", "workspace", "tools"]),
    ("agent", &["protocol", "text", "files", "workspace", "model", "tools", "guidance"]),
    ("config", &["protocol"]),
    ("team", &["protocol", "workspace", "model", "tools", "guidance", "agent", "board"]),
    (
        "host",
        &[
            "protocol",
            "text",
            "workspace",
            "model",
            "config",
            "tools",
            "commands",
            "guidance",
            "agent",
            "board",
            "team",
        ],
    ),
    ("lsp", &["protocol", "text", "files", "workspace", "host"]),
    ("testkit", &["protocol", "text", "workspace", "model"]),
];

/// Rooms that every room may import for its tests alone, with the reason. Such an import leaves no
/// trace in the binary.
const FOR_TESTS: &[(&str, &str)] = &[
    ("testkit", "the fake editor and the scripted model are made for tests"),
    ("commands", "sessions are tested with commands that really run"),
];

/// Libraries that a room must not have, each with its reason.
const BANNED: &[(&str, &str, &str)] = &[
    ("text", "tokio", "it is pure: nothing in it waits"),
    ("text", "serde_json", "it is pure: what goes over a wire is made elsewhere"),
    ("text", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("files", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("workspace", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("tools", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("commands", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("guidance", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("agent", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("host", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("text", "anyhow", "rooms have errors of their own"),
    ("files", "anyhow", "rooms have errors of their own"),
    ("workspace", "anyhow", "rooms have errors of their own"),
    ("model", "anyhow", "rooms have errors of their own"),
    ("tools", "anyhow", "rooms have errors of their own"),
    ("commands", "anyhow", "rooms have errors of their own"),
    ("guidance", "anyhow", "rooms have errors of their own"),
    ("agent", "anyhow", "rooms have errors of their own"),
    ("config", "anyhow", "rooms have errors of their own"),
    ("sandbox", "anyhow", "rooms have errors of their own"),
    ("board", "anyhow", "rooms have errors of their own"),
    ("team", "anyhow", "rooms have errors of their own"),
    ("team", "tower-lsp", "LSP's types stop at the door of the room lsp"),
    ("host", "anyhow", "rooms have errors of their own"),
    ("lsp", "anyhow", "rooms have errors of their own"),
];

/// All that the room protocol may use: it is plain data.
const IN_PROTOCOL: &[&str] = &["schemars", "serde", "serde_json"];

/// A dependency of a room.
struct Import {
    room: String,
    name: String,
    for_tests: bool,
}

/// The dependencies of all rooms, as cargo reads them. Offline: nothing is fetched for it.
fn imports() -> (BTreeSet<String>, Vec<Import>) {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .unwrap();
    let mut rooms = BTreeSet::new();
    let mut imports = Vec::new();
    for package in &metadata.packages {
        // The package `ropewalk` itself is the room cli, which may import all.
        let Some(room) = package.name.strip_prefix("ropewalk-") else { continue };
        rooms.insert(room.to_owned());
        imports.extend(package.dependencies.iter().map(|dependency| Import {
            room: room.to_owned(),
            name: dependency.name.clone(),
            for_tests: dependency.kind == DependencyKind::Development,
        }));
    }
    (rooms, imports)
}

/// Faults of these imports, in sentences.
fn faults(imports: &[Import]) -> Vec<String> {
    let table: BTreeMap<&str, &[&str]> = ROOMS.iter().copied().collect();
    let mut faults = Vec::new();
    for Import { room, name, for_tests } in imports {
        if let Some(imported) = name.strip_prefix("ropewalk") {
            let imported = imported.strip_prefix('-').unwrap_or("cli");
            let allowed = table.get(room.as_str()).is_some_and(|may| may.contains(&imported));
            let excepted = *for_tests && FOR_TESTS.iter().any(|(what, _)| *what == imported);
            if !allowed && !excepted {
                faults.push(format!("{room} may not import {imported}"));
            }
        }
        if room == "protocol" && !IN_PROTOCOL.contains(&name.as_str()) {
            faults.push(format!("protocol may not use {name}: it is plain data"));
        }
        let banned = BANNED.iter().find(|(in_room, what, _)| in_room == room && what == name);
        if let Some((_, _, why)) = banned.filter(|_| !for_tests) {
            faults.push(format!("{room} may not use {name}: {why}"));
        }
    }
    faults
}

#[test]
fn rooms_import_only_what_the_table_says() {
    let (rooms, imports) = imports();
    let listed: BTreeSet<String> = ROOMS.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(rooms, listed, "the rooms of the table");
    assert_eq!(faults(&imports), Vec::<String>::new());
    // It has looked at something: the longest row is there.
    assert!(imports.iter().any(|import| import.room == "host" && import.name == "ropewalk-agent"));
}

#[test]
fn an_import_against_the_table_is_found() {
    let import = |room: &str, name: &str, for_tests| Import {
        room: room.to_owned(),
        name: name.to_owned(),
        for_tests,
    };
    let wrong = [
        import("text", "ropewalk-workspace", false),
        import("agent", "ropewalk-lsp", false),
        import("testkit", "ropewalk", false),
        import("text", "tokio", false),
        import("model", "ropewalk-testkit", false),
        import("protocol", "tokio", false),
        import("model", "ropewalk-tools", true),
        import("agent", "ropewalk-commands", false),
        import("tools", "ropewalk-sandbox", false),
    ];
    assert_eq!(faults(&wrong).len(), wrong.len());
    let right = [
        import("agent", "ropewalk-tools", false),
        import("config", "ropewalk-protocol", false),
        import("agent", "ropewalk-testkit", true),
        import("agent", "ropewalk-commands", true),
        import("text", "tokio", true),
    ];
    assert_eq!(faults(&right), Vec::<String>::new());
}
