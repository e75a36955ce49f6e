//! `ropewalk setup neovim` and `ropewalk doctor --json`.

use crate::world::World;
use serde_json::Value;
use std::fs;

const HOME: &str = ".local/share/nvim/site/pack/ropewalk/opt/ropewalk";

#[test]
fn the_plugin_is_written_again_and_removed() {
    let world = World::new("http://127.0.0.1:1");
    let ran = world.run(&["setup", "neovim"]).ended(0);
    assert!(ran.out.contains("lazy = false"), "{ran:?}");
    let types = world.home(HOME).join("lua/ropewalk/protocol.lua");
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/editors/neovim/lua/ropewalk/protocol.lua");
    assert_eq!(fs::read(&types).unwrap(), fs::read(own).unwrap());
    assert!(world.home(HOME).join("doc/tags").exists());
    assert!(world.home(".local/share/nvim/site/plugin/ropewalk.lua").exists());
    let beside = world.home(HOME).join("lua/mine.lua");
    fs::write(&beside, "mine").unwrap();
    world.run(&["setup", "neovim"]).ended(0);
    world.run(&["setup", "neovim", "--remove"]).ended(0);
    assert!(!types.exists());
    assert_eq!(fs::read_to_string(&beside).unwrap(), "mine", "it is the user's");
    assert!(!world.home(".local/share/nvim/site/plugin").exists(), "empty folders go too");
    let ran = world.run(&["setup", "neovim", "--remove"]).ended(0);
    assert!(ran.out.contains("Nothing was written"), "{ran:?}");
}

#[test]
fn what_somebody_else_wrote_or_changed_stays() {
    let world = World::new("http://127.0.0.1:1");
    let shim = world.home(".local/share/nvim/site/plugin/ropewalk.lua");
    fs::create_dir_all(shim.parent().unwrap()).unwrap();
    fs::write(&shim, "mine").unwrap();
    let ran = world.run(&["setup", "neovim"]).ended(1);
    assert!(ran.err.contains("site/plugin/ropewalk.lua"), "{ran:?}");
    assert!(!world.home(HOME).exists(), "nothing is written then");
    fs::remove_file(&shim).unwrap();
    world.run(&["setup", "neovim"]).ended(0);
    let types = world.home(HOME).join("lua/ropewalk/protocol.lua");
    fs::write(&types, "changed").unwrap();
    world.run(&["setup", "neovim"]).ended(1);
    let ran = world.run(&["setup", "neovim", "--remove"]).ended(0);
    assert!(ran.out.contains("protocol.lua"), "{ran:?}");
    assert_eq!(fs::read_to_string(&types).unwrap(), "changed");
}

#[test]
fn doctor_reports_as_json() {
    let world = World::new("http://127.0.0.1:1");
    // Something of every kind is wrong.
    let flags = ["-cmodle=x", "-callow=[\"bash(\"]", "-cprovider.scripted.api_key_env=NO_SUCH_KEY"];
    let ran = world.run(&[&["doctor", "--json"][..], &flags].concat()).ended(1);
    let findings: Value = serde_json::from_str(&ran.out).unwrap();
    let findings = findings.as_array().unwrap();
    let about = |about: &str| findings.iter().find(|finding| finding["about"] == about).unwrap();
    assert_eq!(about("ropewalk")["level"], "ok");
    assert_eq!(about("server")["level"], "fail");
    for finding in findings {
        assert!(finding["what"].is_string(), "{finding}");
        let mend = finding["mend"].as_str().unwrap_or_default();
        assert_eq!(mend.is_empty(), finding["level"] == "ok", "{finding}");
    }
}
