//! Codecs that turn bytes into bytes, each bounded by what the array expects and never by what a stream claims.

#![deny(unsafe_code)]

mod arithmetic;
mod base64;
mod bitround;
mod bitshuffle;
mod blosc;
mod blosc_block;
mod blosc_encode;
mod blosc_fetch;
mod blosc_header;
mod blosclz;
mod bz2;
mod checksum;
mod conditional;
mod contexts;
mod crc32c;
mod deflate;
mod delta;
mod delta_type;
mod ffi;
mod gzip;
mod hdf5_frame;
mod hdf5_lz4;
mod jenkins;
mod lz4;
mod lz4_block;
mod lz77;
mod lzf;
mod lzma;
mod lzma_filters;
mod msb_bits;
mod n5;
mod n5_lz4;
mod n_bit;
mod packbits;
mod pcodec;
mod reshape;
mod rice;
mod rows;
mod scale_offset;
mod series;
mod shuffle;
mod stores;
mod stream;
mod szip;
mod tiff_bits;
mod tiff_lzw;
mod tiff_packbits;
mod tiff_predictor;
mod units;
mod unshuffle;
#[cfg(target_arch = "x86_64")]
mod unshuffle_avx2;
mod xxhash32;
mod zfp;
mod zfp_bits;
mod zfp_block;
mod zfp_field;
mod zfp_hdf5;
mod zfp_order;
mod zlib;
mod zstd;

pub use arithmetic::{Arithmetic, Number};
pub use base64::Base64;
pub use bitround::{BitRound, Rounded};
pub use bitshuffle::{Bitshuffle, BitshuffleCompressor};
pub use blosc::Blosc;
pub use bz2::Bz2;
pub use checksum::{Checksum, Sum};
pub use conditional::Conditional;
pub use contexts::Contexts;
pub use crc32c::Crc32c;
pub(crate) use deflate::{BEST_RATIO, crc32_after, deflate_raw, inflate_raw};
pub use delta::Delta;
pub use gzip::Gzip;
pub use hdf5_lz4::Hdf5Lz4;
pub(crate) use jenkins::lookup3;
pub use lz4::Lz4;
pub use lzf::Lzf;
pub use lzma::Lzma;
pub use lzma_filters::LzmaFilter;
pub use n_bit::{NBit, NumberAt};
pub use n5::N5;
pub use n5_lz4::N5Lz4;
pub use packbits::{BoolBits, PackBits, Padding};
pub use pcodec::{NumberKind, Pcodec, PcodecOptions};
pub use reshape::{Length, Reshape};
pub use rice::Rice;
pub use scale_offset::ScaleOffset;
pub use series::Series;
pub use shuffle::Shuffle;
pub use stores::Stores;
pub use szip::{Szip, SzipOptions};
pub use tiff_bits::{BitOrder, TiffBits};
pub use tiff_lzw::TiffLzw;
pub use tiff_packbits::TiffPackBits;
pub use tiff_predictor::{Along, TiffDelta, TiffFloats};
pub use zfp::{Zfp, ZfpMode, ZfpType};
pub use zfp_hdf5::Hdf5Zfp;
pub use zlib::Zlib;
pub use zstd::Zstd;

use crate::buffer::Buffer;
use crate::cell::Dims;
use crate::error::{CodecError, Fault};

/// How large the decoded bytes may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Exactly this many; anything else is corrupt.
    Exact(usize),
    /// No more than this many (a step whose output is another codec's stream, or variable-length items).
    AtMost(usize),
}

impl Want {
    /// The most bytes that may come out.
    pub fn max(self) -> usize {
        match self {
            Self::Exact(n) | Self::AtMost(n) => n,
        }
    }
}

/// Where decoded rows go: run `i` of the chunk, in C order, belongs at `row(i)`.
///
/// All rows have `row_bytes()` bytes; together they make up the whole chunk.
pub trait RowSink {
    /// Bytes in each row.
    fn row_bytes(&self) -> usize;
    /// The destination of row `i`.
    fn row(&mut self, i: usize) -> &mut [u8];
    /// Whether the result is so large that it is in no cache by the time that somebody reads it.
    fn are_far(&self) -> bool {
        false
    }
}

