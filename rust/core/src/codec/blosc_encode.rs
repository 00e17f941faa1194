//! Writing of Blosc containers with LZ4, LZ4HC or Snappy inside.
//!
//! LZ4 containers are the common case, and their bytes are the C library's own: same blocks, same streams. Here they
//! are shuffled with AVX2, which the C library is built without. Snappy is C++, so the C library has none of it.

use super::blosc_header::{HEADER, NAME};
use super::unshuffle::{shuffle, transpose_bits};
use super::{Contexts, ffi};
use crate::buffer::Buffer;
use crate::error::{CodecError, Fault};

/// Containers and streams smaller than this are not worth a compressor.
const SMALLEST: usize = 128;

/// Elements of up to this many bytes get one stream per byte.
const MAX_SPLITS: usize = 16;

/// The largest block there is.
const LARGEST_BLOCK: usize = 715_827_542;

/// The block size that levels multiply: a first-level cache.
const CACHE: usize = 32 << 10;

/// The compressors of this encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packer {
    Lz4,
    Lz4hc,
    Snappy,
}

/// What the encoder is asked to do.
pub(super) struct Settings {
    pub(super) packer: Packer,
    pub(super) clevel: u8,
    pub(super) shuffle: u8,
    pub(super) typesize: usize,
    pub(super) blocksize: usize,
}

impl Settings {
    /// Whether blocks of this size are cut into one stream per byte of an element.
    fn splits(&self, blocksize: usize) -> bool {
        self.typesize <= MAX_SPLITS && blocksize.checked_div(self.typesize).is_some_and(|n| n >= SMALLEST)
    }

    /// The block size for `n` bytes, by the rules of c-blosc 1.21.
    fn block_for(&self, n: usize) -> usize {
        if n < self.typesize {
            return 1;
        }
        let mut size = n;
        if self.blocksize > 0 {
            size = self.blocksize.clamp(SMALLEST, LARGEST_BLOCK);
        } else if n >= CACHE {
            let thorough = self.packer == Packer::Lz4hc;
            let quarters = match self.clevel {
                0 => 1,
                1 => 2,
                2 => 4,
                3 => 8,
                4 | 5 => 16,
                9 if thorough => 64,
                _ => 32,
            };
            size = CACHE.saturating_mul(quarters) / 4;
            if thorough {
                size = size.saturating_mul(2);
            }
        }
        if self.clevel > 0 && self.splits(size) {
            size = size.min(1 << 18).saturating_mul(self.typesize).clamp(1 << 16, 1 << 20);
        }
        size = size.min(n);
        if size > self.typesize {
            size = size.saturating_sub(size.checked_rem(self.typesize).unwrap_or_default());
        }
        size
    }

    /// The header of a container; `stored` ones hold the data as it is.
    fn header(&self, stored: bool, n: usize, blocksize: usize, total: usize) -> Option<[u8; HEADER]> {
        let code: u8 = if self.packer == Packer::Snappy { 2 } else { 1 };
        let order = [0, 1, 4].get(usize::from(self.shuffle)).copied().unwrap_or_default();
        let flags = code << 5 | u8::from(!self.splits(blocksize)) << 4 | u8::from(stored) << 1 | order;
        let mut header = [0; HEADER];
        let fields = header.chunks_exact_mut(4);
        let first = [2, 1, flags, u8::try_from(self.typesize).ok()?];
        let number = |n: usize| u32::try_from(n).map(u32::to_le_bytes).ok();
        for (field, value) in fields.zip([first, number(n)?, number(blocksize)?, number(total)?]) {
            field.copy_from_slice(&value);
        }
        Some(header)
    }
}

/// Encode `src` into a container, which never takes more than 16 bytes more.
pub(super) fn compress(s: &Settings, src: &[u8], dst: &mut Buffer, cx: &mut Contexts) -> Result<(), CodecError> {
    let refused = || CodecError::new(NAME, Fault::Config, format!("cannot encode {} bytes", src.len()));
    let (n, blocksize) = (src.len(), s.block_for(src.len()));
    let room = dst.space(n.saturating_add(HEADER));
    let packed = if s.clevel > 0 && n >= SMALLEST { pack(s, src, blocksize, room, cx) } else { None };
    let total = packed.unwrap_or_else(|| n.saturating_add(HEADER));
    let header = s.header(packed.is_none(), n, blocksize, total).ok_or_else(refused)?;
    let (start, body) = room.split_first_chunk_mut::<HEADER>().ok_or_else(refused)?;
    *start = header;
    if packed.is_none() {
        body.copy_from_slice(src);
    }
    dst.set_len(total);
    Ok(())
}

