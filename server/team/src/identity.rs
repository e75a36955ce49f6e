//! A member's identity, and how its model is told of it.

/// Name, role and team of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its name in the team.
    pub name: String,
    /// Its role; empty for none.
    pub role: String,
    /// The team's name.
    pub team: String,
}

impl Identity {
    /// The identity for the model, without marks around it.
    pub fn in_words(&self) -> String {
        let role = if self.role.is_empty() { "any" } else { &self.role };
        format!("You are '{}', role: {role}, team: {}. Continue your work.", self.name, self.team)
    }
}
