//! Reading a part of a Blosc container from where it is stored: the table of blocks first, then the blocks that are wanted.

use std::ops::Range;

use super::blosc::{Blosc, copy_spans, covered, with_scratch};
use super::blosc_block::Loaded;
use super::blosc_header::{Block, HEADER, Header, NAME};
use super::{Contexts, Encoded, Window, exactly};
use crate::error::CodecError;

/// The bytes that are fetched first; tables of more blocks are not worth the trouble.
const HEAD: usize = 4096;

/// A block that is wanted, and where its streams are stored.
struct Wanted {
    block: Block,
    stored: Range<usize>,
}

/// Decode what covers the spans; `false` if all encoded bytes are needed, or nearly.
pub(super) fn fetch_spans(
    codec: &Blosc,
    source: &mut Encoded<'_>,
    window: &mut Window<'_>,
    spans: &[(usize, usize)],
    cx: &mut Contexts,
) -> Result<bool, CodecError> {
    let mut head = [0; HEAD];
    let head = head.get_mut(..source.size.min(HEAD)).unwrap_or_default();
    (source.fetch)(0, head)?;
    let header = codec.believed(Header::parse_head(head, source.size, window.total)?);
    exactly(NAME, header.nbytes, window.total)?;
    if header.stored {
        return fetch_stored(&header, source, window, spans);
    }
    if header.blocks().saturating_mul(4).saturating_add(HEADER) > head.len() {
        return Ok(false);
    }
    let wanted = find(&header, head, spans)?;
    let (Some(start), Some(end)) =
        (wanted.iter().map(|one| one.stored.start).min(), wanted.iter().map(|one| one.stored.end).max())
    else {
        return Ok(true);
    };
    // One range for all: where blocks that are not wanted lie between, it may be as well to fetch everything.
    let len = end.saturating_sub(start);
    if len > header.cbytes / 2 {
        return Ok(false);
    }
    let mut packed = std::mem::take(&mut cx.packed);
    let bytes = packed.space(len);
    let done = (source.fetch)(start, bytes).and_then(|()| decode(&header, bytes, start, &wanted, window, spans, cx));
    cx.packed = packed;
    done.map(|()| true)
}

fn fetch_stored(
    header: &Header,
    source: &mut Encoded<'_>,
    window: &mut Window<'_>,
    spans: &[(usize, usize)],
) -> Result<bool, CodecError> {
    for &(start, end) in spans {
        let place = start.saturating_sub(window.from)..end.min(header.nbytes).saturating_sub(window.from);
        if let Some(piece) = window.dst.get_mut(place) {
            (source.fetch)(start.saturating_add(HEADER), piece)?;
        }
    }
    Ok(true)
}

/// The blocks that the spans touch. Where one ends is not stored: at the latest where the next one in the container begins.
fn find(header: &Header, head: &[u8], spans: &[(usize, usize)]) -> Result<Vec<Wanted>, CodecError> {
    let count = header.blocks();
    let blocks = (0..count).map(|i| header.block(head, i)).collect::<Result<Vec<_>, _>>()?;
    let mut offsets: Vec<usize> = blocks.iter().map(|block| block.offset).collect();
    offsets.sort_unstable();
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut next = 0;
    for &(start, end) in spans.iter().filter(|(start, end)| start < end) {
        let block = |at: usize| at.checked_div(header.blocksize).unwrap_or_default();
        for i in block(start).max(next)..block(end.saturating_sub(1)).saturating_add(1).min(count) {
            let Some(&block) = blocks.get(i) else { break };
            let after = offsets.partition_point(|&offset| offset <= block.offset);
            let end = offsets.get(after).copied().unwrap_or(header.cbytes).min(header.cbytes);
            if end < block.offset {
                let message = format!("block {i} begins behind the {} encoded bytes", header.cbytes);
                return Err(CodecError::corrupt(NAME, message));
            }
            wanted.push(Wanted { block, stored: block.offset..end });
            next = i.saturating_add(1);
        }
    }
    Ok(wanted)
}

/// Decode the wanted blocks from the bytes that were fetched, the first of which is at `start`.
fn decode(
    header: &Header,
    bytes: &[u8],
    start: usize,
    wanted: &[Wanted],
    window: &mut Window<'_>,
    spans: &[(usize, usize)],
    cx: &mut Contexts,
) -> Result<(), CodecError> {
    with_scratch(header, cx, |scratch, second, cx| {
        let mut left = spans;
        for Wanted { block, stored } in wanted {
            let place = stored.start.saturating_sub(start)..stored.end.saturating_sub(start);
            // A block sees its own bytes only.
            let own = bytes.get(place).unwrap_or_default();
            let here = Block { offset: 0, ..*block };
            let loaded = Loaded::new(header, own, here, (1, covered(*block, left)), (scratch, second), cx)?;
            left = copy_spans(&loaded, *block, (window.dst, window.from), left);
        }
        Ok(())
    })
}
