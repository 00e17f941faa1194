//! The `pcodec` codec: numbers in the standalone format of Pcodec, as numcodecs writes it.

use std::panic::catch_unwind;

use pco::data_types::{Number, NumberType};
use pco::standalone::{FileDecompressor, simple_compress, simple_decompress_into};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

use super::{Contexts, Filter, Want, loose_bound};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

const NAME: &str = "pcodec";

/// The kinds of numbers that Pcodec tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// Unsigned integers.
    Unsigned,
    /// Signed integers.
    Signed,
    /// IEEE 754 floats.
    Float,
}

/// The `pcodec` codec.
#[derive(Debug, Clone)]
pub struct Pcodec {
    kind: NumberKind,
    size: usize,
    big: bool,
    components: usize,
    config: ChunkConfig,
}

/// How the numbers are encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PcodecOptions {
    /// 0 (fast) to 12 (small).
    pub level: usize,
    /// Whether to look for structure such as multiples of a number.
    pub find_mode: bool,
    /// `auto`, `none`, `try_consecutive` or `try_lookback`.
    pub delta: String,
    /// The order of differences, 0 to 7, for `try_consecutive`.
    pub delta_order: usize,
    /// Numbers in one page at most.
    pub page: usize,
}

impl Pcodec {
    /// A codec for elements of `components` numbers of `size` bytes each.
    pub fn new(
        kind: NumberKind,
        (size, big): (usize, bool),
        components: usize,
        options: &PcodecOptions,
    ) -> Result<Self, CodecError> {
        let wrong = |message: String| CodecError::new(NAME, Fault::Config, message);
        if !matches!(size, 2 | 4 | 8) {
            return Err(wrong(format!("numbers of {size} bytes cannot be encoded")));
        }
        let delta = match &*options.delta {
            "auto" => DeltaSpec::Auto,
            "none" => DeltaSpec::NoOp,
            "try_consecutive" => DeltaSpec::TryConsecutive(options.delta_order),
            "try_lookback" => DeltaSpec::TryLookback,
            other => return Err(wrong(format!("no delta_spec {other:?}"))),
        };
        if options.level > 12 || options.delta_order > 7 || options.page == 0 {
            return Err(wrong(format!("options out of range: {options:?}")));
        }
        let config = ChunkConfig::default()
            .with_compression_level(options.level)
            .with_mode_spec(if options.find_mode { ModeSpec::Auto } else { ModeSpec::Classic })
            .with_delta_spec(delta)
            .with_paging_spec(PagingSpec::EqualPagesUpTo(options.page));
        Ok(Self { kind, size, big, components: components.max(1), config })
    }

    fn count(&self, shape: &[usize]) -> usize {
        shape.iter().product::<usize>().saturating_mul(self.components)
    }

    fn pack<T: Number + Bytes>(&self, src: &[u8]) -> Result<Vec<u8>, CodecError> {
        let numbers: Vec<T> = T::read(src, self.big);
        simple_compress(&numbers, &self.config).map_err(|error| CodecError::new(NAME, Fault::Config, error.to_string()))
    }

    fn unpack<T: Number + Bytes>(&self, src: &[u8], dst: &mut [u8], count: usize) -> Result<(), CodecError> {
        let mut numbers = vec![T::default(); count];
        let progress = simple_decompress_into(src, &mut numbers).map_err(corrupt)?;
        if progress.n_processed != count || !progress.finished {
            let more = if progress.finished { "" } else { " or more" };
            let message = format!("decodes to {}{more} numbers where {count} are expected", progress.n_processed);
            return Err(CodecError::corrupt(NAME, message));
        }
        T::write(&numbers, dst, self.big);
        Ok(())
    }

