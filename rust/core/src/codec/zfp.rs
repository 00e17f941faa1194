//! The codecs `zfp` of the registry and `zfpy` of numcodecs: the same blocks, the latter's behind a header.

use super::zfp_bits::{BitReader, BitWriter};
use super::zfp_field::{self as field, Blocks, LEAST_EXPONENT, MOST_BITS, MOST_PLANES, Params, Scalar};
use super::{Contexts, Filter, Want};
use crate::buffer::Buffer;
use crate::cell::Dims;
use crate::error::{CodecError, Fault};

/// What is given up for size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ZfpMode {
    /// Nothing.
    Reversible,
    /// All of zfp's own parameters.
    Expert {
        /// Bits of a block at least.
        minbits: u32,
        /// Bits of a block at most.
        maxbits: u32,
        /// Bit planes of a block at most.
        maxprec: u32,
        /// Exponent of the lowest bit plane.
        minexp: i32,
    },
    /// Errors up to this.
    Accuracy(f64),
    /// Bits for each number.
    Rate(f64),
    /// Bit planes of each block.
    Precision(u32),
}

/// The types of numbers that can be stored, most of them as another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ZfpType {
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float16,
    Float32,
    Float64,
}

/// The `zfp` and `zfpy` codecs.
#[derive(Debug, Clone, Copy)]
pub struct Zfp {
    mode: ZfpMode,
    kind: ZfpType,
    big: bool,
    header: bool,
}

/// The types that zfp itself knows, with their numbers in headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coded {
    Int32 = 0,
    Int64 = 1,
    Float32 = 2,
    Float64 = 3,
}

impl ZfpType {
    fn size(self) -> usize {
        match self {
            Self::Int8 | Self::UInt8 => 1,
            Self::Int16 | Self::UInt16 | Self::Float16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 => 8,
        }
    }

    fn coded(self) -> Coded {
        match self {
            Self::Int8 | Self::UInt8 | Self::Int16 | Self::UInt16 | Self::Int32 | Self::UInt32 => Coded::Int32,
            Self::Int64 | Self::UInt64 => Coded::Int64,
            Self::Float16 | Self::Float32 => Coded::Float32,
            Self::Float64 => Coded::Float64,
        }
    }
}

const MAGIC: u64 = 0x0570_667A; // "zfp" and the version of the format, 5
const ANY: Params = Params { minbits: 1, maxbits: MOST_BITS, maxprec: MOST_PLANES, minexp: LEAST_EXPONENT };

impl Zfp {
    /// A codec for numbers of a type, `big`-endian or not; `header`: as zfpy writes it.
    pub fn new(mode: ZfpMode, kind: ZfpType, big: bool, header: bool) -> Result<Self, CodecError> {
        let codec = Self { mode, kind, big, header };
        let params = codec.params(4);
        let exponent: u32 = match kind.coded() {
            Coded::Int32 | Coded::Int64 => 0,
            Coded::Float32 => 9,
            Coded::Float64 => 12,
        };
        let least = if params.is_exact() { exponent.saturating_add(7) } else { exponent.max(1) };
        let fits = params.minbits <= params.maxbits
            && (least..=MOST_BITS).contains(&params.maxbits)
            && (1..=MOST_PLANES).contains(&params.maxprec);
        if fits {
            return Ok(codec);
        }
        Err(CodecError::new(codec.name(), Fault::Config, format!("parameters out of range: {mode:?}")))
    }

    /// A codec for streams without a header whose parameters are known from elsewhere.
    pub(super) fn coded(kind: Coded, big: bool) -> Self {
        let kind = match kind {
            Coded::Int32 => ZfpType::Int32,
            Coded::Int64 => ZfpType::Int64,
            Coded::Float32 => ZfpType::Float32,
            Coded::Float64 => ZfpType::Float64,
        };
        Self { mode: ZfpMode::Reversible, kind, big, header: false }
    }

    /// Bytes of a number.
    pub(super) fn item(&self) -> usize {
        self.kind.size()
    }

    fn params(&self, dims: usize) -> Params {
        match self.mode {
            ZfpMode::Reversible => Params { minexp: LEAST_EXPONENT.saturating_sub(1), ..ANY },
            ZfpMode::Expert { minbits, maxbits, maxprec, minexp } => Params { minbits, maxbits, maxprec, minexp },
            ZfpMode::Accuracy(tolerance) => Params { minexp: exponent_below(tolerance), ..ANY },
            ZfpMode::Precision(planes) => {
                Params { maxprec: if planes == 0 { MOST_PLANES } else { planes.min(MOST_PLANES) }, ..ANY }
            }
            ZfpMode::Rate(rate) => {
                let values = f64::from(1_u32.wrapping_shl(u32::try_from(dims).unwrap_or(4).saturating_mul(2)));
                let least = match self.kind.coded() {
                    Coded::Int32 | Coded::Int64 => 1,
                    Coded::Float32 => 9,
                    Coded::Float64 => 12,
                };
                let bits = ((values * rate + 0.5).floor() as u32).max(least);
                Params { minbits: bits, maxbits: bits, ..ANY }
            }
        }
    }

