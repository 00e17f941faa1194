//! B-trees of the second version, whose records are chunks by their places in the grid.

use super::cursor::checked;
use super::file::{File, Found, Stop, known};
use super::grid::Rows;
use super::header::Sizes;

/// Levels at most.
const DEEPEST: u16 = 24;
/// Bytes of a node at most.
const LARGEST: u64 = 16 << 20;
/// Bytes of a node beside its records and children: signature, version, type and checksum.
const FRAME: u64 = 10;

struct Tree {
    kind: u8,
    node: u64,
    record: usize,
    depth: u16,
    root: Option<u64>,
    records: u64,
    total: u64,
}

fn head(bytes: &[u8], sizes: Sizes) -> Option<Tree> {
    let mut from = checked(bytes)?;
    from.expect(b"BTHD\x00")?;
    let kind = from.byte().filter(|kind| matches!(kind, 10 | 11))?;
    let node = u64::from(from.small()?);
    let (record, depth) = (from.number(2)?, from.number(2)?);
    from.bytes(2)?;
    let root = from.address(sizes.address)?;
    let (records, total) = (from.number(2)?, from.number(sizes.length)?);
    let fits = (FRAME..=LARGEST).contains(&node) && record > 0;
    fits.then_some(Tree {
        kind,
        node,
        record: usize::try_from(record).ok()?,
        depth: u16::try_from(depth).ok().filter(|&depth| depth <= DEEPEST)?,
        root,
        records,
        total,
    })
}

/// Bytes that numbers up to this one take.
fn width(most: u64) -> usize {
    usize::try_from(most.max(1).ilog2() / 8).unwrap_or_default().saturating_add(1)
}

/// Bytes of the numbers of records below a node, by its level: in itself, and in all.
fn widths(tree: &Tree, sizes: Sizes) -> Option<Vec<(usize, usize)>> {
    let record = tree.record as u64;
    let leaf = tree.node.checked_sub(FRAME)?.checked_div(record)?;
    let own = width(leaf);
    let (mut all, mut found) = (leaf, vec![(own, 0)]);
    for _ in 0..tree.depth {
        let (_, below) = *found.last()?;
        let pointer = sizes.address.checked_add(own)?.checked_add(below)? as u64;
        let most = tree.node.checked_sub(FRAME)?.checked_sub(pointer)?.checked_div(record.checked_add(pointer)?)?;
        all = most.checked_add(1)?.checked_mul(all)?.checked_add(most)?;
        found.push((own, width(all)));
    }
    Some(found)
}

/// Walk from the root down, level by level.
pub(super) fn walk(file: &File<'_>, sizes: Sizes, root: u64, rows: &mut Rows<'_>) -> Found<()> {
    let length = sizes.address.saturating_add(sizes.length).saturating_add(22) as u64;
    let tree = known(head(&file.read(root, length)?, sizes))?;
    let Some(first) = tree.root else { return Ok(()) };
    if tree.total == 0 {
        return Ok(());
    }
    let widths = known(widths(&tree, sizes))?;
    let mut nodes = vec![(first, tree.records)];
    for level in (0..=usize::from(tree.depth)).rev() {
        let addresses: Vec<u64> = nodes.iter().map(|node| node.0).collect();
        let mut below = Vec::new();
        file.each(&addresses, tree.node, |i, bytes| {
            let records = usize::try_from(known(nodes.get(i))?.1).map_err(|_| Stop::Unknown)?;
            node(&tree, sizes, (level, records), &widths, bytes, &mut below, rows)
        })?;
        if below.len() as u64 > rows.grid.total.saturating_add(1) {
            return Err(Stop::Unknown);
        }
        nodes = below;
    }
    Ok(())
}

#[allow(clippy::too_many_arguments, reason = "all that a node depends on")]
fn node(
    tree: &Tree,
    sizes: Sizes,
    (level, records): (usize, usize),
    widths: &[(usize, usize)],
    bytes: &[u8],
    below: &mut Vec<(u64, u64)>,
    rows: &mut Rows<'_>,
) -> Found<()> {
    let (own, all) = *known(level.checked_sub(1).map_or(Some(&(0, 0)), |under| widths.get(under)))?;
    let children = if level > 0 { records.saturating_add(1) } else { 0 };
    let pointer = sizes.address.saturating_add(own).saturating_add(all);
    let length = records.saturating_mul(tree.record).saturating_add(children.saturating_mul(pointer));
    let mut from = known(checked(known(bytes.get(..length.saturating_add(10)))?))?;
    known(from.expect(if level > 0 { b"BTIN\x00" } else { b"BTLF\x00" }))?;
    known(from.expect(&[tree.kind]))?;
    for _ in 0..records {
        let mut record = super::cursor::Cursor(known(from.bytes(tree.record))?);
        let address = known(known(record.address(sizes.address))?)?;
        let (mut size, mut mask) = (rows.grid.bytes, 0);
        if tree.kind == 11 {
            let rank = rows.grid.chunks.len().saturating_mul(8);
            let width = known(record.0.len().checked_sub(rank).and_then(|n| n.checked_sub(4)))?;
            size = known(record.number(width))?;
            mask = known(record.small())?;
        }
        let number = known(rows.grid.number(std::iter::from_fn(|| record.number(8))))?;
        if !record.0.is_empty() {
            return Err(Stop::Unknown);
        }
        rows.add(number, address, size, mask)?;
    }
    for _ in 0..children {
        let mut child = super::cursor::Cursor(known(from.bytes(pointer))?);
        below.push((known(child.number(sizes.address))?, known(child.number(own))?));
    }
    Ok(())
}