/// Write the offsets of all blocks and the blocks; the end of the last one, or `None` if they are not smaller.
fn pack(s: &Settings, src: &[u8], blocksize: usize, room: &mut [u8], cx: &mut Contexts) -> Option<usize> {
    let mut at = src.len().div_ceil(blocksize).checked_mul(4)?.checked_add(HEADER)?;
    for (i, block) in src.chunks(blocksize).enumerate() {
        let place = i.checked_mul(4)?.checked_add(HEADER)?;
        put(room, place, at)?;
        let split = s.splits(blocksize) && block.len() == blocksize;
        let each = if split { block.len().checked_div(s.typesize)? } else { block.len() };
        let (mut scratch, mut packed) = (std::mem::take(&mut cx.scratch), std::mem::take(&mut cx.packed));
        let ordered = rearrange(s, block, &mut scratch, &mut cx.second);
        let end = ordered.chunks_exact(each).try_fold(at, |at, stream| {
            let from = at.checked_add(4)?;
            let space = room.get_mut(from..)?;
            let length = stored_or(s, stream, space, &mut packed)?;
            put(room, at, length)?;
            from.checked_add(length)
        });
        (cx.scratch, cx.packed) = (scratch, packed);
        at = end?;
    }
    Some(at)
}

/// Write a little-endian 32-bit number.
fn put(room: &mut [u8], at: usize, value: usize) -> Option<()> {
    let place = room.get_mut(at..)?.first_chunk_mut::<4>()?;
    *place = u32::try_from(value).ok()?.to_le_bytes();
    Some(())
}

/// Write one stream, compressed if that makes it smaller; its length.
fn stored_or(s: &Settings, stream: &[u8], space: &mut [u8], packed: &mut Buffer) -> Option<usize> {
    let limit = space.len().min(stream.len());
    let made = match s.packer {
        Packer::Lz4 => {
            let acceleration = 10_i32.saturating_sub(i32::from(s.clevel));
            ffi::lz4_compress(stream, space.get_mut(..limit)?, acceleration)
        }
        Packer::Lz4hc => ffi::lz4hc_compress(stream, space.get_mut(..limit)?, i32::from(s.clevel)),
        Packer::Snappy => {
            let made =
                snap::raw::Encoder::new().compress(stream, packed.space(snap::raw::max_compress_len(stream.len())));
            let made = made.ok().filter(|&made| made < limit);
            if let Some(made) = made {
                space.get_mut(..made)?.copy_from_slice(packed.as_slice().get(..made)?);
            }
            made
        }
    };
    match made {
        Some(made) if made != stream.len() => Some(made),
        _ => {
            space.get_mut(..stream.len())?.copy_from_slice(stream);
            Some(stream.len())
        }
    }
}

/// The bytes of one block in the order in which they are compressed.
fn rearrange<'a>(s: &Settings, src: &'a [u8], scratch: &'a mut Buffer, second: &mut Buffer) -> &'a [u8] {
    let n = src.len().checked_div(s.typesize).unwrap_or_default();
    match s.shuffle {
        1 if s.typesize > 1 => shuffle(s.typesize, src, scratch.space(src.len())),
        2 if n > 0 && n.is_multiple_of(8) => {
            let (whole, out) = (n.saturating_mul(s.typesize), scratch.space(src.len()));
            let bytes = second.space(src.len());
            shuffle(s.typesize, src, bytes);
            let (planes, tail) = bytes.split_at_mut(whole);
            transpose_bits(planes);
            let (rows, end) = out.split_at_mut(whole);
            for (plane, out) in planes.chunks_exact(n).zip(rows.chunks_exact_mut(n)) {
                shuffle(8, plane, out);
            }
            end.copy_from_slice(tail);
        }
        _ => return src,
    }
    scratch.as_slice()
}
