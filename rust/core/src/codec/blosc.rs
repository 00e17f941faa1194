//! The `blosc` codec: containers of Blosc 1, read by our own decoder, and written by our own encoder or the C library's.
//!
//! Reading is our own work for two reasons: a container is checked against the bytes that are there before anything
//! is decoded, and blocks are unshuffled straight to where they belong.

use super::blosc_block::{Loaded, decompress_in_place};
use super::blosc_encode::{Packer, Settings, compress};
use super::blosc_header::{Block, Filter, HEADER, Header, NAME};
use super::rows::{fill_from, scatter};
use super::stores::Stores;
use super::{Contexts, Encoded, RowSink, Step, Want, Window, blosc_fetch, ffi, loose_bound};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};
use std::ffi::CStr;
use std::ops::Range;

/// The most bytes in one container.
const MAX_BYTES: usize = 0x7FFF_FFFF - HEADER;

/// Rows of fewer elements are gathered in a tile first: the kernels take 32 elements at a time.
const SHORT_ROW: usize = 32;

/// Bytes of such a tile.
const TILE: usize = 4096;

/// The `blosc` codec.
#[derive(Debug, Clone, Copy)]
pub struct Blosc {
    cname: &'static CStr,
    clevel: u8,
    shuffle: u8,
    typesize: usize,
    blocksize: usize,
    bytes_in_order: bool,
}

impl Blosc {
    /// A codec that writes with these settings; it reads every container.
    ///
    /// `cname` is one of blosclz, lz4, lz4hc, snappy, zlib, zstd; `clevel` 0 (stored) to 9; `shuffle` 0 (none), 1
    /// (bytes) or 2 (bits); a `typesize` of more than 255 counts as 1; a `blocksize` of 0 lets the encoder choose.
    pub fn new(cname: &str, clevel: i32, shuffle: i32, typesize: usize, blocksize: usize) -> Result<Self, CodecError> {
        let wrong = |message: String| CodecError::new(NAME, Fault::Config, message);
        let names = [c"blosclz", c"lz4", c"lz4hc", c"snappy", c"zlib", c"zstd"];
        let known = names.into_iter().find(|name| name.to_bytes() == cname.as_bytes());
        let known = known
            .ok_or_else(|| wrong(format!("cname {cname:?} is not one of blosclz, lz4, lz4hc, snappy, zlib, zstd")))?;
        let level = u8::try_from(clevel).ok().filter(|&level| level <= 9);
        let order = u8::try_from(shuffle).ok().filter(|&order| order <= 2);
        Ok(Self {
            cname: known,
            clevel: level.ok_or_else(|| wrong(format!("clevel {clevel} is not one of 0 to 9")))?,
            shuffle: order.ok_or_else(|| wrong(format!("shuffle {shuffle} is not one of 0, 1, 2")))?,
            typesize: if (1..=255).contains(&typesize) { typesize } else { 1 },
            blocksize: blocksize.min(MAX_BYTES),
            bytes_in_order: false,
        })
    }

    /// Take the bit shuffle of single bytes for a lie: Blosc 1.7.0 set its flag and left the bytes in order.
    #[must_use]
    pub fn bytes_in_order(self) -> Self {
        // Written without the shuffle, so that no reader is misled.
        let shuffle = if self.typesize == 1 && self.shuffle == 2 { 0 } else { self.shuffle };
        Self { bytes_in_order: true, shuffle, ..self }
    }

    /// The header, checked; exactly `total` bytes must come out.
    fn header(&self, src: &[u8], total: usize) -> Result<Header, CodecError> {
        let header = self.any_header(src, total)?;
        super::exactly(NAME, header.nbytes, total)?;
        Ok(header)
    }

    /// The header, checked; at most `limit` bytes may come out.
    fn any_header(&self, src: &[u8], limit: usize) -> Result<Header, CodecError> {
        Header::parse(src, limit).map(|header| self.believed(header))
    }

    /// The header, less the lie that is known of.
    pub(super) fn believed(&self, mut header: Header) -> Header {
        if self.bytes_in_order && header.typesize == 1 && header.filter == Filter::Bit {
            header.filter = Filter::None;
        }
        header
    }

