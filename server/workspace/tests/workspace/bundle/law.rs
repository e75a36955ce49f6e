//! Two members, the user's typing, and their bundles in any order: nothing of the user's is lost, doubled or misplaced,
//! and each bundle is taken in whole or not at all.

use super::world::{World, bob, forked};
use proptest::prelude::*;
use ropewalk_text::{Change, ChangeSet, Coordinates, Text};
use ropewalk_workspace::bundle::take;
use ropewalk_workspace::fork::{merge, synced};
use ropewalk_workspace::*;
use std::collections::BTreeSet;
use std::sync::Mutex;

const NAMES: [&str; 2] = ["open.txt", "closed.txt"];

/// Letters that the user types, and that the members put. Each other letter stands once.
const USER: char = 'u';
const OWN: [char; 2] = ['A', 'B'];

fn text_of(number: u32) -> String {
    let letter = |n| char::from_u32(0x4e00 + number * 100 + n).unwrap();
    (0..40).map(|n| if n % 8 == 7 { '\n' } else { letter(n) }).collect()
}

/// One letter put somewhere, or one that stands there once taken out.
fn edit(text: &str, at: u16, takes: bool, own: char) -> Option<ChangeSet> {
    let place = text.char_indices().nth(usize::from(at) % text.chars().count().max(1));
    let (start, letter) = place.unwrap_or((0, '\n'));
    let change = match takes {
        true if (letter as u32) < 0x4e00 => return None,
        true => Change::new(start..start + letter.len_utf8(), ""),
        false => Change::new(start..start, own.to_string()),
    };
    ChangeSet::new(text.len(), vec![change])
}

struct Members {
    world: World,
    branches: [Branch; 2],
    put: [usize; 2],
    /// Letters that members took out.
    gone: BTreeSet<char>,
}

impl Members {
    fn new() -> Self {
        let world = World::new(&[(NAMES[0], &text_of(0)), (NAMES[1], &text_of(1))]);
        let branches = [world.branch(), world.branch()];
        Self { world, branches, put: [0, 0], gone: BTreeSet::new() }
    }

    fn user(&self, name: &str, at: u16, takes: bool) {
        let users = self.world.users(name);
        let Some(set) = edit(&users, at, takes, USER) else { return };
        let (text, id) = (Text::from(users.as_str()), self.world.id(name));
        let workspace = &self.world.workspace;
        let Some(version) = workspace.with_document(&id, |d| d.version) else {
            let after = set.apply(&text).unwrap().to_string();
            return std::fs::write(self.world.root().join(name), after).unwrap();
        };
        let position = |byte| Coordinates::default().byte_to_position(&text, byte);
        let change = &set.changes()[0];
        let range = Some((position(change.range.start), position(change.range.end)));
        let change = ContentChange { range, text: change.text.clone() };
        workspace.change(&id.to_uri(), version + 1, &[change]);
    }

    fn work(&mut self, who: usize, name: &str, at: u16, takes: bool) {
        let workspace = &self.world.workspace;
        let branch = &mut self.branches[who];
        branch.refresh(workspace);
        let view = branch.fork().view(workspace.snapshot());
        let place = view.contain(name).unwrap();
        let FileState::Text { text, .. } = view.read(&place).unwrap() else { return };
        let Some(set) = edit(&text.to_string(), at, takes, OWN[who]) else { return };
        self.gone.extend(
            set.changes()
                .iter()
                .flat_map(|change| text.slice(change.range.clone()).chars().collect::<Vec<_>>()),
        );
        let proposal = Proposal { place, change: ProposedChange::Edit(set) };
        branch.fork().merge(workspace, &view, 1, &bob(1), vec![proposal]);
    }

    /// The bundle, which makes of the lead's fork what the work itself makes of it in one go.
    fn bundle(&mut self, who: usize) -> Result<Bundle, TestCaseError> {
        let workspace = &self.world.workspace;
        self.branches[who].refresh(workspace);
        let counted = |name: &&str| {
            let now = Mutex::new(self.branches[who].clone().fork().clone());
            forked(workspace, &now, name).chars().filter(|c| *c == OWN[who]).count()
        };
        self.put[who] = NAMES.iter().map(counted).sum();
        let bundle = self.world.bundle(&mut self.branches[who]);
        let lead = || Mutex::new(synced(workspace, &self.world.fork, |fork, _| fork.clone()));
        let (whole, parts) = (lead(), lead());
        let (view, work) = self.branches[who].work(workspace);
        let report = merge(workspace, &whole, &view, MergeOrigin { turn: 1, maker: &bob(1) }, work);
        let taken = take(
            workspace,
            &parts,
            &bundle,
            MergeOrigin { turn: 1, maker: &bob(1) },
            BundleGuard::NONE,
        );
        prop_assert_eq!(taken.is_ok(), report.conflicts.is_empty(), "{:?}", taken);
        if taken.is_ok() {
            for name in NAMES {
                let texts = (forked(workspace, &whole, name), forked(workspace, &parts, name));
                prop_assert_eq!(texts.0, texts.1);
            }
        }
        Ok(bundle)
    }

    /// Takes a bundle in, and looks at what became of every text.
    fn take(&self, who: usize, bundle: &Bundle) -> Result<(), TestCaseError> {
        let texts = || NAMES.map(|name| self.world.forked(name));
        let users = NAMES.map(|name| self.world.users(name));
        let (before, hunks) = (texts(), self.world.waits());
        let taken = self.world.take(bundle, who as u64);
        prop_assert_eq!(&users, &NAMES.map(|name| self.world.users(name)));
        let own =
            |texts: &[String]| texts.concat().chars().filter(|char| *char == OWN[who]).count();
        match taken {
            Err(error) => {
                prop_assert!(matches!(error, TakeError::Conflict(_)), "{}", error);
                prop_assert_eq!((texts(), self.world.waits()), (before, hunks));
            }
            Ok(_) => prop_assert_eq!(own(&texts()), self.put[who], "all of it"),
        }
        self.check(&users)
    }

    /// The fork has the user's text in its order, but for what members took out.
    fn check(&self, users: &[String; 2]) -> Result<(), TestCaseError> {
        for (name, users) in NAMES.iter().zip(users) {
            let now = self.world.forked(name);
            let now: Vec<char> = now.chars().filter(|char| !OWN.contains(char)).collect();
            let stays: BTreeSet<char> = now.iter().copied().collect();
            let is_gone = |char: &char| self.gone.contains(char) && !stays.contains(char);
            let want: Vec<char> = users.chars().filter(|char| !is_gone(char)).collect();
            prop_assert_eq!(now, want);
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn bundles_and_typing_in_any_order(
        steps in prop::collection::vec((0u8..4, 0usize..2, any::<u16>(), any::<bool>()), 1..24),
        typed in prop::collection::vec((0usize..2, any::<u16>(), any::<bool>()), 3),
        swapped in any::<bool>(),
    ) {
        let mut members = Members::new();
        for (who, file, at, takes) in steps {
            match who {
                0 | 1 => members.user(NAMES[file], at, takes),
                who => members.work(usize::from(who) - 2, NAMES[file], at, takes),
            }
        }
        let bundles = [members.bundle(0)?, members.bundle(1)?];
        for (order, (file, at, takes)) in typed.into_iter().enumerate() {
            members.user(NAMES[file], at, takes);
            let users = NAMES.map(|name| members.world.users(name));
            members.check(&users)?;
            if let Some(bundle) = bundles.get(order) {
                let who = if swapped { 1 - order } else { order };
                let bundle = if swapped { &bundles[who] } else { bundle };
                members.take(who, bundle)?;
            }
        }
    }
}