    fn wrong(&self, message: impl Into<String>) -> CodecError {
        CodecError::new(self.name(), Fault::Config, message)
    }

    fn blocks(&self, shape: &[usize]) -> Result<Blocks, CodecError> {
        let message = || format!("arrays of {} dimensions are not supported, but up to 4 are", shape.len());
        Blocks::new(shape).ok_or_else(|| self.wrong(message()))
    }

    /// A fixed rate makes a fixed size, and that of three dimensions where a writer always assumed so.
    fn params_of(&self, src: &[u8], blocks: &Blocks) -> Params {
        let params = self.params(blocks.dims);
        let size = |params: Params| {
            let bits = blocks.count().saturating_mul(params.maxbits as usize);
            bits.div_ceil(64).saturating_mul(8)
        };
        let other = self.params(3);
        let is_other = matches!(self.mode, ZfpMode::Rate(_)) && src.len() != size(params) && src.len() == size(other);
        if is_other { other } else { params }
    }

    fn put_all(&self, out: &mut BitWriter, src: &[u8], blocks: &Blocks, params: Params) -> Result<(), CodecError> {
        let big = self.big;
        let done = match self.kind {
            ZfpType::Int8 => put(out, blocks, params, src.iter().map(|&x| i32::from(x.cast_signed()) << 23)),
            ZfpType::UInt8 => {
                put(out, blocks, params, src.iter().map(|&x| i32::from(x.wrapping_sub(0x80).cast_signed()) << 23))
            }
            ZfpType::Int16 => put(out, blocks, params, i16s(src, big).map(|x| i32::from(x) << 15)),
            ZfpType::UInt16 => {
                put(out, blocks, params, i16s(src, big).map(|x| i32::from(x.wrapping_add(i16::MIN)) << 15))
            }
            ZfpType::Int32 => put(out, blocks, params, i32s(src, big)),
            ZfpType::UInt32 => {
                if i32s(src, big).any(|x| x < 0) {
                    return Err(self.wrong("numbers past 2147483647 cannot be stored"));
                }
                put(out, blocks, params, i32s(src, big))
            }
            ZfpType::Int64 => put(out, blocks, params, i64s(src, big)),
            ZfpType::UInt64 => {
                if i64s(src, big).any(|x| x < 0) {
                    return Err(self.wrong("numbers past 9223372036854775807 cannot be stored"));
                }
                put(out, blocks, params, i64s(src, big))
            }
            ZfpType::Float16 => {
                put(out, blocks, params, i16s(src, big).map(|x| half::f16::from_bits(x.cast_unsigned()).to_f32()))
            }
            ZfpType::Float32 => put(out, blocks, params, i32s(src, big).map(|x| f32::from_bits(x.cast_unsigned()))),
            ZfpType::Float64 => put(out, blocks, params, i64s(src, big).map(|x| f64::from_bits(x.cast_unsigned()))),
        };
        done.ok_or_else(|| self.wrong("NaN and infinity can be stored in the reversible mode only"))
    }

    pub(super) fn take_all(&self, src: &mut BitReader<'_>, dst: &mut [u8], blocks: &Blocks, params: Params) {
        let big = self.big;
        match self.kind {
            ZfpType::Int8 => {
                let values = take::<i32>(src, blocks, params).into_iter();
                dst.iter_mut().zip(values).for_each(|(to, x)| *to = (x >> 23).clamp(-128, 127) as u8);
            }
            ZfpType::UInt8 => {
                let values = take::<i32>(src, blocks, params).into_iter();
                dst.iter_mut().zip(values).for_each(|(to, x)| *to = (x >> 23).saturating_add(128).clamp(0, 255) as u8);
            }
            ZfpType::Int16 => {
                let values = take::<i32>(src, blocks, params).into_iter();
                write16(dst, values.map(|x| (x >> 15).clamp(-0x8000, 0x7FFF) as u16), big);
            }
            ZfpType::UInt16 => {
                let values = take::<i32>(src, blocks, params).into_iter();
                write16(dst, values.map(|x| (x >> 15).saturating_add(0x8000).clamp(0, 0xFFFF) as u16), big);
            }
            ZfpType::Int32 => write32(dst, take::<i32>(src, blocks, params).into_iter().map(i32::cast_unsigned), big),
            ZfpType::UInt32 => {
                let values = take::<i32>(src, blocks, params).into_iter();
                write32(dst, values.map(|x| x.max(0).cast_unsigned()), big);
            }
            ZfpType::Int64 => write64(dst, take::<i64>(src, blocks, params).into_iter().map(i64::cast_unsigned), big),
            ZfpType::UInt64 => {
                let values = take::<i64>(src, blocks, params).into_iter();
                write64(dst, values.map(|x| x.max(0).cast_unsigned()), big);
            }
            ZfpType::Float16 => {
                let values = take::<f32>(src, blocks, params).into_iter();
                write16(dst, values.map(|x| half::f16::from_f32(x).to_bits()), big);
            }
            ZfpType::Float32 => write32(dst, take::<f32>(src, blocks, params).into_iter().map(f32::to_bits), big),
            ZfpType::Float64 => write64(dst, take::<f64>(src, blocks, params).into_iter().map(f64::to_bits), big),
        }
    }
}