    fn decode_all(header: &Header, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        if header.stored {
            return super::copy_exactly(NAME, header.payload(src), dst);
        }
        if header.filter == Filter::None {
            for (i, room) in dst.chunks_mut(header.blocksize.max(1)).enumerate() {
                decompress_in_place(header, src, header.block(src, i)?, room, cx)?;
            }
            return Ok(());
        }
        each_block(header, src, 1, cx, |start, size, block| {
            if let Some(room) = dst.get_mut(start..).and_then(|rest| rest.get_mut(..size)) {
                block.copy_out(0, room, &Stores::NEAR);
            }
        })
    }
}

/// Hand each block, decompressed, to `take`, with its place and size in the decoded bytes.
fn each_block(
    header: &Header,
    src: &[u8],
    swap: usize,
    cx: &mut Contexts,
    mut take: impl FnMut(usize, usize, &Loaded<'_>),
) -> Result<(), CodecError> {
    with_scratch(header, cx, |scratch, second, cx| {
        for i in 0..header.blocks() {
            let block = header.block(src, i)?;
            take(
                block.start,
                block.size,
                &Loaded::new(header, src, block, (swap, 0..block.size), (scratch, second), cx)?,
            );
        }
        Ok(())
    })
}

/// Lend out scratch memory for one block, and for its bits if they were shuffled.
pub(super) fn with_scratch<T>(
    header: &Header,
    cx: &mut Contexts,
    work: impl FnOnce(&mut [u8], &mut [u8], &mut Contexts) -> T,
) -> T {
    let (mut scratch, mut second) = (std::mem::take(&mut cx.scratch), std::mem::take(&mut cx.second));
    let bits = if header.filter == Filter::Bit { header.blocksize } else { 0 };
    let result = work(scratch.space(header.blocksize), second.space(bits), cx);
    (cx.scratch, cx.second) = (scratch, second);
    result
}

/// The part of a block between the first and the last byte that the spans want of it.
pub(super) fn covered(block: Block, spans: &[(usize, usize)]) -> Range<usize> {
    let end = block.start.saturating_add(block.size);
    let first = spans.first().map_or(block.start, |span| span.0);
    let last = spans.iter().take_while(|span| span.0 < end).last().map_or(end, |span| span.1.min(end));
    first.saturating_sub(block.start)..last.saturating_sub(block.start)
}

/// Write what the spans want of one block to `dst`, which starts at byte `from`; the spans that go on after it.
pub(super) fn copy_spans<'a>(
    loaded: &Loaded<'_>,
    block: Block,
    (dst, from): (&mut [u8], usize),
    spans: &'a [(usize, usize)],
) -> &'a [(usize, usize)] {
    let block_end = block.start.saturating_add(block.size);
    for (k, &(start, end)) in spans.iter().enumerate() {
        let first = start.max(block.start);
        let place = first.saturating_sub(from)..end.min(block_end).saturating_sub(from);
        if let Some(piece) = dst.get_mut(place) {
            loaded.copy_out(first.saturating_sub(block.start), piece, &Stores::NEAR);
        }
        if end > block_end {
            return spans.get(k..).unwrap_or_default();
        }
    }
    &[]
}

/// Whether `swap` is only another order of planes, in every block.
fn swaps_planes(header: &Header, swap: usize) -> bool {
    let whole = |n: usize| n.checked_rem(header.typesize) == Some(0);
    header.filter == Filter::Byte
        && !header.stored
        && header.typesize.checked_rem(swap) == Some(0)
        && whole(header.nbytes)
        && whole(header.blocksize)
}

impl Step for Blosc {
    fn name(&self) -> &str {
        NAME
    }

