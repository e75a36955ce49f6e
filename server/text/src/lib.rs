//! Text as the rest of Ropewalk sees it: rope documents, the positions clients speak in, change sets
//! with their algebra, and diffs.
//!
//! The room is pure: no clocks, files, async code or LSP types. Every offset is a **byte** offset into
//! the UTF-8 text unless its type says otherwise; a client's coordinates are a [`Position`], which only
//! [`Coordinates`] can turn into bytes and back.
//!
//! Reading order: [`Text`], [`Coordinates`], [`ChangeSet`] (apply, invert, map, compose), [`Rebase`],
//! [`diff()`] and [`coarse_diff`], [`LineHunk`], [`decode`] for what lies on a disk, and [`plain`] for words on a screen.

mod change;
mod compose;
pub mod decode;
mod diff;
mod hunk;
mod islands;
mod letters;
pub mod plain;
mod position;
mod rebase;
mod search;
mod text;

pub use change::{Bias, Change, ChangeSet, LengthMismatch};
pub use diff::{diff, refine};
pub use hunk::{LineHunk, line_hunks, unified};
pub use islands::{coarse_diff, without_islands};
pub use letters::refine_letters;
pub use position::{ByteOffset, Coordinates, LineEnds, Position, PositionEncoding};
pub use rebase::Rebase;
pub use search::{LineEndSearch, find_all};
pub use text::{ContentHash, Text};
