//! Seeded chance, and characters that occur once: the alphabet by which the oracle knows each of them.

use std::ops::Range;

/// splitmix64: small, seeded, the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `range`; its start when it is empty.
    pub(crate) fn in_range(&mut self, range: Range<usize>) -> usize {
        let span = range.end.saturating_sub(range.start).max(1) as u64;
        range.start + (self.next() % span) as usize
    }

    /// True with `percent` in a hundred.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.in_range(0..100) < percent
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.in_range(0..all.len()))
    }
}

/// Gives out characters of which each is made once: 3 bytes, 4 bytes and a surrogate pair, and 4 bytes of
/// private use, in turn.
#[derive(Debug, Default)]
pub(crate) struct Alphabet(u32);

const BLOCKS: [(u32, u32); 3] = [(0x4E00, 20_000), (0x2_0000, 42_000), (0xF_0000, 65_000)];

impl Alphabet {
    pub(crate) fn next(&mut self) -> char {
        let (block, place) = (self.0 % 3, self.0 / 3);
        self.0 += 1;
        let (start, size) = BLOCKS[block as usize];
        assert!(place < size, "one world has used up the alphabet");
        char::from_u32(start + place).unwrap()
    }
}

/// True if the character is one of the alphabet's.
pub(crate) fn is_unique(char: char) -> bool {
    BLOCKS.iter().any(|(start, size)| (*start..start + size).contains(&u32::from(char)))
}
