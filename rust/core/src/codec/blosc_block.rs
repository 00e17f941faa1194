//! Decoding of one block of a Blosc container: first its compressed streams, then the order of its bytes.

use super::blosc_header::{Block, Filter, Header, Inner, NAME, number};
use super::stores::Stores;
use super::unshuffle::{transpose_bits, unshuffle, unshuffle_by};
use super::{Contexts, blosclz, deflate, div_rem, lz4_block, zstd};
use crate::error::CodecError;
use std::ops::Range;

/// The streams of a block, as they are stored.
struct Streams<'a> {
    src: &'a [u8],
    at: usize,
}

impl<'a> Streams<'a> {
    fn new(header: &Header, src: &'a [u8], block: Block) -> Self {
        Self { src: src.get(..header.cbytes).unwrap_or(src), at: block.offset }
    }

    /// The next stream: a length, and as many bytes.
    fn next(&mut self) -> Result<&'a [u8], CodecError> {
        let stream = || {
            let from = self.at.checked_add(4)?;
            self.src.get(from..from.checked_add(number(self.src, self.at)?)?)
        };
        let stream = stream().ok_or_else(|| {
            let message = format!("the stream at byte {} leaves the {} encoded bytes", self.at, self.src.len());
            CodecError::corrupt(NAME, message)
        })?;
        self.at = self.at.saturating_add(4).saturating_add(stream.len());
        Ok(stream)
    }
}

/// Decompress the block straight into `dst`; for blocks whose bytes are in order.
pub(super) fn decompress_in_place(
    header: &Header,
    src: &[u8],
    block: Block,
    dst: &mut [u8],
    cx: &mut Contexts,
) -> Result<(), CodecError> {
    let mut streams = Streams::new(header, src, block);
    for room in dst.chunks_exact_mut(block.each()) {
        let stream = streams.next()?;
        if stream.len() == room.len() {
            room.copy_from_slice(stream);
        } else {
            decompress(header.inner, stream, room, cx)?;
        }
    }
    Ok(())
}

/// A decompressed block.
pub(super) enum Loaded<'a> {
    /// Its bytes in order, in pieces of equal length.
    Flat { pieces: Vec<&'a [u8]>, each: usize },
    /// A plane for each byte of an element, and the bytes after the last whole element.
    Planes { planes: Vec<&'a [u8]>, tail: &'a [u8] },
}

impl<'a> Loaded<'a> {
    /// Decompress the block with two scratch buffers of its size; only its bytes from `part.start` to `part.end` are
    /// wanted, each `swap` bytes of an element reversed (1: none).
    pub(super) fn new(
        header: &Header,
        src: &'a [u8],
        block: Block,
        (swap, part): (usize, Range<usize>),
        (scratch, second): (&'a mut [u8], &'a mut [u8]),
        cx: &mut Contexts,
    ) -> Result<Self, CodecError> {
        let each = block.each();
        let mut streams = Streams::new(header, src, block);
        let mut pieces = Vec::with_capacity(block.splits);
        for room in scratch.chunks_exact_mut(each).take(block.splits) {
            let stream = streams.next()?;
            // What could not be compressed is used where it lies.
            pieces.push(if stream.len() == each {
                stream
            } else {
                decompress(header.inner, stream, room, cx)?;
                &*room
            });
        }
        let n = block.size.checked_div(header.typesize).unwrap_or_default();
        let flat = match header.filter {
            Filter::None => true,
            Filter::Byte => n == 0,
            // The encoder leaves blocks alone that are not made of whole groups of eight elements.
            Filter::Bit => n == 0 || !n.is_multiple_of(8),
        };
        if flat {
            return Ok(Self::Flat { pieces, each });
        }
        let (mut planes, tail) = split_planes(pieces, header.typesize, n);
        if header.filter == Filter::Bit {
            let group = header.typesize.saturating_mul(8);
            let groups = div_rem(part.start, group).0..part.end.div_ceil(group).min(n / 8);
            planes = gather_bits(&planes, n, groups, second);
        }
        if swap > 1 {
            planes.chunks_exact_mut(swap).for_each(<[&[u8]]>::reverse);
        }
        Ok(Self::Planes { planes, tail })
    }

    /// Write the block's bytes from `from` on to `dst`, as many as it takes.
    pub(super) fn copy_out(&self, from: usize, dst: &mut [u8], stores: &Stores) {
        match self {
            Self::Flat { pieces, each } => copy_flat(pieces, *each, from, dst),
            Self::Planes { planes, tail } => copy_planes(planes, tail, from, dst, stores),
        }
    }
}

