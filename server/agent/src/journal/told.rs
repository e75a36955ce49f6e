//! Changes since a session's opening that the model knows, as journals keep them.

use ropewalk_workspace::ContentHash;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Texts by their names, as hashes; None for one that is gone.
pub(crate) type ToldTexts = BTreeMap<String, Option<ContentHash>>;

/// Changes of instructions, skills, subagent types and tools since the session's opening, of which the model was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldSinceOpening {
    /// Instructions, by file.
    #[serde(default, with = "texts", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) instructions: ToldTexts,
    /// Skills, by name, with the description.
    #[serde(default, with = "texts", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) offers: ToldTexts,
    /// Subagent types, in the same way.
    #[serde(default, with = "texts", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) types: ToldTexts,
    /// Tools that are switched off.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) off: BTreeSet<String>,
    /// Tools that were switched on since, of which the user knows that the model does not have them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) on: BTreeSet<String>,
}

/// Hashes as 32 hex digits.
mod texts {
    use super::ToldTexts;
    use ropewalk_workspace::ContentHash;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Hash(#[serde(with = "ropewalk_workspace::state::wire::hash")] ContentHash);

    pub(super) fn serialize<S: Serializer>(texts: &ToldTexts, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(texts.iter().map(|(name, hash)| (name, hash.map(Hash))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<ToldTexts, D::Error> {
        let texts: BTreeMap<String, Option<Hash>> = BTreeMap::deserialize(d)?;
        Ok(texts.into_iter().map(|(name, hash)| (name, hash.map(|Hash(hash)| hash))).collect())
    }
}