/// One step of a codec chain.
pub trait Step: Send + Sync {
    /// The codec's name, as users write it.
    fn name(&self) -> &str;

    /// Decode all of `src` into `dst`, replacing what was there.
    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError>;

    /// Encode all of `src` into `dst`, replacing what was there.
    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError>;

    /// The most bytes that any encoder may make of `n` bytes: generous, never too small.
    fn bound(&self, n: usize) -> usize;

    /// The size of the decoded bytes of an encoded size where that is fixed (checksums, shuffle): else `None`.
    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        let _ = encoded;
        None
    }

    /// Whether decoding leaves the bytes as they are, so that readers can do without it.
    fn decodes_as_is(&self) -> bool {
        false
    }

    /// Decode straight into `dst`, which is exactly as long as the decoded bytes.
    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError>;

    /// Decode straight into rows, reversing the bytes of each `swap`-byte unit (`swap` ≤ 1: none).
    ///
    /// Returns `false`, having written nothing, where the codec has no such path for this stream.
    fn decode_rows(
        &self,
        src: &[u8],
        total: usize,
        swap: usize,
        rows: &mut dyn RowSink,
        cx: &mut Contexts,
    ) -> Result<bool, CodecError> {
        let _ = (src, total, swap, rows, cx);
        Ok(false)
    }

    /// Decode into `dst` (the whole chunk's size) only what covers the half-open byte spans, sorted and disjoint.
    ///
    /// Bytes of `dst` outside the spans are unspecified. Returns `false`, having written nothing, where the codec
    /// has no such path.
    fn decode_spans(
        &self,
        src: &[u8],
        dst: &mut [u8],
        spans: &[(usize, usize)],
        cx: &mut Contexts,
    ) -> Result<bool, CodecError> {
        let _ = (src, dst, spans, cx);
        Ok(false)
    }

    /// Whether [`Step::fetch_spans`] may be worth a try.
    fn fetches(&self) -> bool {
        false
    }

    /// As [`Step::decode_spans`], where the encoded bytes are still to be fetched, and need not all be.
    fn fetch_spans(
        &self,
        source: &mut Encoded<'_>,
        window: &mut Window<'_>,
        spans: &[(usize, usize)],
        cx: &mut Contexts,
    ) -> Result<bool, CodecError> {
        let _ = (source, window, spans, cx);
        Ok(false)
    }
}

/// Fills a place with the encoded bytes from an offset on.
type Fetch<'a> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<(), CodecError>;

/// Encoded bytes that can be fetched by ranges.
pub struct Encoded<'a> {
    /// How many there are.
    pub size: usize,
    /// Fetches some of them.
    pub fetch: Fetch<'a>,
}

/// A part of the decoded bytes.
pub struct Window<'a> {
    /// Its place.
    pub dst: &'a mut [u8],
    /// Where it starts in the decoded bytes.
    pub from: usize,
    /// How many decoded bytes there are in all.
    pub total: usize,
}

/// A codec that needs to know the shape of the array that it works on: before the bytes, or making them.
pub trait Filter: Send + Sync {
    /// The codec's name, as users write it.
    fn name(&self) -> &str;

    /// Decode all of `src` into `dst`, replacing what was there; the decoded array has the given shape.
    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        want: Want,
        cx: &mut Contexts,
    ) -> Result<(), CodecError>;

    /// Encode an array of the given shape, dense and in C order, into `dst`, replacing what was there.
    fn encode(&self, src: &[u8], dst: &mut Buffer, shape: &[usize], cx: &mut Contexts) -> Result<(), CodecError>;

    /// The size of what it makes of an array of a shape, which takes up `bytes`.
    fn encoded_size(&self, bytes: Want, shape: &[usize]) -> Want;

    /// Whether decoding leaves the bytes as they are, so that readers can do without it.
    fn decodes_as_is(&self) -> bool {
        false
    }

    /// The shape of what it makes of an array of a shape.
    fn encoded_shape(&self, shape: &[usize]) -> Dims {
        Dims::from_slice(shape)
    }
}

