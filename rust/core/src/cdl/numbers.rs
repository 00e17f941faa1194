//! Many numbers as text: each followed by a comma and a blank, with the length of each.

use std::sync::{Mutex, PoisonError};

use crate::cdl::digits;
use crate::error::{Error, Result};
use crate::pool::{self, Interrupt};

/// How many numbers one task writes.
const PIECE: usize = 1 << 14;

/// Which numbers there are: letters and sizes as NumPy has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as Rust names them")]
pub enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Kind {
    /// The kind of NumPy's letter and size.
    pub fn of(letter: u8, size: usize) -> Option<Self> {
        Some(match (letter, size) {
            (b'i', 1) => Self::I8,
            (b'i', 2) => Self::I16,
            (b'i', 4) => Self::I32,
            (b'i', 8) => Self::I64,
            (b'u', 1) => Self::U8,
            (b'u', 2) => Self::U16,
            (b'u', 4) => Self::U32,
            (b'u', 8) => Self::U64,
            (b'f', 4) => Self::F32,
            (b'f', 8) => Self::F64,
            _ => return None,
        })
    }

    /// Bytes of one number.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// Texts of numbers that follow each other, each with `", "` behind it.
#[derive(Default)]
pub struct Tokens {
    /// All of them.
    pub text: Vec<u8>,
    /// The length of each, with what is behind it.
    pub lengths: Vec<u8>,
}

/// Write numbers, given as bytes in the machine's order, on all threads; those that equal the fill value as `_`.
pub fn tokens(
    bytes: &[u8],
    kind: Kind,
    fill: Option<&[u8]>,
    digits: usize,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Tokens>> {
    let pieces: Vec<&[u8]> = bytes.chunks(PIECE.saturating_mul(kind.size())).collect();
    let done: Vec<Mutex<Tokens>> = pieces.iter().map(|_| Mutex::default()).collect();
    pool::run(pieces.len(), pieces.len() > 1, interrupt, &|i| {
        let (Some(piece), Some(slot)) = (pieces.get(i), done.get(i)) else {
            return Err(Error::Invalid("no such piece of numbers".into()));
        };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = one_piece(piece, kind, fill, digits);
        Ok(())
    })?;
    Ok(done.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

fn one_piece(piece: &[u8], kind: Kind, fill: Option<&[u8]>, digits: usize) -> Tokens {
    match kind {
        Kind::I8 => written::<i8, 1>(piece, fill, digits),
        Kind::I16 => written::<i16, 2>(piece, fill, digits),
        Kind::I32 => written::<i32, 4>(piece, fill, digits),
        Kind::I64 => written::<i64, 8>(piece, fill, digits),
        Kind::U8 => written::<u8, 1>(piece, fill, digits),
        Kind::U16 => written::<u16, 2>(piece, fill, digits),
        Kind::U32 => written::<u32, 4>(piece, fill, digits),
        Kind::U64 => written::<u64, 8>(piece, fill, digits),
        Kind::F32 => written::<f32, 4>(piece, fill, digits),
        Kind::F64 => written::<f64, 8>(piece, fill, digits),
    }
}

fn written<T: Number<N>, const N: usize>(piece: &[u8], fill: Option<&[u8]>, digits: usize) -> Tokens {
    let fill = fill.and_then(|fill| fill.first_chunk::<N>()).map(|bytes| T::load(*bytes));
    let (items, _) = piece.as_chunks::<N>();
    let mut tokens = Tokens {
        text: Vec::with_capacity(items.len().saturating_mul(N.saturating_add(8))),
        lengths: Vec::with_capacity(items.len()),
    };
    let mut before = 0_usize;
    for item in items {
        let value = T::load(*item);
        if fill.is_some_and(|fill| T::same(fill, value)) {
            tokens.text.push(b'_');
        } else {
            value.write(&mut tokens.text, digits);
        }
        tokens.text.extend_from_slice(b", ");
        let length = tokens.text.len().saturating_sub(before);
        before = tokens.text.len();
        tokens.lengths.push(u8::try_from(length).unwrap_or(u8::MAX)); // 40 digits at most
    }
    tokens
}

trait Number<const N: usize>: Copy {
    fn load(bytes: [u8; N]) -> Self;
    fn write(self, out: &mut Vec<u8>, digits: usize);
    fn same(fill: Self, value: Self) -> bool;
}

macro_rules! integers {
    ($($kind:ty, $size:literal, $wide:ty, $write:path;)*) => {$(
        impl Number<$size> for $kind {
            #[inline]
            fn load(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline]
            fn write(self, out: &mut Vec<u8>, _: usize) {
                $write(out, <$wide>::from(self));
            }

            #[inline]
            fn same(fill: Self, value: Self) -> bool {
                fill == value
            }
        }
    )*};
}

integers! {
    i8, 1, i64, digits::signed;
    i16, 2, i64, digits::signed;
    i32, 4, i64, digits::signed;
    i64, 8, i64, digits::signed;
    u8, 1, u64, digits::unsigned;
    u16, 2, u64, digits::unsigned;
    u32, 4, u64, digits::unsigned;
    u64, 8, u64, digits::unsigned;
}

macro_rules! floats {
    ($($kind:ty, $size:literal, $nan:literal, $infinity:literal;)*) => {$(
        impl Number<$size> for $kind {
            #[inline]
            fn load(bytes: [u8; $size]) -> Self {
                Self::from_ne_bytes(bytes)
            }

            #[inline]
            fn write(self, out: &mut Vec<u8>, digits: usize) {
                if self.is_finite() {
                    digits::general(out, f64::from(self), digits);
                } else if self.is_nan() {
                    out.extend_from_slice($nan);
                } else {
                    if self < 0.0 {
                        out.push(b'-');
                    }
                    out.extend_from_slice($infinity);
                }
            }

            /// As ncdump compares them: what differs in no more than the last bit is the same.
            #[inline]
            fn same(fill: Self, value: Self) -> bool {
                if (fill > 0.0) != (value > 0.0) {
                    false
                } else if fill.is_finite() && value.is_finite() {
                    (fill - value).abs() <= (<$kind>::EPSILON * value).abs()
                } else {
                    (fill.is_nan() && value.is_nan()) || (fill.is_infinite() && value.is_infinite())
                }
            }
        }
    )*};
}

floats! {
    f32, 4, b"NaNf", b"Infinityf";
    f64, 8, b"NaN", b"Infinity";
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8], kind: Kind, fill: Option<&[u8]>) -> String {
        let all = tokens(bytes, kind, fill, 7, &|| false).unwrap();
        all.iter().map(|one| String::from_utf8(one.text.clone()).unwrap()).collect()
    }

    #[test]
    fn fill_values_and_what_is_no_number() {
        let values = [1.5_f32, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 9.969_21e36, -0.0];
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
        let fill = 9.969_21e36_f32.to_ne_bytes();
        assert_eq!(texts(&bytes, Kind::F32, Some(&fill)), "1.5, NaNf, Infinityf, -Infinityf, _, -0, ");
        let fill = f32::NAN.to_ne_bytes();
        assert_eq!(texts(&bytes, Kind::F32, Some(&fill)), "1.5, _, Infinityf, -Infinityf, 9.96921e+36, -0, ");
    }

    #[test]
    fn many_numbers_come_in_order() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_ne_bytes).collect();
        let wanted: String = (0..100_000_u32).map(|i| format!("{i}, ")).collect();
        assert_eq!(texts(&bytes, Kind::U32, None), wanted);
        let lengths: Vec<u8> =
            tokens(&bytes, Kind::U32, None, 7, &|| false).unwrap().into_iter().flat_map(|one| one.lengths).collect();
        assert_eq!(lengths.len(), 100_000);
        assert_eq!(lengths.first(), Some(&3));
        assert_eq!(lengths.last(), Some(&7));
    }
}
