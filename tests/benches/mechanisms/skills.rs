//! Finding skills, in a folder with many.

use crate::harness::{Bar, Report, shortest};
use ropewalk_guidance::skills::{SkillCache, find};
use ropewalk_workspace::{Roots, View, Workspace};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

/// How many skills there are.
const SKILLS: usize = 500;

/// Finding many skills, first and then unchanged.
pub(crate) fn find_many(report: &mut Report) {
    let (first, again) = ("find 500 skills", "find them again, unchanged");
    if !report.wants(first) && !report.wants(again) {
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    for number in 0..SKILLS {
        let folder =
            dir.path().join(format!(".agents/skills/group-{}/skill-{number}", number % 20));
        fs::create_dir_all(&folder).expect("a folder");
        let text = format!(
            "---\nname: skill-{number}\ndescription: {}\n---\n{}",
            "What it does, and when to use it. ".repeat(6),
            "Do this, then that.\n".repeat(200)
        );
        let path = folder.join("SKILL.md");
        fs::write(&path, text).expect("a file");
        // Files that were just written are read again, since their times may be too coarse.
        let earlier = SystemTime::now() - Duration::from_secs(3_600);
        let file = File::options().write(true).open(path).expect("a file");
        file.set_modified(earlier).expect("times can be set");
    }
    let workspace = Workspace::new(Roots::new(vec![(String::new(), dir.path().to_owned())]));
    let view = || View::new(workspace.snapshot(), BTreeMap::new());
    let cold = || {
        let view = view();
        let mut cache = SkillCache::default();
        assert_eq!(find(&view, &[], &mut cache).skills.len(), SKILLS);
    };
    report.row(first, shortest(10, cold).as_secs_f64() * 1e3, "ms", Bar::AtMost(50.0));
    let mut cache = SkillCache::default();
    find(&view(), &[], &mut cache);
    let warm = || assert_eq!(find(&view(), &[], &mut cache).skills.len(), SKILLS);
    report.row(again, shortest(20, warm).as_secs_f64() * 1e3, "ms", Bar::AtMost(5.0));
}
