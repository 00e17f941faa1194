//! Whole arrays as zfp codes them: block by block, floats with an exponent that a block has in common.
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "blocks have fixed sizes; lengths of an array are those of a chunk that is in memory"
)]

use super::zfp_bits::{BitReader, BitWriter};
use super::zfp_block::{self as block, Budget, Int, MOST};

/// The most bits of a block, and its most planes, where nothing limits them.
pub(super) const MOST_BITS: u32 = 16658;
pub(super) const MOST_PLANES: u32 = 64;
/// The exponent of the smallest number; a lower one stands for "without loss".
pub(super) const LEAST_EXPONENT: i32 = -1074;

/// What is kept of each block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Params {
    pub(super) minbits: u32,
    pub(super) maxbits: u32,
    pub(super) maxprec: u32,
    pub(super) minexp: i32,
}

impl Params {
    pub(super) fn is_exact(self) -> bool {
        self.minexp < LEAST_EXPONENT
    }

    fn budget(self, planes: u32) -> Budget {
        Budget { least: self.minbits, most: self.maxbits, planes }
    }

    /// Planes that matter of a block of floats.
    fn planes(self, exponent: i32, dims: usize) -> u32 {
        let room = exponent.saturating_sub(self.minexp).saturating_add(2 * dims as i32 + 2);
        self.maxprec.min(room.max(0).unsigned_abs())
    }
}

