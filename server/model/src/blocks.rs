//! The number of blocks that a reply may have.
//!
//! Whoever folds a reply keeps all of its blocks and searches them; without a bound a server could make that work
//! without end. What a block is, each protocol says for itself.

use crate::ModelError;

/// More blocks than this in one reply are no reply.
pub(crate) const MOST_BLOCKS: usize = 1_000;

/// Numbers the blocks of one reply, from 0.
#[derive(Default)]
pub(crate) struct Blocks(u32);

impl Blocks {
    /// The number of the block that begins now.
    ///
    /// # Errors
    /// [`ModelError::TooLarge`] for blocks without number.
    pub(crate) fn begin(&mut self) -> Result<u32, ModelError> {
        let number = self.0;
        within(usize::try_from(number).unwrap_or(usize::MAX).saturating_add(1), "blocks")?;
        self.0 = number.saturating_add(1);
        Ok(number)
    }
}

/// Refuses more than [`MOST_BLOCKS`] of anything that a block is made of, or made from.
///
/// # Errors
/// [`ModelError::TooLarge`], in words that have `what` in them.
pub(crate) fn within(count: usize, what: &str) -> Result<(), ModelError> {
    if count > MOST_BLOCKS {
        let what = format!("the reply has more than {MOST_BLOCKS} {what}");
        return Err(ModelError::TooLarge { what });
    }
    Ok(())
}