/// The planes of a shuffled block: its streams, or equal parts of its only stream.
fn split_planes(pieces: Vec<&[u8]>, typesize: usize, n: usize) -> (Vec<&[u8]>, &[u8]) {
    match *pieces {
        [whole] => {
            let (shuffled, tail) = whole.split_at_checked(n.saturating_mul(typesize)).unwrap_or((whole, &[]));
            (shuffled.chunks_exact(n).collect(), tail)
        }
        _ => (pieces, &[]),
    }
}

/// Turn planes of eight bit rows each into planes of bytes, in the groups of eight elements that are wanted.
pub(super) fn gather_bits<'a>(planes: &[&[u8]], n: usize, groups: Range<usize>, room: &'a mut [u8]) -> Vec<&'a [u8]> {
    let (row, wanted) = (n / 8, groups.start.saturating_mul(8)..groups.end.saturating_mul(8));
    let mut gathered = Vec::with_capacity(planes.len());
    for (plane, out) in planes.iter().zip(room.chunks_exact_mut(n)) {
        let rows: Vec<&[u8]> = plane.chunks_exact(row).collect();
        if let Some(out) = out.get_mut(wanted.clone()) {
            unshuffle(&rows, groups.start, out);
            transpose_bits(out);
        }
        gathered.push(&*out);
    }
    gathered
}

fn copy_flat(pieces: &[&[u8]], each: usize, from: usize, mut dst: &mut [u8]) {
    let (first, skip) = (from.checked_div(each), from.checked_rem(each));
    let mut skip = skip.unwrap_or_default();
    for piece in pieces.iter().skip(first.unwrap_or_default()) {
        let bytes = piece.get(skip..).unwrap_or_default();
        let n = bytes.len().min(dst.len());
        let (now, later) = std::mem::take(&mut dst).split_at_mut(n);
        now.copy_from_slice(bytes.get(..n).unwrap_or_default());
        dst = later;
        skip = 0;
        if dst.is_empty() {
            return;
        }
    }
}

fn copy_planes(planes: &[&[u8]], tail: &[u8], from: usize, dst: &mut [u8], stores: &Stores) {
    let width = planes.len().max(1);
    let shuffled = planes.first().map_or(0, |plane| plane.len()).saturating_mul(width);
    let inside = shuffled.saturating_sub(from).min(dst.len());
    let (body, rest) = dst.split_at_mut(inside);
    let skipped = from.saturating_sub(shuffled);
    for (out, &byte) in rest.iter_mut().zip(tail.iter().skip(skipped)) {
        *out = byte;
    }
    // Whole elements go through the fast kernels; a start or end within an element byte by byte.
    let (first, within) = div_rem(from, width);
    let head = if within == 0 { 0 } else { width.saturating_sub(within).min(body.len()) };
    let (head, body) = body.split_at_mut(head);
    for (out, plane) in head.iter_mut().zip(planes.iter().skip(within)) {
        *out = plane.get(first).copied().unwrap_or_default();
    }
    let first = first.saturating_add(usize::from(within != 0));
    let (whole, partial) = div_rem(body.len(), width);
    let (body, end) = body.split_at_mut(body.len().saturating_sub(partial));
    unshuffle_by(stores, planes, first, body);
    for (out, plane) in end.iter_mut().zip(planes) {
        *out = plane.get(first.saturating_add(whole)).copied().unwrap_or_default();
    }
}

/// Decompress one stream so that it fills `dst`.
fn decompress(inner: Inner, stream: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
    let full = dst.len();
    let made = match inner {
        Inner::Lz4 => lz4_block::decompress(stream, dst),
        Inner::BloscLz => blosclz::decompress(stream, dst),
        Inner::Snappy => cx.snappy_in.decompress(stream, dst).ok(),
        Inner::Zlib => Some(deflate::decompress(deflate::Frame::Zlib, stream, dst, cx).map_err(within)?),
        Inner::Zstd => Some(zstd::decompress(stream, dst, cx).map_err(within)?),
    };
    if made == Some(full) {
        return Ok(());
    }
    let message = format!("a stream of {} bytes does not decode to {full} bytes", stream.len());
    Err(CodecError::corrupt(NAME, message))
}

/// The error of a compressor inside the container.
fn within(error: CodecError) -> CodecError {
    CodecError { message: format!("a stream inside: {error}"), codec: NAME.into(), ..error }
}
