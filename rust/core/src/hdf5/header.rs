//! The superblock as far as it tells the sizes of numbers, and object headers of both versions.

use super::cursor::{Cursor, checked};
use super::file::{File, Found, Stop, known};

const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";
const SPACE: u64 = 1;
const LAYOUT: u64 = 8;
const CONTINUATION: u64 = 16;

/// Blocks of a header at most.
const MOST_BLOCKS: usize = 1 << 12;
/// Bytes of a header that are read at first.
const FIRST: u64 = 512;
/// The message lies elsewhere, and other headers have it, too.
const SHARED: u8 = 2;

/// Bytes of numbers in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) address: usize,
    pub(super) length: usize,
    /// Children of a node of the older B-trees, half of the most.
    pub(super) children: u64,
}

/// Read the superblock.
pub(super) fn sizes(file: &File<'_>) -> Found<Sizes> {
    let bytes = file.read_some(0, 96)?;
    known(superblock(&bytes))
}

fn superblock(bytes: &[u8]) -> Option<Sizes> {
    let mut from = Cursor(bytes);
    from.expect(SIGNATURE)?;
    let version = from.byte()?;
    let (address, length, children) = match version {
        0 | 1 => {
            from.bytes(4)?;
            let (address, length) = (from.byte()?, from.byte()?);
            from.bytes(9)?;
            (address, length, if version == 1 { from.number(2)? } else { 32 })
        }
        2 | 3 => (from.byte()?, from.byte()?, 32),
        _ => return None,
    };
    let fits = |n: u8| matches!(n, 2 | 4 | 8).then_some(usize::from(n));
    Some(Sizes { address: fits(address)?, length: fits(length)?, children: children.max(1) })
}

/// The messages of a dataset's header that matter here.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) space: Vec<u8>,
    pub(super) layout: Vec<u8>,
}

/// A part of the header that is still to be read.
struct Block {
    address: u64,
    length: u64,
}

/// How messages are headed.
#[derive(Clone, Copy)]
enum Form {
    Old,
    New { ordered: bool },
}

/// Read the header of a dataset.
pub(super) fn messages(file: &File<'_>, sizes: Sizes, address: u64) -> Found<Messages> {
    let start = file.read_some(address, FIRST)?;
    let mut found = Messages::default();
    let mut blocks = Vec::new();
    let form = if start.starts_with(b"OHDR") {
        let head = known(new_head(&start))?;
        let whole = if head.end > start.len() as u64 { file.read(address, head.end)? } else { start };
        let whole = known(usize::try_from(head.end).ok().and_then(|end| whole.get(..end)))?;
        let body = known(checked(whole))?;
        let form = Form::New { ordered: head.ordered };
        known(scan(known(body.0.get(head.body..))?, form, sizes, &mut found, &mut blocks))?;
        form
    } else {
        let (length, body) = known(old_head(&start))?;
        let whole = if length > body.len() as u64 { file.read(known(address.checked_add(16))?, length)? } else { body };
        let messages = known(usize::try_from(length).ok().and_then(|length| whole.get(..length)))?;
        known(scan(messages, Form::Old, sizes, &mut found, &mut blocks))?;
        Form::Old
    };
    let mut done = 0_usize;
    while found.space.is_empty() || found.layout.is_empty() {
        let block = known(blocks.get(done))?;
        let bytes = file.read(block.address, block.length)?;
        done = done.saturating_add(1);
        if done > MOST_BLOCKS {
            return Err(Stop::Unknown);
        }
        let messages = match form {
            Form::Old => &*bytes,
            Form::New { .. } => {
                let mut body = known(checked(&bytes))?;
                known(body.expect(b"OCHK"))?;
                body.0
            }
        };
        known(scan(messages, form, sizes, &mut found, &mut blocks))?;
    }
    Ok(found)
}

/// The length of the messages in the first block of an old header, and what was read of them.
fn old_head(start: &[u8]) -> Option<(u64, Vec<u8>)> {
    let mut from = Cursor(start);
    from.expect(&[1, 0])?;
    from.bytes(6)?;
    let length = u64::from(from.small()?);
    from.bytes(4)?;
    Some((length, from.0.to_vec()))
}

struct NewHead {
    ordered: bool,
    /// Where the messages begin.
    body: usize,
    /// Where the checksum ends.
    end: u64,
}

fn new_head(start: &[u8]) -> Option<NewHead> {
    let mut from = Cursor(start);
    from.expect(b"OHDR\x02")?;
    let flags = from.byte()?;
    if flags & 0x20 != 0 {
        from.bytes(16)?;
    }
    if flags & 0x10 != 0 {
        from.bytes(4)?;
    }
    let length = from.number(1_usize << (flags & 3))?;
    let body = start.len().checked_sub(from.0.len())?;
    let end = u64::try_from(body).ok()?.checked_add(length)?.checked_add(4)?;
    Some(NewHead { ordered: flags & 4 != 0, body, end })
}

/// Look through the messages of a block.
fn scan(bytes: &[u8], form: Form, sizes: Sizes, found: &mut Messages, blocks: &mut Vec<Block>) -> Option<()> {
    let mut from = Cursor(bytes);
    let head = match form {
        Form::Old => 8,
        Form::New { ordered } => {
            if ordered {
                6
            } else {
                4
            }
        }
    };
    // What is left may be too little for a message.
    while from.0.len() >= head {
        let (kind, length, flags) = match form {
            Form::Old => {
                let head = (from.number(2)?, from.number(2)?, from.byte()?);
                from.bytes(3)?;
                head
            }
            Form::New { ordered } => {
                let head = (u64::from(from.byte()?), from.number(2)?, from.byte()?);
                from.bytes(if ordered { 2 } else { 0 })?;
                head
            }
        };
        let body = from.bytes(usize::try_from(length).ok()?)?;
        match kind {
            SPACE | LAYOUT if flags & SHARED != 0 => return None,
            SPACE => found.space = body.to_vec(),
            LAYOUT => found.layout = body.to_vec(),
            CONTINUATION => {
                let mut body = Cursor(body);
                let (address, length) = (body.number(sizes.address)?, body.number(sizes.length)?);
                blocks.push(Block { address, length });
            }
            _ => {}
        }
    }
    Some(())
}
