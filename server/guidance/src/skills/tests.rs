//! Checks what is found of many files, and of broken ones.

use super::*;
use ropewalk_workspace::{Roots, Workspace};

#[test]
fn there_are_only_so_many_and_broken_ones_break_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let skills = dir.path().join(".agents/skills");
    let put = |name: &str, text: &[u8]| {
        std::fs::create_dir_all(skills.join(name)).unwrap();
        std::fs::write(skills.join(name).join(FILE), text).unwrap();
    };
    let look = |cache: &mut SkillCache| {
        let roots = Roots::new(vec![(String::new(), dir.path().to_owned())]);
        let view = View::new(Workspace::new(roots).snapshot(), BTreeMap::new());
        find(&view, &[], cache)
    };
    let good = "---\ndescription: x\n---\n";
    put("fine", good.as_bytes());
    put("bytes", b"\0\x01\xff");
    put("huge", &vec![b'x'; LARGEST as usize + 1]);
    put("headless", b"no head");
    put("a name", good.as_bytes());
    put("..", good.as_bytes());
    std::fs::create_dir_all(skills.join("folder").join(FILE)).unwrap();
    let mut cache = SkillCache::default();
    let found = look(&mut cache);
    assert_eq!(found.skills.keys().collect::<Vec<_>>(), ["fine"]);
    let said = found.faults.join("\n");
    for part in [
        "bytes/SKILL.md is skipped: it is no text",
        "huge/SKILL.md is skipped: it is larger than 1 MB",
        "headless/SKILL.md is skipped: it does not begin with a head",
        "a name/SKILL.md is skipped: its name has other characters",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert_eq!(found.faults.len(), 4, "{said}");
    (0..MOST).for_each(|number| put(&format!("skill-{number}"), good.as_bytes()));
    let found = look(&mut cache);
    assert!(found.skills.len() <= MOST && found.skills.len() > MOST - 10);
    let last = found.faults.first().unwrap();
    assert_eq!(last, "There are more than 2000 skills; the rest is skipped.");
}
