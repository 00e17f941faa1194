//! Extensible arrays: a few elements in the index block, then blocks that grow with their distance from the start, the
//! later ones of which are found by way of super blocks, and have pages.

use super::cursor::checked;
use super::file::{File, Found, Stop, known};
use super::fixed::{Elements, bit};
use super::grid::{Order, Rows};
use super::header::Sizes;

struct Head {
    kind: u8,
    elements: Elements,
    /// Bits of the number of elements that there can be.
    bits: u8,
    /// Elements in the index block.
    first: u64,
    /// Elements of the smallest data block.
    least: u64,
    /// Addresses of data blocks in the smallest super block.
    pointers: u64,
    page_bits: u8,
    index: Option<u64>,
}

fn head(bytes: &[u8], sizes: Sizes) -> Option<Head> {
    let mut from = checked(bytes)?;
    from.expect(b"EAHD\x00")?;
    let kind = from.byte()?;
    let elements = Elements::new(kind, from.byte()?, sizes)?;
    let bits = from.byte().filter(|bits| (1..=64).contains(bits))?;
    let first = u64::from(from.byte()?);
    let least = u64::from(from.byte()?);
    let pointers = u64::from(from.byte()?);
    let page_bits = from.byte().filter(|&bits| bits < 63)?;
    from.bytes(sizes.length.checked_mul(6)?)?;
    let index = from.address(sizes.address)?;
    let fits = least.is_power_of_two() && pointers.is_power_of_two() && least.ilog2() <= u32::from(bits);
    fits.then_some(Head { kind, elements, bits, first, least, pointers, page_bits, index })
}

/// The data blocks that belong together, as a super block lists them.
struct Level {
    /// How many.
    blocks: u64,
    /// Elements of each.
    each: u64,
    /// The place of their first element in the index.
    start: u64,
}

/// What the parts of a walk share.
struct Walk<'a> {
    file: &'a File<'a>,
    sizes: Sizes,
    root: u64,
    head: Head,
    order: Order,
}

/// Read the array.
pub(super) fn walk(file: &File<'_>, sizes: Sizes, root: u64, rows: &mut Rows<'_>) -> Found<()> {
    let length = sizes.address.saturating_add(sizes.length.saturating_mul(6)).saturating_add(16) as u64;
    let head = known(head(&file.read(root, length)?, sizes))?;
    let order = known(rows.grid.growing_order())?;
    let Some(index) = head.index else { return Ok(()) };
    Walk { file, sizes, root, head, order }.index_block(index, rows)
}