    fn decode(&self, src: &[u8], dst: &mut Buffer, want: Want, cx: &mut Contexts) -> Result<(), CodecError> {
        let header = match want {
            Want::Exact(n) => self.header(src, n)?,
            Want::AtMost(n) => self.any_header(src, n)?,
        };
        Self::decode_all(&header, src, dst.space(header.nbytes), cx)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
        if src.len() > MAX_BYTES {
            let message = format!("{} bytes are more than the {MAX_BYTES} of one container", src.len());
            return Err(CodecError::new(NAME, Fault::Config, message));
        }
        let Self { cname, clevel, shuffle, typesize, blocksize, .. } = *self;
        let packer = match cname.to_bytes() {
            b"lz4" => Some(Packer::Lz4),
            b"lz4hc" => Some(Packer::Lz4hc),
            b"snappy" => Some(Packer::Snappy),
            _ => None,
        };
        if let Some(packer) = packer {
            return compress(&Settings { packer, clevel, shuffle, typesize, blocksize }, src, dst, cx);
        }
        let params = ffi::BloscParams { cname, clevel, shuffle, typesize, blocksize };
        let made = ffi::blosc_compress(&params, src, dst.space(src.len().saturating_add(HEADER)));
        dst.set_len(made.map_err(|code| {
            let message = format!("the encoder refused {} bytes with code {code}", src.len());
            CodecError::new(NAME, Fault::Config, message)
        })?);
        Ok(())
    }

    fn bound(&self, n: usize) -> usize {
        loose_bound(n)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], cx: &mut Contexts) -> Result<(), CodecError> {
        let header = self.header(src, dst.len())?;
        Self::decode_all(&header, src, dst, cx)
    }

    fn decode_rows(
        &self,
        src: &[u8],
        total: usize,
        swap: usize,
        rows: &mut dyn RowSink,
        cx: &mut Contexts,
    ) -> Result<bool, CodecError> {
        let header = self.header(src, total)?;
        if swap > 1 && !swaps_planes(&header, swap) {
            return Ok(false);
        }
        if header.stored {
            let bytes = header.payload(src);
            scatter(rows, 0, total, |at, piece| fill_from(bytes, at, piece));
            return Ok(true);
        }
        let short = rows.row_bytes() < header.typesize.saturating_mul(SHORT_ROW);
        let stores = Stores::new(rows.are_far());
        each_block(&header, src, swap, cx, |start, size, block| {
            if !short || matches!(block, Loaded::Flat { .. }) {
                scatter(rows, start, size, |from, piece| block.copy_out(from, piece, &stores));
                return;
            }
            let mut tile = [0; TILE];
            for from in (0..size).step_by(TILE) {
                let tile = tile.get_mut(..size.saturating_sub(from).min(TILE)).unwrap_or_default();
                block.copy_out(from, tile, &Stores::NEAR);
                let at = start.saturating_add(from);
                scatter(rows, at, tile.len(), |from, piece| fill_from(tile, from, piece));
            }
        })?;
        Ok(true)
    }

    fn decode_spans(
        &self,
        src: &[u8],
        dst: &mut [u8],
        spans: &[(usize, usize)],
        cx: &mut Contexts,
    ) -> Result<bool, CodecError> {
        let header = self.header(src, dst.len())?;
        if header.stored {
            let bytes = header.payload(src);
            for &(start, end) in spans {
                fill_from(bytes, start, dst.get_mut(start..end.min(bytes.len())).unwrap_or_default());
            }
            return Ok(true);
        }
        with_scratch(&header, cx, |scratch, second, cx| {
            let (mut left, mut i) = (spans, 0_usize);
            while let Some(&(start, _)) = left.first() {
                i = i.max(start.checked_div(header.blocksize).unwrap_or_default());
                if i >= header.blocks() {
                    break;
                }
                let block = header.block(src, i)?;
                let part = covered(block, left);
                let loaded = Loaded::new(&header, src, block, (1, part), (scratch, second), cx)?;
                left = copy_spans(&loaded, block, (dst, 0), left);
                i = i.saturating_add(1);
            }
            Ok(())
        })?;
        Ok(true)
    }

    fn fetches(&self) -> bool {
        true
    }

    fn fetch_spans(
        &self,
        source: &mut Encoded<'_>,
        window: &mut Window<'_>,
        spans: &[(usize, usize)],
        cx: &mut Contexts,
    ) -> Result<bool, CodecError> {
        blosc_fetch::fetch_spans(self, source, window, spans, cx)
    }
}