/// Numbers that zfp codes.
pub(super) trait Scalar: Copy + Default {
    /// The integers that a block becomes.
    type I: Int;
    /// Write a block; false if a number cannot be written in this mode.
    fn put(out: &mut BitWriter, block: &[Self], dims: usize, params: Params) -> bool;
    fn take(src: &mut BitReader<'_>, block: &mut [Self], dims: usize, params: Params);
}

macro_rules! integer {
    ($t:ty) => {
        impl Scalar for $t {
            type I = $t;

            fn put(out: &mut BitWriter, block: &[Self], dims: usize, params: Params) -> bool {
                let mut copy = [0; MOST];
                let copy = &mut copy[..block.len()];
                copy.copy_from_slice(block);
                block::encode(out, copy, dims, params.budget(params.maxprec), params.is_exact());
                true
            }

            fn take(src: &mut BitReader<'_>, block: &mut [Self], dims: usize, params: Params) {
                block::decode(src, block, dims, params.budget(params.maxprec), params.is_exact());
            }
        }
    };
}

integer!(i32);
integer!(i64);

/// A power of two as a double, of an exponent from -1022 to 1023.
fn power(exponent: i32) -> f64 {
    f64::from_bits(u64::from((exponent.clamp(-1022, 1023) + 1023).unsigned_abs()) << 52)
}

/// Multiply by a power of two of any size; what is in between neither overflows nor is rounded.
fn scaled(x: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    x * power(half) * power(exponent - half)
}

/// Floats: their bits, and the way to and from integers that share an exponent.
trait Float: Scalar + PartialEq {
    const EXPONENT_BITS: u32;
    const BIAS: i32;
    fn exponent(self) -> i32;
    fn is_number(self) -> bool;
    fn same(self, other: Self) -> bool;
    fn quantised(self, exponent: i32) -> Self::I;
    fn restored(value: Self::I, exponent: i32) -> Self;
    /// The bits as an integer that grows with the number.
    fn reinterpreted(self) -> Self::I;
    fn from_reinterpreted(value: Self::I) -> Self;
}

macro_rules! float {
    ($t:ty, $i:ty, $u:ty, $fraction:literal, $exponent:literal, $restore:expr) => {
        impl Float for $t {
            const EXPONENT_BITS: u32 = $exponent;
            const BIAS: i32 = (1 << ($exponent - 1)) - 1;

            fn exponent(self) -> i32 {
                if self == 0.0 {
                    return -Self::BIAS;
                }
                let stored = (self.to_bits() >> $fraction) & ((1 << $exponent) - 1);
                stored as i32 - (Self::BIAS - 1)
            }

            fn is_number(self) -> bool {
                self.is_finite()
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }

            fn quantised(self, exponent: i32) -> $i {
                scaled(f64::from(self), <$i>::BITS as i32 - 2 - exponent) as $i
            }

            fn restored(value: $i, exponent: i32) -> Self {
                $restore(value as $t, exponent - (<$i>::BITS as i32 - 2))
            }

            fn reinterpreted(self) -> $i {
                let bits = self.to_bits() as $i;
                if bits < 0 { bits ^ <$i>::MAX } else { bits }
            }

            fn from_reinterpreted(value: $i) -> Self {
                Self::from_bits((if value < 0 { value ^ <$i>::MAX } else { value }) as $u)
            }
        }

        impl Scalar for $t {
            type I = $i;

            fn put(out: &mut BitWriter, block: &[Self], dims: usize, params: Params) -> bool {
                if params.is_exact() {
                    put_exactly(out, block, dims, params)
                } else {
                    put_float(out, block, dims, params)
                }
                .is_some()
            }

            fn take(src: &mut BitReader<'_>, block: &mut [Self], dims: usize, params: Params) {
                if params.is_exact() {
                    take_exactly(src, block, dims, params)
                } else {
                    take_float(src, block, dims, params)
                }
            }
        }
    };
}

float!(f32, i32, u32, 23, 8, |x: f32, e| scaled(f64::from(x), e) as f32);
float!(f64, i64, u64, 52, 11, scaled);

/// The exponent of the largest number of a block; `None` if one is infinite or not a number.
fn exponent_of<F: Float>(block: &[F]) -> Option<i32> {
    let all = block.iter().all(|x| x.is_number());
    all.then(|| block.iter().fold(-F::BIAS, |most, x| most.max(x.exponent())))
}

fn put_float<F: Float>(out: &mut BitWriter, block: &[F], dims: usize, params: Params) -> Option<()> {
    let exponent = exponent_of(block)?;
    let planes = params.planes(exponent, dims);
    let stored = if planes == 0 { 0 } else { (exponent + F::BIAS).unsigned_abs() };
    if stored == 0 {
        out.put(0, 1);
        out.pad(params.minbits.saturating_sub(1));
        return Some(());
    }
    let used = F::EXPONENT_BITS + 1;
    out.put(u64::from(stored) << 1 | 1, used);
    let mut ints = [F::I::default(); MOST];
    let ints = &mut ints[..block.len()];
    ints.iter_mut().zip(block).for_each(|(to, x)| *to = x.quantised(exponent));
    block::encode(out, ints, dims, params.budget(planes).after(used), false);
    Some(())
}

fn take_float<F: Float>(src: &mut BitReader<'_>, block: &mut [F], dims: usize, params: Params) {
    if !src.bit() {
        block.fill(F::default());
        src.skip(params.minbits.saturating_sub(1));
        return;
    }
    let exponent = src.take(F::EXPONENT_BITS) as i32 - F::BIAS;
    let budget = params.budget(params.planes(exponent, dims)).after(F::EXPONENT_BITS + 1);
    let mut ints = [F::I::default(); MOST];
    let ints = &mut ints[..block.len()];
    block::decode(src, ints, dims, budget, false);
    block.iter_mut().zip(ints).for_each(|(x, &mut int)| *x = F::restored(int, exponent));
}

fn put_exactly<F: Float>(out: &mut BitWriter, block: &[F], dims: usize, params: Params) -> Option<()> {
    let mut ints = [F::I::default(); MOST];
    let ints = &mut ints[..block.len()];
    // Scaling must not overflow in the float type itself, for others decode so.
    let exponent = exponent_of(block).filter(|e| *e == -F::BIAS || F::I::BITS as i32 - 2 - e <= F::BIAS);
    if let Some(exponent) = exponent.filter(|&e| e != -F::BIAS) {
        ints.iter_mut().zip(block).for_each(|(to, x)| *to = x.quantised(exponent));
    }
    let returns = |e: i32| ints.iter().zip(block).all(|(&int, x)| F::restored(int, e).same(*x));
    let used = match exponent.filter(|&e| returns(e)) {
        Some(exponent) if exponent == -F::BIAS => {
            out.put(0, 1);
            return Some(());
        }
        Some(exponent) => {
            out.put(1, 2);
            out.put(u64::from((exponent + F::BIAS).unsigned_abs()), F::EXPONENT_BITS);
            2 + F::EXPONENT_BITS
        }
        None => {
            ints.iter_mut().zip(block).for_each(|(to, x)| *to = x.reinterpreted());
            out.put(3, 2);
            2
        }
    };
    block::encode(out, ints, dims, params.budget(params.maxprec).after(used), true);
    Some(())
}

fn take_exactly<F: Float>(src: &mut BitReader<'_>, block: &mut [F], dims: usize, params: Params) {
    let mut ints = [F::I::default(); MOST];
    let ints = &mut ints[..block.len()];
    let budget = params.budget(params.maxprec);
    if !src.bit() {
        block.fill(F::default());
        src.skip(params.minbits.saturating_sub(1));
    } else if src.bit() {
        block::decode(src, ints, dims, budget.after(2), true);
        block.iter_mut().zip(ints).for_each(|(x, &mut int)| *x = F::from_reinterpreted(int));
    } else {
        let exponent = src.take(F::EXPONENT_BITS) as i32 - F::BIAS;
        block::decode(src, ints, dims, budget.after(2 + F::EXPONENT_BITS), true);
        block.iter_mut().zip(ints).for_each(|(x, &mut int)| *x = F::restored(int, exponent));
    }
}

/// The blocks of an array of up to four dimensions, the last of which changes fastest.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    /// Lengths from the fastest dimension on; those that are not there are 1.
    lengths: [usize; 4],
    pub(super) dims: usize,
}

