//! Constructors of keys that have much in common, for the list.

use super::{Key, KeyType, ProjectRule};
use crate::{CommandBounds, SessionRetention, TeamBounds};
use ropewalk_protocol::SessionLimits;

pub(super) const LEAN: KeyType =
    KeyType::Fact { field: |facts| &mut facts.lean, unset: "below 16384 tokens of context" };

pub(super) const IMAGES: KeyType = KeyType::Fact {
    field: |facts| &mut facts.images,
    unset: "where the model is known by its name to take them",
};

/// A bound, which a project may lower.
pub(super) const fn limit(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut SessionLimits) -> &mut u32,
) -> Key {
    let project = ProjectRule::Stricter("lower it");
    Key { name, description, project, kind: KeyType::Limit { least, most, field } }
}

/// A bound on the sessions that are kept, which a project has no say in.
pub(super) const fn keep(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut SessionRetention) -> &mut u32,
) -> Key {
    let project = ProjectRule::Ignored;
    Key { name, description, project, kind: KeyType::Keep { least, most, field } }
}

/// A bound on commands, which is about the machine.
pub(super) const fn command(
    name: &'static str,
    description: &'static str,
    (least, most): (u32, u32),
    field: fn(&mut CommandBounds) -> &mut u32,
) -> Key {
    let project = ProjectRule::Ignored;
    Key { name, description, project, kind: KeyType::CommandBound { least, most, field } }
}

/// A bound on teams.
pub(super) const fn team(
    name: &'static str,
    description: &'static str,
    project: ProjectRule,
    (least, most): (u32, u32),
    field: fn(&mut TeamBounds) -> &mut u32,
) -> Key {
    Key { name, description, project, kind: KeyType::TeamBound { least, most, field } }
}

pub(super) const MAY_LOWER: ProjectRule = ProjectRule::Stricter("lower it");

/// A key of the user's own, which a project has no say in.
pub(super) const fn theirs(name: &'static str, kind: KeyType, description: &'static str) -> Key {
    Key { name, description, project: ProjectRule::Ignored, kind }
}

/// A key that the user sets.
pub(super) const fn own(name: &'static str, kind: KeyType, description: &'static str) -> Key {
    Key { name, description, project: ProjectRule::Never, kind }
}