/// A codec that works on arrays as it would on their bytes, whatever their shape.
pub struct Shapeless<S>(pub S);

impl<S: Step> Filter for Shapeless<S> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        _: &[usize],
        want: Want,
        cx: &mut Contexts,
    ) -> Result<(), CodecError> {
        self.0.decode(src, dst, want, cx)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _: &[usize], cx: &mut Contexts) -> Result<(), CodecError> {
        self.0.encode(src, dst, cx)
    }

    fn encoded_size(&self, bytes: Want, _: &[usize]) -> Want {
        after(&self.0, bytes)
    }

    fn decodes_as_is(&self) -> bool {
        self.0.decodes_as_is()
    }
}

/// What a step's encoder makes of `want`: exact where the step's output has a fixed size.
pub fn after(step: &dyn Step, want: Want) -> Want {
    let most = step.bound(want.max());
    match want {
        Want::Exact(n) if step.decoded_size(most) == Some(n) => Want::Exact(most),
        _ => Want::AtMost(most),
    }
}

/// The least room that decoding to an unknown size starts with.
const FIRST_ROOM: usize = 64 << 10;

/// Decode into a buffer with a decoder that needs all its room at once and says [`Fault::TooLarge`] where that ends.
///
/// `guess` may come from the stream: it only sizes the first try of [`Want::AtMost`].
fn decode_within(
    codec: &str,
    dst: &mut Buffer,
    want: Want,
    guess: usize,
    mut decode: impl FnMut(&mut [u8]) -> Result<usize, CodecError>,
) -> Result<(), CodecError> {
    let max = match want {
        Want::Exact(n) => return exactly(codec, decode(dst.space(n))?, n),
        Want::AtMost(max) => max,
    };
    let mut room = guess.max(FIRST_ROOM).min(max);
    loop {
        match decode(dst.space(room)) {
            Ok(made) => {
                dst.set_len(made);
                return Ok(());
            }
            Err(error) if error.fault == Fault::TooLarge && room < max => room = room.saturating_mul(4).min(max),
            Err(error) => return Err(error),
        }
    }
}

/// Fail unless a decoder made as many bytes as the array expects.
fn exactly(codec: &str, made: usize, expected: usize) -> Result<(), CodecError> {
    if made == expected {
        return Ok(());
    }
    Err(CodecError::corrupt(codec, format!("decodes to {made} bytes where {expected} are expected")))
}

/// Copy bytes that are the decoded ones as they stand.
fn copy_exactly(codec: &str, bytes: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    if bytes.len() > dst.len() {
        return Err(too_large(codec, dst.len()));
    }
    exactly(codec, bytes.len(), dst.len())?;
    dst.copy_from_slice(bytes);
    Ok(())
}

/// The error of a stream that decodes to more than the array allows.
fn too_large(codec: &str, limit: usize) -> CodecError {
    CodecError::new(codec, Fault::TooLarge, format!("decodes to more than the {limit} bytes that are expected"))
}

/// The error of writing with a codec that can only be read.
fn for_reading(codec: &str) -> CodecError {
    CodecError::new(codec, Fault::Config, "this codec is for reading only".to_owned())
}

/// A bound on what any encoder of a compressed format makes of `n` bytes, small members and blocks included.
fn loose_bound(n: usize) -> usize {
    n.saturating_add(n / 2).saturating_add(64 << 10)
}

/// Quotient and remainder; a divisor of 0 counts as 1.
fn div_rem(n: usize, by: usize) -> (usize, usize) {
    let by = by.max(1);
    (n.checked_div(by).unwrap_or_default(), n.checked_rem(by).unwrap_or_default())
}

#[cfg(test)]
mod tests;