/// The largest exponent of a power of two that is not above a positive number.
fn exponent_below(tolerance: f64) -> i32 {
    if tolerance.is_nan() || tolerance <= 0.0 {
        return LEAST_EXPONENT;
    }
    let stored = (tolerance.to_bits() >> 52) & 0x7FF;
    if stored > 0 {
        return i32::try_from(stored).unwrap_or(0).saturating_sub(1023);
    }
    let leading = i32::try_from(tolerance.to_bits().leading_zeros()).unwrap_or(0);
    LEAST_EXPONENT.saturating_add(63).saturating_sub(leading)
}

fn put<S: Scalar>(out: &mut BitWriter, blocks: &Blocks, params: Params, values: impl Iterator<Item = S>) -> Option<()> {
    let data: Vec<S> = values.collect();
    field::encode(out, &data, blocks, params)
}

fn take<S: Scalar>(src: &mut BitReader<'_>, blocks: &Blocks, params: Params) -> Vec<S> {
    let mut data = vec![S::default(); blocks.elements()];
    field::decode(src, &mut data, blocks, params);
    data
}

macro_rules! numbers {
    ($read:ident, $write:ident, $i:ty, $u:ty, $n:literal) => {
        fn $read(src: &[u8], big: bool) -> impl Iterator<Item = $i> {
            let read = move |&bytes| if big { <$i>::from_be_bytes(bytes) } else { <$i>::from_le_bytes(bytes) };
            src.as_chunks::<$n>().0.iter().map(read)
        }

        fn $write(dst: &mut [u8], values: impl Iterator<Item = $u>, big: bool) {
            for (bytes, value) in dst.as_chunks_mut::<$n>().0.iter_mut().zip(values) {
                *bytes = if big { value.to_be_bytes() } else { value.to_le_bytes() };
            }
        }
    };
}

numbers!(i16s, write16, i16, u16, 2);
numbers!(i32s, write32, i32, u32, 4);
numbers!(i64s, write64, i64, u64, 8);

impl Filter for Zfp {
    fn name(&self) -> &str {
        if self.header { "zfpy" } else { "zfp" }
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        let expected: usize = shape.iter().product();
        let mut reader = BitReader::new(src);
        let (blocks, params) = if self.header {
            let (stored, params) = read_header(&mut reader, self.kind.coded())?;
            let blocks = self.blocks(&stored)?;
            if stored.iter().try_fold(1_usize, |n, &m| n.checked_mul(m)) != Some(expected) {
                let message = format!("holds an array of shape {stored:?} where {shape:?} is expected");
                return Err(CodecError::corrupt(self.name(), message));
            }
            (blocks, params)
        } else {
            let blocks = self.blocks(shape)?;
            let params = self.params_of(src, &blocks);
            (blocks, params)
        };
        self.take_all(&mut reader, dst.space(expected.saturating_mul(self.kind.size())), &blocks, params);
        if reader.is_past_end() {
            return Err(CodecError::corrupt(self.name(), format!("{} bytes end too early", src.len())));
        }
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        let blocks = self.blocks(shape)?;
        if src.len() != blocks.elements().saturating_mul(self.kind.size()) {
            return Err(self.wrong(format!("{} bytes for an array of shape {shape:?}", src.len())));
        }
        let params = self.params(blocks.dims);
        let mut out = BitWriter::default();
        if self.header {
            write_header(&mut out, shape, self.kind.coded(), params)
                .ok_or_else(|| self.wrong(format!("no header can hold the shape {shape:?}")))?;
        }
        self.put_all(&mut out, src, &blocks, params)?;
        dst.assign(&out.finish());
        Ok(())
    }

    fn encoded_size(&self, _: Want, shape: &[usize]) -> Want {
        let Some(blocks) = Blocks::new(shape) else { return Want::AtMost(0) };
        let params = self.params(blocks.dims);
        // Each plane of a block may take a bit for each number and one more, behind an exponent and a count of planes.
        let planes = blocks.size().saturating_add(1).saturating_mul(64).saturating_add(64);
        let bits = planes.max(params.minbits as usize).max(self.params(3).minbits as usize);
        Want::AtMost(blocks.count().saturating_mul(bits).div_ceil(8).saturating_add(64))
    }
}

