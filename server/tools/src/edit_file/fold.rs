//! Folding: texts that differ in what is easily mistaken become equal.

use unicode_normalization::UnicodeNormalization as _;

/// Differences between two texts that are overlooked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// White space is left out.
    pub(super) space: bool,
    /// Letters become small.
    pub(super) case: bool,
    /// Characters are taken apart (NFKD).
    pub(super) form: bool,
    /// Characters that look alike become one, invisible ones are left out.
    pub(super) looks: bool,
}

impl Fold {
    /// Everything.
    pub(super) const ALL: Fold = Fold { space: true, case: true, form: true, looks: true };
}

/// The folded text. O(text).
pub(super) fn fold(text: &str, fold: Fold) -> String {
    if text.is_ascii() {
        let kept = text.chars().filter(|c| !(fold.space && c.is_whitespace()));
        return kept.map(|c| if fold.case { c.to_ascii_lowercase() } else { c }).collect();
    }
    let mut out = String::with_capacity(text.len());
    let mut put = |c: char| {
        let c = if fold.looks { look_alike(c) } else { Some(c) };
        match c {
            Some(c) if fold.space && c.is_whitespace() => {}
            Some(c) if fold.case => out.extend(c.to_lowercase()),
            Some(c) => out.push(c),
            None => {}
        }
    };
    if fold.form {
        text.nfkd().for_each(&mut put);
    } else {
        text.chars().for_each(&mut put);
    }
    out
}

/// The usual character that looks like this one; None for one that can't be seen.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}' => {
            return None;
        }
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{b4}' | '\u{2bc}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        // Cyrillic and Greek letters drawn as Latin ones.
        'а' | 'α' => 'a',
        'е' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'і' => 'i',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'Е' | 'Ε' => 'E',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Н' | 'Η' => 'H',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'С' => 'C',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        other => other,
    })
}
