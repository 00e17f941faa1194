//! Fixed arrays: a place for each chunk that there can be, in one block that may have pages.

use super::cursor::{Cursor, checked};
use super::file::{File, Found, Stop, known};
use super::grid::{Order, Rows};
use super::header::Sizes;

/// The elements of an index: the address of a chunk and, if there are filters, its size and mask.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    pub(super) size: usize,
    address: usize,
    /// Bytes of the size of a chunk; 0 if there are no filters.
    width: usize,
}

impl Elements {
    /// Elements of so many bytes; `kind` 1 has filters.
    pub(super) fn new(kind: u8, size: u8, sizes: Sizes) -> Option<Self> {
        let (size, address) = (usize::from(size), sizes.address);
        let width = match kind {
            0 => (size == address).then_some(0)?,
            1 => size.checked_sub(address)?.checked_sub(4).filter(|width| (1..=8).contains(width))?,
            _ => return None,
        };
        Some(Self { size, address, width })
    }

    /// Add the chunks that elements speak of, the first of which is at `first` in the index.
    pub(super) fn take(&self, bytes: &[u8], first: u64, order: &Order, rows: &mut Rows<'_>) -> Found<()> {
        for (i, element) in (first..).zip(bytes.chunks_exact(self.size.max(1))) {
            let mut from = Cursor(element);
            let Some(address) = known(from.address(self.address))? else { continue };
            let (mut length, mut mask) = (rows.grid.bytes, 0);
            if self.width > 0 {
                length = known(from.number(self.width))?;
                mask = known(from.small())?;
            }
            if let Some(number) = order.number(i) {
                rows.add(number, address, length, mask)?;
            }
        }
        Ok(())
    }

    /// Bytes of a number of elements.
    pub(super) fn bytes(&self, count: u64) -> Option<u64> {
        count.checked_mul(self.size as u64)
    }
}

struct Head {
    kind: u8,
    elements: Elements,
    page_bits: u8,
    count: u64,
    block: Option<u64>,
}

fn head(bytes: &[u8], sizes: Sizes) -> Option<Head> {
    let mut from = checked(bytes)?;
    from.expect(b"FAHD\x00")?;
    let kind = from.byte()?;
    let elements = Elements::new(kind, from.byte()?, sizes)?;
    let page_bits = from.byte().filter(|&bits| bits < 63)?;
    Some(Head { kind, elements, page_bits, count: from.number(sizes.length)?, block: from.address(sizes.address)? })
}

/// Read the array.
pub(super) fn walk(file: &File<'_>, sizes: Sizes, root: u64, rows: &mut Rows<'_>) -> Found<()> {
    let length = sizes.address.saturating_add(sizes.length).saturating_add(12) as u64;
    let head = known(head(&file.read(root, length)?, sizes))?;
    let order = known(rows.grid.fixed_order())?;
    if rows.grid.most() != Some(head.count) {
        return Err(Stop::Unknown);
    }
    let Some(block) = head.block else { return Ok(()) };
    let page = 1_u64 << head.page_bits;
    let pages = if head.count > page { head.count.div_ceil(page) } else { 0 };
    let body = if pages > 0 { pages.div_ceil(8) } else { known(head.elements.bytes(head.count))? };
    let prefix = known(body.checked_add(sizes.address as u64).and_then(|n| n.checked_add(10)))?;
    let bytes = file.read(block, prefix)?;
    let mut from = known(checked(&bytes))?;
    known(from.expect(b"FADB\x00"))?;
    known(from.expect(&[head.kind]))?;
    if known(from.number(sizes.address))? != root {
        return Err(Stop::Unknown);
    }
    if pages == 0 {
        return head.elements.take(from.0, 0, &order, rows);
    }
    let first = known(block.checked_add(prefix))?;
    let there: Vec<u64> = (0..pages).filter(|&i| bit(from.0, i)).collect();
    let size = known(head.elements.bytes(page).and_then(|n| n.checked_add(4)))?;
    let address = |i: &u64| i.checked_mul(size).and_then(|at| first.checked_add(at));
    let addresses = known(there.iter().map(address).collect::<Option<Vec<u64>>>())?;
    file.each(&addresses, size, |i, bytes| {
        let number = known(there.get(i).copied())?;
        let start = number.saturating_mul(page);
        let own = known(head.elements.bytes(page.min(head.count.saturating_sub(start))))?;
        let own = usize::try_from(own).map_err(|_| Stop::Unknown)?.saturating_add(4);
        let elements = known(bytes.get(..own).and_then(checked))?;
        head.elements.take(elements.0, start, &order, rows)
    })
}

/// Whether a bit is set; the highest of each byte comes first.
pub(super) fn bit(bytes: &[u8], at: u64) -> bool {
    let byte = usize::try_from(at / 8).ok().and_then(|i| bytes.get(i)).copied().unwrap_or_default();
    byte & 0x80_u8.wrapping_shr(u32::try_from(at % 8).unwrap_or_default()) != 0
}
