//! Blocks of 4, 16, 64 or 256 integers as zfp codes them: a transform, an order, and bit planes from the highest on.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "blocks have 4, 16, 64 or 256 places, and every index is below that; numbers of a block wrap"
)]

use super::zfp_bits::{BitReader, BitWriter};
use super::zfp_order::order;

/// Places of the largest block.
pub(super) const MOST: usize = 256;

/// Integers whose arithmetic wraps.
pub(super) trait Int: Copy + Default + PartialEq {
    /// Bits of the type.
    const BITS: u32;
    /// Bits that say how many planes a block has that is kept without loss.
    const PLANE_BITS: u32;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn half(self) -> Self;
    /// In base -2, so that small numbers of both signs have few bits.
    fn code(self) -> u64;
    fn from_code(code: u64) -> Self;
}

macro_rules! int {
    ($t:ty, $u:ty, $planes:literal, $mask:literal) => {
        impl Int for $t {
            const BITS: u32 = <$t>::BITS;
            const PLANE_BITS: u32 = $planes;

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            fn half(self) -> Self {
                self >> 1
            }

            fn code(self) -> u64 {
                u64::from((self as $u).wrapping_add($mask) ^ $mask)
            }

            fn from_code(code: u64) -> Self {
                ((code as $u) ^ $mask).wrapping_sub($mask) as $t
            }
        }
    };
}

int!(i32, u32, 5, 0xAAAA_AAAA);
int!(i64, u64, 6, 0xAAAA_AAAA_AAAA_AAAA);

/// How many bits a block may take, and how many planes are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) least: u32,
    pub(super) most: u32,
    pub(super) planes: u32,
}

impl Budget {
    /// What is left after some bits.
    pub(super) fn after(self, bits: u32) -> Self {
        Self { least: self.least.saturating_sub(bits), most: self.most.saturating_sub(bits), ..self }
    }
}

type Lift<I> = fn([I; 4]) -> [I; 4];

fn forward<I: Int>([mut x, mut y, mut z, mut w]: [I; 4]) -> [I; 4] {
    x = x.plus(w).half();
    w = w.minus(x);
    z = z.plus(y).half();
    y = y.minus(z);
    x = x.plus(z).half();
    z = z.minus(x);
    w = w.plus(y).half();
    y = y.minus(w);
    w = w.plus(y.half());
    y = y.minus(w.half());
    [x, y, z, w]
}

fn inverse<I: Int>([mut x, mut y, mut z, mut w]: [I; 4]) -> [I; 4] {
    y = y.plus(w.half());
    w = w.minus(y.half());
    y = y.plus(w);
    w = w.minus(y.minus(w));
    z = z.plus(x);
    x = x.minus(z.minus(x));
    y = y.plus(z);
    z = z.minus(y.minus(z));
    w = w.plus(x);
    x = x.minus(w.minus(x));
    [x, y, z, w]
}

fn exact_forward<I: Int>([x, mut y, mut z, mut w]: [I; 4]) -> [I; 4] {
    w = w.minus(z);
    z = z.minus(y);
    y = y.minus(x);
    w = w.minus(z);
    z = z.minus(y);
    w = w.minus(z);
    [x, y, z, w]
}

fn exact_inverse<I: Int>([x, mut y, mut z, mut w]: [I; 4]) -> [I; 4] {
    w = w.plus(z);
    z = z.plus(y);
    w = w.plus(z);
    y = y.plus(x);
    z = z.plus(y);
    w = w.plus(z);
    [x, y, z, w]
}

/// Apply a lift to every line along an axis.
fn along<I: Int>(block: &mut [I], axis: usize, lift: Lift<I>) {
    let step = 1_usize << (2 * axis);
    for i in (0..block.len()).filter(|i| (i >> (2 * axis)) & 3 == 0) {
        let places = [i, i + step, i + 2 * step, i + 3 * step];
        let line = lift(places.map(|at| block[at]));
        places.iter().zip(line).for_each(|(&at, value)| block[at] = value);
    }
}

/// Encode the integers of a block; returns the number of bits.
pub(super) fn encode<I: Int>(out: &mut BitWriter, block: &mut [I], dims: usize, budget: Budget, exact: bool) -> u32 {
    (0..dims).for_each(|axis| along(block, axis, if exact { exact_forward } else { forward }));
    let mut codes = [0; MOST];
    let codes = &mut codes[..block.len()];
    codes.iter_mut().zip(order(dims)).for_each(|(code, &at)| *code = block[usize::from(at)].code());
    let mut used = 0;
    let mut planes = budget.planes;
    if exact {
        let all = codes.iter().fold(0, |all, code| all | code);
        planes = I::BITS.saturating_sub(all.trailing_zeros()).min(planes).max(1);
        out.put(u64::from(planes - 1), I::PLANE_BITS);
        used = I::PLANE_BITS;
    }
    used += encode_planes(out, codes, I::BITS, planes, budget.most.saturating_sub(used));
    out.pad(budget.least.saturating_sub(used));
    used.max(budget.least)
}