/// Bits of each length in a header, by the number of dimensions.
fn length_bits(dims: usize) -> u32 {
    match dims {
        1 => 48,
        2 => 24,
        3 => 16,
        _ => 12,
    }
}

fn write_header(out: &mut BitWriter, shape: &[usize], kind: Coded, params: Params) -> Option<()> {
    let dims = shape.len().max(1);
    let bits = length_bits(dims);
    let mut meta = 0_u64;
    for length in shape.iter().copied().chain(std::iter::repeat_n(1, dims.saturating_sub(shape.len()))) {
        let stored = u64::try_from(length).ok()?.checked_sub(1).filter(|n| n.wrapping_shr(bits) == 0)?;
        meta = meta.wrapping_shl(bits) | stored;
    }
    meta = meta << 2 | u64::try_from(dims.saturating_sub(1)).ok()?;
    meta = meta << 2 | kind as u64;
    out.put(MAGIC, 32);
    out.put(meta, 52);
    let mode = short_mode(params);
    match mode {
        Some(mode) => out.put(mode, 12),
        None => {
            let exponent = u64::from(params.minexp.saturating_add(16495).clamp(0, 0x7FFF).unsigned_abs());
            let planes = u64::from(params.maxprec.saturating_sub(1));
            let (most, least) = (u64::from(params.maxbits.saturating_sub(1)), u64::from(params.minbits.max(1)));
            let word = ((exponent << 7 | planes) << 15 | most) << 15 | least.saturating_sub(1);
            out.put(word << 12 | 0xFFF, 64);
        }
    }
    Some(())
}

fn short_mode(params: Params) -> Option<u64> {
    let Params { minbits, maxbits, maxprec, minexp } = params;
    if params == ANY {
        return None;
    }
    if minbits == maxbits && maxprec == MOST_PLANES && minexp == LEAST_EXPONENT {
        return (maxbits <= 2048).then(|| u64::from(maxbits.saturating_sub(1)));
    }
    if minbits > 1 || maxbits < MOST_BITS {
        return None;
    }
    if minexp == LEAST_EXPONENT {
        return Some(u64::from(maxprec).saturating_add(2047));
    }
    if maxprec < MOST_PLANES {
        return None;
    }
    if params.is_exact() {
        return Some(2176);
    }
    (minexp <= 843).then(|| u64::from(minexp.saturating_sub(LEAST_EXPONENT).unsigned_abs()).saturating_add(2177))
}

pub(super) fn read_header(src: &mut BitReader<'_>, kind: Coded) -> Result<(Dims, Params), CodecError> {
    let corrupt = |message: String| CodecError::corrupt("zfpy", message);
    if src.take(32) != MAGIC {
        return Err(corrupt("the header of zfp is missing".into()));
    }
    let mut meta = src.take(52);
    if meta & 3 != kind as u64 {
        return Err(corrupt(format!(
            "holds numbers of the type {} of zfp where {} is expected",
            meta & 3,
            kind as u64
        )));
    }
    let dims = usize::try_from(meta >> 2 & 3).unwrap_or(0).saturating_add(1);
    meta >>= 4;
    let bits = length_bits(dims);
    let mut shape = Dims::new();
    for _ in 0..dims {
        let length = meta & u64::MAX.wrapping_shr(64_u32.saturating_sub(bits));
        shape.insert(0, usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1));
        meta = meta.wrapping_shr(bits);
    }
    let params = read_mode(src);
    let fits = params.minbits <= params.maxbits && params.maxprec <= MOST_PLANES;
    if fits && !src.is_past_end() { Ok((shape, params)) } else { Err(corrupt("the header makes no sense".into())) }
}

fn read_mode(src: &mut BitReader<'_>) -> Params {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    match src.take(12) {
        mode @ 0..2048 => {
            let bits = number(mode).saturating_add(1);
            Params { minbits: bits, maxbits: bits, ..ANY }
        }
        mode @ 2048..2176 => Params { maxprec: number(mode).saturating_sub(2047), ..ANY },
        2176 => Params { minexp: LEAST_EXPONENT.saturating_sub(1), ..ANY },
        mode @ 2177..4095 => {
            let above = i32::try_from(mode).unwrap_or(0).saturating_sub(2177);
            Params { minexp: LEAST_EXPONENT.saturating_add(above), ..ANY }
        }
        _ => {
            let mut field = |bits| number(src.take(bits));
            let (minbits, maxbits) = (field(15).saturating_add(1), field(15).saturating_add(1));
            let (maxprec, exponent) = (field(7).saturating_add(1), field(15));
            Params { minbits, maxbits, maxprec, minexp: i32::try_from(exponent).unwrap_or(0).saturating_sub(16495) }
        }
    }
}