impl Walk<'_> {
    fn index_block(&self, address: u64, rows: &mut Rows<'_>) -> Found<()> {
        let (head, width) = (&self.head, self.sizes.address as u64);
        let levels = known(self.levels())?;
        // As many levels have their data blocks listed in the index block itself.
        let direct = usize::try_from(head.pointers.ilog2().saturating_mul(2)).unwrap_or_default();
        let blocks = head.pointers.saturating_sub(1).saturating_mul(2);
        let supers = levels.len().saturating_sub(direct) as u64;
        let elements = known(head.elements.bytes(head.first))?;
        let listed = known(blocks.checked_add(supers).and_then(|n| n.checked_mul(width)))?;
        let length = known(elements.checked_add(listed).and_then(|n| n.checked_add(width)?.checked_add(10)))?;
        let bytes = self.file.read(address, length)?;
        let mut from = known(self.frame(&bytes, b"EAIB\x00"))?;
        let own = known(from.bytes(usize::try_from(elements).map_err(|_| Stop::Unknown)?))?;
        head.elements.take(own, 0, &self.order, rows)?;
        for level in levels.iter().take(direct) {
            let mut addresses = Vec::new();
            for i in 0..level.blocks {
                if let Some(address) = known(from.address(self.sizes.address))? {
                    addresses.push((i, address));
                }
            }
            self.data_blocks(level, &addresses, &[], rows)?;
        }
        for level in levels.iter().skip(direct) {
            if let Some(address) = known(from.address(self.sizes.address))? {
                self.super_block(level, address, rows)?;
            }
        }
        Ok(())
    }

    /// The levels of data blocks that there can be.
    fn levels(&self) -> Option<Vec<Level>> {
        let head = &self.head;
        let count = u32::from(head.bits).checked_sub(head.least.ilog2())?.checked_add(1)?;
        let mut start = head.first;
        let mut levels = Vec::new();
        for level in 0..count {
            let blocks = 1_u64.checked_shl(level / 2)?;
            let each = head.least.checked_mul(1_u64.checked_shl(level.div_ceil(2))?);
            // Places past 2⁶⁴ are those of no chunk.
            let each = each.unwrap_or(u64::MAX);
            levels.push(Level { blocks, each, start });
            start = start.saturating_add(blocks.saturating_mul(each));
        }
        Some(levels)
    }

    /// What follows the frame of a block, its checksum checked.
    fn frame<'b>(&self, bytes: &'b [u8], signature: &[u8]) -> Option<super::cursor::Cursor<'b>> {
        let mut from = checked(bytes)?;
        from.expect(signature)?;
        from.expect(&[self.head.kind])?;
        (from.number(self.sizes.address)? == self.root).then_some(from)
    }

    /// Bytes of the place of a block in the array, which blocks begin with.
    fn place(&self) -> u64 {
        u64::from(self.head.bits).div_ceil(8)
    }

    /// Pages of a data block; 0: it has none.
    fn pages(&self, level: &Level) -> u64 {
        let page = 1_u64 << self.head.page_bits;
        if level.each > page { level.each >> self.head.page_bits } else { 0 }
    }

    fn super_block(&self, level: &Level, address: u64, rows: &mut Rows<'_>) -> Found<()> {
        let width = self.sizes.address as u64;
        let flags = known(self.pages(level).div_ceil(8).checked_mul(level.blocks))?;
        let listed = known(level.blocks.checked_mul(width))?;
        let frame = width.saturating_add(self.place()).saturating_add(10);
        let length = known(flags.checked_add(listed).and_then(|n| n.checked_add(frame)))?;
        let bytes = self.file.read(address, length)?;
        let mut from = known(self.frame(&bytes, b"EASB\x00"))?;
        known(from.number(usize::try_from(self.place()).unwrap_or_default()))?;
        let flags = known(from.bytes(usize::try_from(flags).map_err(|_| Stop::Unknown)?))?;
        let mut addresses = Vec::new();
        for i in 0..level.blocks {
            if let Some(address) = known(from.address(self.sizes.address))? {
                addresses.push((i, address));
            }
        }
        self.data_blocks(level, &addresses, flags, rows)
    }

    fn data_blocks(&self, level: &Level, blocks: &[(u64, u64)], flags: &[u8], rows: &mut Rows<'_>) -> Found<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        let frame = (self.sizes.address as u64).saturating_add(self.place()).saturating_add(10);
        let pages = self.pages(level);
        let page = 1_u64 << self.head.page_bits;
        let page_bytes = known(self.head.elements.bytes(page).and_then(|n| n.checked_add(4)))?;
        let body = if pages > 0 { pages.checked_mul(page_bytes) } else { self.head.elements.bytes(level.each) };
        let length = known(body.and_then(|n| n.checked_add(frame)))?;
        let addresses: Vec<u64> = blocks.iter().map(|block| block.1).collect();
        let frame = usize::try_from(frame).map_err(|_| Stop::Unknown)?;
        self.file.each(&addresses, length, |i, bytes| {
            let block = known(blocks.get(i))?.0;
            let first = level.start.saturating_add(block.saturating_mul(level.each));
            if pages == 0 {
                let whole = usize::try_from(length).map_err(|_| Stop::Unknown)?;
                let mut from = known(self.frame(known(bytes.get(..whole))?, b"EADB\x00"))?;
                known(from.number(usize::try_from(self.place()).unwrap_or_default()))?;
                return self.head.elements.take(from.0, first, &self.order, rows);
            }
            let (start, rest) = known(bytes.split_at_checked(frame))?;
            known(self.frame(start, b"EADB\x00"))?;
            let own = usize::try_from(page_bytes).map_err(|_| Stop::Unknown)?;
            for (number, bytes) in (0..pages).zip(rest.chunks(own.max(1))) {
                if bit(flags, block.saturating_mul(pages).saturating_add(number)) {
                    let elements = known(checked(bytes))?;
                    let first = first.saturating_add(number.saturating_mul(page));
                    self.head.elements.take(elements.0, first, &self.order, rows)?;
                }
            }
            Ok(())
        })
    }
}