impl Blocks {
    /// `None` for more than four dimensions; none at all are one of length 1.
    pub(super) fn new(shape: &[usize]) -> Option<Self> {
        let mut lengths = [1; 4];
        if shape.len() > 4 {
            return None;
        }
        shape.iter().rev().zip(&mut lengths).for_each(|(&n, length)| *length = n);
        Some(Self { lengths, dims: shape.len().max(1) })
    }

    pub(super) fn size(&self) -> usize {
        1 << (2 * self.dims)
    }

    pub(super) fn count(&self) -> usize {
        self.lengths.iter().take(self.dims).map(|n| n.div_ceil(4)).product()
    }

    pub(super) fn elements(&self) -> usize {
        self.lengths.iter().product()
    }

    /// For each place of a block that lies in the array, its place in the block and in the array.
    fn places(&self, number: usize) -> ([usize; 4], impl Iterator<Item = (usize, usize)>) {
        let (mut rest, mut base, mut step) = (number, 0, 1);
        let (mut extent, mut strides) = ([1; 4], [0; 4]);
        for axis in 0..self.dims {
            let blocks = self.lengths[axis].div_ceil(4);
            let at = 4 * (rest % blocks);
            rest /= blocks;
            base += at * step;
            strides[axis] = step;
            extent[axis] = (self.lengths[axis] - at).min(4);
            step *= self.lengths[axis];
        }
        let places = (0..self.size()).filter_map(move |i| {
            let at = [i & 3, (i >> 2) & 3, (i >> 4) & 3, (i >> 6) & 3];
            let inside = at.iter().zip(&extent).all(|(at, n)| at < n);
            inside.then(|| (i, base + at.iter().zip(&strides).map(|(a, s)| a * s).sum::<usize>()))
        });
        (extent, places)
    }
}

/// Encode all blocks; `None` if there is a number that cannot be encoded in this mode.
pub(super) fn encode<S: Scalar>(out: &mut BitWriter, data: &[S], blocks: &Blocks, params: Params) -> Option<()> {
    let mut room = [S::default(); MOST];
    let block = &mut room[..blocks.size()];
    for number in 0..blocks.count() {
        let (extent, places) = blocks.places(number);
        places.for_each(|(to, from)| block[to] = data[from]);
        (0..blocks.dims).filter(|&axis| extent[axis] < 4).for_each(|axis| fill_up(block, axis, extent[axis]));
        if !S::put(out, block, blocks.dims, params) {
            return None;
        }
    }
    Some(())
}

/// Fill up lines of which only the first `n` places have values.
fn fill_up<S: Copy>(block: &mut [S], axis: usize, n: usize) {
    let step = 1_usize << (2 * axis);
    for i in (0..block.len()).filter(|i| (i >> (2 * axis)) & 3 == 0) {
        for (to, from) in [(1, 0), (2, 1), (3, 0)].into_iter().filter(|(to, _)| *to >= n) {
            block[i + to * step] = block[i + from * step];
        }
    }
}

/// Decode all blocks.
pub(super) fn decode<S: Scalar>(src: &mut BitReader<'_>, data: &mut [S], blocks: &Blocks, params: Params) {
    let mut room = [S::default(); MOST];
    let block = &mut room[..blocks.size()];
    for number in 0..blocks.count() {
        S::take(src, block, blocks.dims, params);
        blocks.places(number).1.for_each(|(from, to)| data[to] = block[from]);
        if src.is_past_end() {
            return;
        }
    }
}
