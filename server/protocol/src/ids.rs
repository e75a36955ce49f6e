//! Names of sessions, calls and messages, each of a type of its own, so that none is taken for another.

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, ops::Deref, sync::Arc};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(test, derive(JsonSchema))]
        #[serde(transparent)]
        #[cfg_attr(test, schemars(inline))]
        pub struct $name(pub Arc<str>);

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(id: T) -> Self {
                Self(id.into())
            }
        }
    };
}

id! {
    /// Id of a session, unique on the machine.
    SessionId
}

id! {
    /// Id of a tool call, unique in its session.
    CallId
}

id! {
    /// Id of a message of the model's, unique in its session.
    MessageId
}