/// Decode the integers of a block.
pub(super) fn decode<I: Int>(src: &mut BitReader<'_>, block: &mut [I], dims: usize, budget: Budget, exact: bool) {
    let (mut used, mut planes) = (0, budget.planes);
    if exact {
        planes = src.take(I::PLANE_BITS) as u32 + 1;
        used = I::PLANE_BITS;
    }
    let mut codes = [0; MOST];
    let codes = &mut codes[..block.len()];
    used += decode_planes(src, codes, I::BITS, planes, budget.most.saturating_sub(used));
    src.skip(budget.least.saturating_sub(used));
    codes.iter().zip(order(dims)).for_each(|(&code, &at)| block[usize::from(at)] = I::from_code(code));
    (0..dims).rev().for_each(|axis| along(block, axis, if exact { exact_inverse } else { inverse }));
}

/// One bit of each number of a block.
#[derive(Default)]
struct Plane([u64; 4]);

impl Plane {
    fn of(codes: &[u64], k: u32) -> Self {
        let mut plane = Self::default();
        for (word, codes) in plane.0.iter_mut().zip(codes.chunks(64)) {
            *word = codes.iter().enumerate().fold(0, |word, (i, code)| word | ((code >> k) & 1) << i);
        }
        plane
    }

    /// The first bit that is set at a place or behind it.
    fn next(&self, from: usize) -> Option<usize> {
        let first = from / 64;
        let rest = self.0.get(first)? & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(first * 64 + rest.trailing_zeros() as usize);
        }
        let behind = self.0.iter().enumerate().skip(first + 1).find(|(_, word)| **word != 0);
        behind.map(|(i, word)| i * 64 + word.trailing_zeros() as usize)
    }

    /// The first `n` bits, word by word, each with the number of its bits.
    fn spans(n: u32) -> impl Iterator<Item = (usize, u32)> {
        (0_u32..4).map(move |i| (i as usize, n.saturating_sub(64 * i).min(64))).filter(|(_, n)| *n > 0)
    }
}

/// Encode planes from the highest bit on: those of numbers that had bits before as they are, the others as the distances
/// between bits that are set.
fn encode_planes(out: &mut BitWriter, codes: &[u64], width: u32, planes: u32, most: u32) -> u32 {
    let (mut bits, mut known) = (most, 0_usize);
    for k in (width.saturating_sub(planes)..width).rev() {
        if bits == 0 {
            break;
        }
        let plane = Plane::of(codes, k);
        let plain = (known as u32).min(bits);
        bits -= plain;
        Plane::spans(plain).for_each(|(i, n)| out.put(plane.0[i], n));
        while bits > 0 && known < codes.len() {
            bits -= 1;
            let next = plane.next(known);
            out.put(u64::from(next.is_some()), 1);
            let Some(next) = next else { break };
            // Zeros up to the bit, then the bit itself, unless it can only be the last.
            let last = codes.len() - 1;
            let zeros = ((next - known) as u32).min(bits);
            out.pad(zeros);
            bits -= zeros;
            if next < last && bits > 0 {
                out.put(1, 1);
                bits -= 1;
            }
            known = next + 1;
        }
    }
    most - bits
}

fn decode_planes(src: &mut BitReader<'_>, codes: &mut [u64], width: u32, planes: u32, most: u32) -> u32 {
    let (mut bits, mut known, size) = (most, 0_usize, codes.len());
    for k in (width.saturating_sub(planes)..width).rev() {
        if bits == 0 {
            break;
        }
        let mut plane = Plane::default();
        let plain = (known as u32).min(bits);
        bits -= plain;
        Plane::spans(plain).for_each(|(i, n)| plane.0[i] = src.take(n));
        while bits > 0 && known < size {
            bits -= 1;
            if !src.bit() {
                break;
            }
            while bits > 0 && known < size - 1 {
                bits -= 1;
                if src.bit() {
                    break;
                }
                known += 1;
            }
            plane.0[known / 64] |= 1 << (known % 64);
            known += 1;
        }
        let mut at = 0;
        while let Some(next) = plane.next(at).filter(|&next| next < size) {
            codes[next] |= 1 << k;
            at = next + 1;
        }
    }
    most - bits
}
