//! Bytes that are no text, as git writes them into a patch: deflated, in base 85.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};
use std::io::Write as _;

/// Bytes of a line.
const LINE: usize = 52;
/// The digits of git's base 85.
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// The id that git gives these bytes, in hex.
pub(super) fn blob_id(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The id of no file.
pub(super) fn no_id() -> String {
    "0".repeat(40)
}

/// The change there and back, each with all that the file holds then.
pub(super) fn patch(before: &[u8], after: &[u8]) -> Vec<u8> {
    [b"GIT binary patch\n", &*literal(after), &literal(before)].concat()
}

fn literal(bytes: &[u8]) -> Vec<u8> {
    let mut out = format!("literal {}\n", bytes.len()).into_bytes();
    for line in deflated(bytes).chunks(LINE) {
        out.push(length_digit(line.len()));
        for four in line.chunks(4) {
            out.extend(base85(four));
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    out
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

/// 1 to 26 are upper case letters, 27 to 52 lower case ones.
fn length_digit(length: usize) -> u8 {
    let length = u8::try_from(length).unwrap_or_default();
    if length <= 26 { b'A' + length.saturating_sub(1) } else { b'a' + (length - 27) }
}

/// Up to four bytes, filled up with zeros, as five digits.
fn base85(four: &[u8]) -> [u8; 5] {
    let byte = |at: usize| u32::from(four.get(at).copied().unwrap_or_default());
    let mut number = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
    let mut out = [b'0'; 5];
    for digit in out.iter_mut().rev() {
        *digit = DIGITS.get((number % 85) as usize).copied().unwrap_or_default();
        number /= 85;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_digits_are_those_of_git() {
        assert_eq!(blob_id(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        // Git writes this for no bytes at all: `HcmV?d00001`.
        let deflated: [u8; 8] = [0x78, 0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01];
        assert_eq!(deflated.chunks(4).map(base85).collect::<Vec<_>>().concat(), b"cmV?d00001");
        assert_eq!(length_digit(deflated.len()), b'H');
        assert_eq!([1, 26, 27, 52].map(length_digit), *b"AZaz");
    }
}
