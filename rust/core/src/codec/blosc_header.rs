//! The 16-byte header of a Blosc 1 container and its table of blocks, checked against the bytes that are there.

use super::too_large;
use crate::error::{CodecError, Fault};

pub(super) const NAME: &str = "blosc";

/// Bytes of the header.
pub(super) const HEADER: usize = 16;

/// The only format version there is: Blosc 1.0 to 1.21.
const VERSION: u8 = 2;

/// A block is cut into one stream per byte of an element only up to this element size …
const MAX_SPLITS: usize = 16;

/// … and only if each stream is at least this long.
const MIN_SPLIT: usize = 128;

/// The compressor inside the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    BloscLz,
    Lz4,
    Snappy,
    Zlib,
    Zstd,
}

/// How the bytes of a block were rearranged before compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Byte,
    Bit,
}

/// What the header says, once it is consistent with itself and with the length of the data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) typesize: usize,
    /// Decoded bytes of the whole container.
    pub(super) nbytes: usize,
    /// Decoded bytes of each block but the last.
    pub(super) blocksize: usize,
    /// Encoded bytes, header included; no more than there are.
    pub(super) cbytes: usize,
    pub(super) inner: Inner,
    pub(super) filter: Filter,
    /// The data follows the header as it is.
    pub(super) stored: bool,
    /// Whole blocks are cut into one stream per byte of an element.
    pub(super) split: bool,
}

/// One block: where its streams begin, and the bytes and number of streams it decodes to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Offset of the first stream in the container.
    pub(super) offset: usize,
    /// Offset of the block in the decoded data.
    pub(super) start: usize,
    /// Decoded bytes.
    pub(super) size: usize,
    /// Number of streams, each of `size / splits` decoded bytes.
    pub(super) splits: usize,
}

impl Block {
    /// Decoded bytes of each stream; never 0, as there are no empty blocks.
    pub(super) fn each(&self) -> usize {
        self.size.checked_div(self.splits).unwrap_or_default().max(1)
    }
}

fn corrupt(message: String) -> CodecError {
    CodecError::corrupt(NAME, message)
}

/// A little-endian 32-bit number as the non-negative one that Blosc requires.
pub(super) fn number(src: &[u8], at: usize) -> Option<usize> {
    let bytes = src.get(at..)?.first_chunk::<4>()?;
    usize::try_from(i32::from_le_bytes(*bytes)).ok()
}

impl Header {
    /// Read and check the header of a container that may decode to at most `limit` bytes.
    ///
    /// Bytes after the container are allowed: the first Zarr writers left some.
    pub(super) fn parse(src: &[u8], limit: usize) -> Result<Self, CodecError> {
        Self::parse_head(src, src.len(), limit)
    }

    /// The same where only the first bytes of `size` are at hand.
    pub(super) fn parse_head(src: &[u8], size: usize, limit: usize) -> Result<Self, CodecError> {
        let Some(&[version, inner_version, flags, typesize, ..]) = src.first_chunk::<HEADER>() else {
            return Err(corrupt(format!("{} bytes are too few for a header", src.len())));
        };
        let field = |name: &str, at| number(src, at).ok_or_else(|| corrupt(format!("{name} is not below 2³¹")));
        let (nbytes, blocksize, cbytes) = (field("nbytes", 4)?, field("blocksize", 8)?, field("cbytes", 12)?);
        if version != VERSION || inner_version != 1 || flags & 8 != 0 {
            let message = format!("versions {version} and {inner_version} with flags {flags:#04x} are not known");
            return Err(corrupt(message));
        }
        if nbytes > limit {
            return Err(too_large(NAME, limit));
        }
        if cbytes < HEADER || cbytes > size {
            return Err(corrupt(format!("the header says {cbytes} encoded bytes, but there are {size}")));
        }
        if nbytes > 0 && (typesize == 0 || blocksize == 0 || blocksize > nbytes) {
            let message = format!("blocks of {blocksize} bytes, elements of {typesize}, {nbytes} bytes in all");
            return Err(corrupt(message));
        }
        // Where there are no blocks, their size is anybody's guess, and must not cost memory.
        let blocksize = blocksize.min(nbytes);
        let (typesize, stored) = (usize::from(typesize), flags & 2 != 0);
        let header = Self {
            typesize,
            nbytes,
            blocksize,
            cbytes,
            inner: inner(flags >> 5)?,
            filter: filter(flags, typesize),
            stored,
            split: flags & 0x10 == 0
                && typesize <= MAX_SPLITS
                && blocksize.checked_div(typesize).is_some_and(|n| n >= MIN_SPLIT),
        };
        header.check_room()?;
        Ok(header)
    }

    /// Whether the encoded bytes have room for the data, or for the table of blocks.
    fn check_room(&self) -> Result<(), CodecError> {
        let body = self.cbytes.saturating_sub(HEADER);
        if self.stored && body != self.nbytes {
            return Err(corrupt(format!("{} bytes are stored where the header says {}", body, self.nbytes)));
        }
        if !self.stored && body / 4 < self.blocks() {
            return Err(corrupt(format!("{body} bytes are too few for the offsets of {} blocks", self.blocks())));
        }
        if self.split && !self.stored && self.blocksize.checked_rem(self.typesize) != Some(0) {
            let message = format!("blocks of {} bytes are no whole elements of {}", self.blocksize, self.typesize);
            return Err(corrupt(message));
        }
        Ok(())
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        if self.nbytes == 0 { 0 } else { self.nbytes.div_ceil(self.blocksize.max(1)) }
    }

    /// The payload of a stored container.
    pub(super) fn payload<'a>(&self, src: &'a [u8]) -> &'a [u8] {
        src.get(HEADER..self.cbytes).unwrap_or_default()
    }

    /// Block `i` of `blocks()`.
    pub(super) fn block(&self, src: &[u8], i: usize) -> Result<Block, CodecError> {
        let place = || {
            let at = i.checked_mul(4)?.checked_add(HEADER)?;
            let start = i.checked_mul(self.blocksize)?;
            Some((number(src, at)?, start, self.nbytes.checked_sub(start)?))
        };
        let (offset, start, left) = place().ok_or_else(|| corrupt(format!("block {i} begins nowhere")))?;
        let whole = left >= self.blocksize;
        let splits = if self.split && whole { self.typesize } else { 1 };
        Ok(Block { offset, start, size: left.min(self.blocksize), splits })
    }
}

fn inner(code: u8) -> Result<Inner, CodecError> {
    Ok(match code {
        0 => Inner::BloscLz,
        1 => Inner::Lz4,
        2 => Inner::Snappy,
        3 => Inner::Zlib,
        4 => Inner::Zstd,
        _ => return Err(CodecError::new(NAME, Fault::Corrupt, format!("compressor {code} is not known"))),
    })
}

/// The byte shuffle wins over the bit shuffle, and does nothing to single bytes.
fn filter(flags: u8, typesize: usize) -> Filter {
    if flags & 1 != 0 && typesize > 1 {
        Filter::Byte
    } else if flags & 4 != 0 {
        Filter::Bit
    } else {
        Filter::None
    }
}