    /// Decode numbers of whatever type the stream has: one of the same size has the same bits.
    fn decode_as(&self, kind: NumberType, src: &[u8], dst: &mut [u8], count: usize) -> Result<(), CodecError> {
        match (kind, self.size) {
            (NumberType::U16, 2) => self.unpack::<u16>(src, dst, count),
            (NumberType::I16, 2) => self.unpack::<i16>(src, dst, count),
            (NumberType::F16, 2) => self.unpack::<half::f16>(src, dst, count),
            (NumberType::U32, 4) => self.unpack::<u32>(src, dst, count),
            (NumberType::I32, 4) => self.unpack::<i32>(src, dst, count),
            (NumberType::F32, 4) => self.unpack::<f32>(src, dst, count),
            (NumberType::U64, 8) => self.unpack::<u64>(src, dst, count),
            (NumberType::I64, 8) => self.unpack::<i64>(src, dst, count),
            (NumberType::F64, 8) => self.unpack::<f64>(src, dst, count),
            _ => Err(CodecError::corrupt(NAME, format!("holds {kind:?} numbers where {} bytes are one", self.size))),
        }
    }
}

fn corrupt(error: impl std::fmt::Display) -> CodecError {
    CodecError::corrupt(NAME, error.to_string())
}

/// The library is fed what anyone may have written: should it ever give up, that is damage and no end of the process.
fn guarded<T>(f: impl FnOnce() -> Result<T, CodecError> + std::panic::UnwindSafe) -> Result<T, CodecError> {
    catch_unwind(f).unwrap_or_else(|_| Err(CodecError::corrupt(NAME, "the decoder gave up")))
}

impl Filter for Pcodec {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _: Want,
        _: &mut Contexts,
    ) -> Result<(), CodecError> {
        let count = self.count(shape);
        let mut room = vec![0; count.saturating_mul(self.size)];
        let made = guarded(move || {
            let (file, rest) = FileDecompressor::new(src).map_err(corrupt)?;
            match file.peek_number_type_or_termination(rest).map_err(corrupt)? {
                Some(kind) => self.decode_as(kind, src, &mut room, count)?,
                None if count == 0 => {}
                None => return Err(CodecError::corrupt(NAME, format!("no numbers where {count} are expected"))),
            }
            Ok(room)
        })?;
        dst.assign(&made);
        Ok(())
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &[usize], _: &mut Contexts) -> Result<(), CodecError> {
        let made = guarded(|| match (self.kind, self.size) {
            (NumberKind::Unsigned, 2) => self.pack::<u16>(src),
            (NumberKind::Signed, 2) => self.pack::<i16>(src),
            (NumberKind::Float, 2) => self.pack::<half::f16>(src),
            (NumberKind::Unsigned, 4) => self.pack::<u32>(src),
            (NumberKind::Signed, 4) => self.pack::<i32>(src),
            (NumberKind::Float, 4) => self.pack::<f32>(src),
            (NumberKind::Unsigned, _) => self.pack::<u64>(src),
            (NumberKind::Signed, _) => self.pack::<i64>(src),
            (NumberKind::Float, _) => self.pack::<f64>(src),
        })?;
        dst.assign(&made);
        Ok(())
    }

    fn encoded_size(&self, _: Want, shape: &[usize]) -> Want {
        Want::AtMost(loose_bound(self.count(shape).saturating_mul(self.size)))
    }
}

/// Numbers from and to bytes of either order.
trait Bytes: Sized {
    fn read(src: &[u8], big: bool) -> Vec<Self>;
    fn write(numbers: &[Self], dst: &mut [u8], big: bool);
}

macro_rules! bytes {
    ($($t:ty: $n:literal),*) => {$(
        impl Bytes for $t {
            fn read(src: &[u8], big: bool) -> Vec<Self> {
                let read = |&bytes| if big { <$t>::from_be_bytes(bytes) } else { <$t>::from_le_bytes(bytes) };
                src.as_chunks::<$n>().0.iter().map(read).collect()
            }

            fn write(numbers: &[Self], dst: &mut [u8], big: bool) {
                for (number, bytes) in numbers.iter().zip(dst.as_chunks_mut::<$n>().0) {
                    *bytes = if big { number.to_be_bytes() } else { number.to_le_bytes() };
                }
            }
        }
    )*};
}

bytes!(u16: 2, i16: 2, half::f16: 2, u32: 4, i32: 4, f32: 4, u64: 8, i64: 8, f64: 8);
