//! The board, held to the same tests over both engines.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests and their helpers may be blunt"
)]

mod bundles;
mod claims;
mod edges;
mod ground;
mod members;
mod places;
mod random;
mod talk;

/// Makes a test for each engine of each function.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(&crate::ground::Ground::sqlite()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                if let Some(ground) = crate::ground::Ground::postgres() {
                    super::$name(&ground).await;
                }
            })*
        }
    };
}
use on_both;
