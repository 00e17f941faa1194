//! B-trees of the first version, whose keys are the first elements of chunks.

use super::cursor::Cursor;
use super::file::{File, Found, Stop, known};
use super::grid::{Grid, Rows};
use super::header::Sizes;

/// The sizes of the parts of a node.
#[derive(Clone, Copy)]
struct Shape {
    head: usize,
    key: usize,
    address: usize,
}

/// Walk from the root down, level by level.
pub(super) fn walk(file: &File<'_>, sizes: Sizes, root: u64, rows: &mut Rows<'_>) -> Found<()> {
    let rank = rows.grid.chunks.len();
    let key = rank.saturating_add(2).saturating_mul(8);
    let shape = Shape { head: sizes.address.saturating_mul(2).saturating_add(8), key, address: sizes.address };
    let pair = key.saturating_add(sizes.address) as u64;
    let usual =
        sizes.children.saturating_mul(2).saturating_mul(pair).saturating_add(shape.head.saturating_add(key) as u64);
    let mut nodes = vec![root];
    let mut level: Option<u8> = None;
    while !nodes.is_empty() {
        let mut below = Vec::new();
        let mut own = level;
        file.each(&nodes, usual, |i, bytes| {
            let head = known(head(bytes))?;
            if *own.get_or_insert(head.level) != head.level {
                return Err(Stop::Unknown);
            }
            let needed = shape.head.saturating_add(head.used.saturating_mul(shape.key.saturating_add(shape.address)));
            let longer;
            let bytes = if bytes.len() < needed {
                longer = file.read(known(nodes.get(i).copied())?, needed as u64)?;
                &longer
            } else {
                bytes
            };
            let entries = known(bytes.get(shape.head..needed))?;
            if head.level > 0 {
                return children(entries, shape, &mut below, rows.grid.total);
            }
            leaves(entries, shape, rows)
        })?;
        level = own.and_then(|level| level.checked_sub(1));
        if level.is_none() {
            return Ok(());
        }
        nodes = below;
    }
    Ok(())
}

struct Head {
    level: u8,
    used: usize,
}

fn head(bytes: &[u8]) -> Option<Head> {
    let mut from = Cursor(bytes);
    from.expect(b"TREE\x01")?;
    let level = from.byte()?;
    let used = usize::try_from(from.number(2)?).ok()?;
    Some(Head { level, used })
}

fn children(entries: &[u8], shape: Shape, below: &mut Vec<u64>, most: u64) -> Found<()> {
    for entry in entries.chunks_exact(shape.key.saturating_add(shape.address)) {
        let mut from = Cursor(known(entry.get(shape.key..))?);
        below.push(known(from.number(shape.address))?);
    }
    // Each node leads to a chunk of its own at least.
    if below.len() as u64 > most { Err(Stop::Unknown) } else { Ok(()) }
}

fn leaves(entries: &[u8], shape: Shape, rows: &mut Rows<'_>) -> Found<()> {
    let grid = rows.grid;
    for entry in entries.chunks_exact(shape.key.saturating_add(shape.address)) {
        let mut from = Cursor(entry);
        let (length, mask) = (known(from.small())?, known(from.small())?);
        let number = known(number(grid, &mut from))?;
        if known(from.number(8))? != 0 {
            return Err(Stop::Unknown);
        }
        let address = known(known(from.address(shape.address))?)?;
        rows.add(number, address, u64::from(length), mask)?;
    }
    Ok(())
}

/// The number of the chunk whose first element comes next.
fn number(grid: &Grid, from: &mut Cursor<'_>) -> Option<u64> {
    let mut whole = true;
    let chunks = grid.chunks.iter();
    let places = chunks.map_while(|&chunk| {
        let first = from.number(8)?;
        let place = first.checked_div(chunk)?;
        whole &= place.checked_mul(chunk) == Some(first);
        Some(place)
    });
    let number = grid.number(places)?;
    whole.then_some(number)
}
