//! Values one after the other, in the encodings of parquet.

use super::bad::{Bad, Read};
use super::footer::Kind;
use super::numbers::Numbers;
use super::thrift::Input;

fn short() -> Bad {
    Bad::corrupt("a page ends too early")
}

/// Up to 64 bits from a bit's place on.
fn bits(data: &[u8], at: u64, width: u32) -> Read<u64> {
    let start = usize::try_from(at / 8).unwrap_or(usize::MAX);
    let rest = data.get(start..).unwrap_or_default();
    let window = match rest.first_chunk::<16>() {
        Some(exact) => *exact,
        None => {
            let have = (rest.len() as u64).saturating_mul(8).saturating_sub(at % 8);
            if u64::from(width) > have {
                return Err(short());
            }
            let mut window = [0u8; 16];
            window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            window
        }
    };
    let mask = if width >= 64 { u64::MAX } else { 1u64.wrapping_shl(width).wrapping_sub(1) };
    Ok((u128::from_le_bytes(window) >> (at % 8)) as u64 & mask)
}

/// Small numbers as runs and packed bits, mixed.
pub struct Hybrid<'a> {
    data: &'a [u8],
    width: u32,
    run: u64,
    value: u64,
    packed: u64,
    bit: u64,
}

impl<'a> Hybrid<'a> {
    /// Numbers of `width` bits.
    pub fn new(data: &'a [u8], width: u32) -> Read<Self> {
        if width > 32 {
            return Err(Bad::corrupt("numbers of more than 32 bits"));
        }
        Ok(Self { data, width, run: 0, value: 0, packed: 0, bit: 0 })
    }

    /// The next number.
    pub fn next(&mut self) -> Read<usize> {
        loop {
            if self.run > 0 {
                self.run = self.run.wrapping_sub(1);
                break Ok(self.value as usize);
            }
            if self.packed > 0 {
                self.packed = self.packed.wrapping_sub(1);
                let value = bits(self.data, self.bit, self.width)?;
                self.bit = self.bit.saturating_add(u64::from(self.width));
                if self.packed == 0 {
                    self.advance(usize::try_from(self.bit / 8).unwrap_or(usize::MAX));
                }
                break Ok(value as usize);
            }
            if self.width == 0 {
                break Ok(0);
            }
            self.begin()?;
        }
    }

    /// The next numbers as long as they are the same, as far as that is told by a run: the number, and how many.
    pub fn run(&mut self, most: usize) -> Read<(usize, usize)> {
        let value = self.next()?;
        let left = most.saturating_sub(1);
        let more = usize::try_from(self.run).unwrap_or(usize::MAX).min(left);
        self.run = self.run.saturating_sub(more as u64);
        let more = if self.width == 1 && self.packed > 0 { self.same_bits(value, left) } else { more };
        Ok((value, more.saturating_add(1)))
    }

    /// Add the next numbers to others, many at a time.
    pub fn take(&mut self, mut n: usize, out: &mut Vec<u32>) -> Read<()> {
        while n > 0 {
            if self.run > 0 || self.width == 0 {
                let count = if self.width == 0 { n } else { usize::try_from(self.run).unwrap_or(usize::MAX).min(n) };
                out.extend(std::iter::repeat_n(self.value as u32, count));
                self.run = self.run.saturating_sub(count as u64);
                n = n.saturating_sub(count);
            } else if self.packed > 0 {
                let count = usize::try_from(self.packed).unwrap_or(usize::MAX).min(n);
                self.unpack(count, out)?;
                n = n.saturating_sub(count);
            } else {
                self.begin()?;
            }
        }
        Ok(())
    }

    /// Add packed numbers to others: as many as asked for, which are there.
    fn unpack(&mut self, count: usize, out: &mut Vec<u32>) -> Read<()> {
        let mut left = count;
        // Eight numbers of up to eight bits are as many bytes as one has bits.
        let width = self.width as usize;
        if (1..=8).contains(&width) && self.bit.is_multiple_of(8) {
            let start = usize::try_from(self.bit / 8).unwrap_or(usize::MAX);
            let mask = 1u64.wrapping_shl(self.width).wrapping_sub(1);
            let groups = self.data.get(start..).unwrap_or_default().chunks_exact(width);
            for group in groups.take(left / 8) {
                let mut window = [0u8; 8];
                window.iter_mut().zip(group).for_each(|(to, from)| *to = *from);
                let mut word = u64::from_le_bytes(window);
                out.extend(std::array::from_fn::<u32, 8, _>(|_| {
                    let value = (word & mask) as u32;
                    word = word.wrapping_shr(self.width);
                    value
                }));
                left = left.saturating_sub(8);
            }
        }
        let done = count.saturating_sub(left) as u64;
        self.bit = self.bit.saturating_add(done.saturating_mul(u64::from(self.width)));
        for _ in 0..left {
            out.push(bits(self.data, self.bit, self.width)? as u32);
            self.bit = self.bit.saturating_add(u64::from(self.width));
        }
        self.packed = self.packed.saturating_sub(count as u64);
        if self.packed == 0 {
            self.advance(usize::try_from(self.bit / 8).unwrap_or(usize::MAX));
        }
        Ok(())
    }

    /// Take packed bits as long as they are the same: fastparquet packs levels even if no row is null.
    fn same_bits(&mut self, value: usize, most: usize) -> usize {
        let mut taken = 0usize;
        while taken < most && self.packed > 0 {
            let n = self.packed.min(most.saturating_sub(taken) as u64).min(56) as u32;
            let Ok(window) = bits(self.data, self.bit, n) else { break };
            let others = if value == 1 { !window } else { window };
            let same = others.trailing_zeros().min(n);
            taken = taken.saturating_add(same as usize);
            self.packed = self.packed.saturating_sub(u64::from(same));
            self.bit = self.bit.saturating_add(u64::from(same));
            if self.packed == 0 {
                self.advance(usize::try_from(self.bit / 8).unwrap_or(usize::MAX));
            }
            if same < n {
                break;
            }
        }
        taken
    }

    fn advance(&mut self, by: usize) {
        self.data = self.data.get(by..).unwrap_or_default();
        self.bit = 0;
    }

    fn begin(&mut self) -> Read<()> {
        if self.data.is_empty() {
            return Err(short());
        }
        let mut head = Input::new(self.data);
        let word = head.varint().map_err(|_| short())?;
        self.advance(head.at());
        if word & 1 == 1 {
            if self.data.is_empty() {
                return Err(short());
            }
            // The last group may be cut short; what is not there is never asked for.
            self.packed = (word >> 1).saturating_mul(8);
            return Ok(());
        }
        let bytes = self.width.div_ceil(8) as usize;
        if self.data.len() < bytes {
            return Err(short());
        }
        self.value = bits(self.data, 0, self.width)?;
        self.run = word >> 1;
        self.advance(bytes);
        Ok(())
    }
}

/// Numbers as differences, in blocks of packed bits.
pub struct Delta<'a> {
    data: &'a [u8],
    per_mini: u64,
    minis: usize,
    left: u64,
    value: i64,
    first: bool,
    step: i64,
    widths: Vec<u8>,
    mini: usize,
    in_mini: u64,
    bit: u64,
}

impl<'a> Delta<'a> {
    /// Read the head.
    pub fn new(data: &'a [u8]) -> Read<Self> {
        let mut head = Input::new(data);
        let (block, minis, left) = (head.varint()?, head.varint()?, head.varint()?);
        let value = head.number()?;
        let per_mini = block.checked_div(minis).unwrap_or(0);
        if !(1..=1024).contains(&minis) || per_mini == 0 || !per_mini.is_multiple_of(8) || per_mini > 1 << 24 {
            return Err(Bad::corrupt("differences in blocks of an odd size"));
        }
        let data = data.get(head.at()..).unwrap_or_default();
        let minis = usize::try_from(minis).unwrap_or(1);
        let widths = Vec::new();
        Ok(Self { data, per_mini, minis, left, value, first: true, step: 0, widths, mini: 0, in_mini: 0, bit: 0 })
    }

    /// How many numbers there are, as the head says.
    pub fn count(&self) -> u64 {
        self.left
    }

    /// The next number.
    pub fn next(&mut self) -> Read<i64> {
        self.left = self.left.checked_sub(1).ok_or_else(short)?;
        if std::mem::take(&mut self.first) {
            return Ok(self.value);
        }
        if self.in_mini == self.per_mini {
            self.close_mini()?;
        }
        if self.mini >= self.widths.len() {
            self.begin_block()?;
        }
        let width = u32::from(self.widths.get(self.mini).copied().unwrap_or(0));
        let delta = bits(self.data, self.bit, width)?;
        self.bit = self.bit.saturating_add(u64::from(width));
        self.in_mini = self.in_mini.saturating_add(1);
        self.value = self.value.wrapping_add(self.step).wrapping_add(delta.cast_signed());
        Ok(self.value)
    }

    fn close_mini(&mut self) -> Read<()> {
        let width = u64::from(self.widths.get(self.mini).copied().unwrap_or(0));
        let bytes = usize::try_from(self.per_mini.saturating_mul(width) / 8).unwrap_or(usize::MAX);
        self.data = self.data.get(bytes..).ok_or_else(short)?;
        self.mini = self.mini.saturating_add(1);
        (self.in_mini, self.bit) = (0, 0);
        Ok(())
    }

    fn begin_block(&mut self) -> Read<()> {
        let mut head = Input::new(self.data);
        self.step = head.number()?;
        let rest = self.data.get(head.at()..).unwrap_or_default();
        let (widths, rest) = rest.split_at_checked(self.minis).ok_or_else(short)?;
        if widths.iter().any(|&width| width > 64) {
            return Err(Bad::corrupt("differences of more than 64 bits"));
        }
        self.widths = widths.to_vec();
        (self.data, self.mini, self.in_mini, self.bit) = (rest, 0, 0, 0);
        Ok(())
    }

    /// What follows after the last number.
    pub fn rest(mut self) -> Read<&'a [u8]> {
        if self.in_mini > 0 {
            self.close_mini()?;
        }
        Ok(self.data)
    }
}

/// Integers of a page.
pub enum Ints<'a> {
    Plain(&'a [u8], Kind),
    Dictionary(Hybrid<'a>, &'a [i64]),
    Delta(Delta<'a>),
}

impl Ints<'_> {
    /// The next integer.
    pub fn next(&mut self) -> Read<i64> {
        match self {
            Self::Plain(data, kind) => {
                let (value, rest) = plain(data, *kind)?;
                *data = rest;
                Ok(value)
            }
            Self::Dictionary(indices, dictionary) => dictionary.get(indices.next()?).copied().ok_or_else(unknown),
            Self::Delta(delta) => delta.next(),
        }
    }

    /// Pass over some.
    pub fn skip(&mut self, n: usize) -> Read<()> {
        for _ in 0..n {
            self.next()?;
        }
        Ok(())
    }

    /// Add some to a column; `None` if one is negative.
    pub fn take(&mut self, n: usize, out: &mut Numbers) -> Read<Option<()>> {
        match self {
            Self::Plain(data, Kind::Int64) => {
                let (values, rest) = data.split_at_checked(n.saturating_mul(8)).ok_or_else(short)?;
                *data = rest;
                let values = values.as_chunks::<8>().0;
                out.extend(values);
                // All signs at once, which is faster than one by one.
                let signs = values.iter().fold(0, |signs, bytes| signs | u64::from_le_bytes(*bytes));
                Ok((signs >> 63 == 0).then_some(()))
            }
            Self::Dictionary(indices, dictionary) => {
                let mut left = n;
                while left > 0 {
                    let (index, count) = indices.run(left)?;
                    let value = dictionary.get(index).copied().ok_or_else(unknown)?;
                    let Ok(value) = u64::try_from(value) else { return Ok(None) };
                    out.push(value, count);
                    left = left.saturating_sub(count);
                }
                Ok(Some(()))
            }
            _ => {
                for _ in 0..n {
                    let Ok(value) = u64::try_from(self.next()?) else { return Ok(None) };
                    out.push(value, 1);
                }
                Ok(Some(()))
            }
        }
    }
}

/// The value of a dictionary that is not there.
pub fn unknown() -> Bad {
    Bad::corrupt("a value has a number that its dictionary does not have")
}

/// One integer and what follows it.
pub fn plain(data: &[u8], kind: Kind) -> Read<(i64, &[u8])> {
    Ok(match kind {
        Kind::Int32 => {
            let (bytes, rest) = data.split_first_chunk::<4>().ok_or_else(short)?;
            (i64::from(i32::from_le_bytes(*bytes)), rest)
        }
        Kind::Double => {
            let (bytes, rest) = data.split_first_chunk::<8>().ok_or_else(short)?;
            let value = f64::from_le_bytes(*bytes);
            if value.fract() != 0.0 || !(-9e15..=9e15).contains(&value) {
                return Err(Bad::corrupt(format!("the offset or size {value} is no whole number")));
            }
            (value as i64, rest)
        }
        _ => {
            let (bytes, rest) = data.split_first_chunk::<8>().ok_or_else(short)?;
            (i64::from_le_bytes(*bytes), rest)
        }
    })
}

/// One text with its length in front, and what follows it.
pub fn plain_bytes(data: &[u8]) -> Read<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<4>().ok_or_else(short)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    rest.split_at_checked(length).ok_or_else(short)
}

/// Texts of a page that are not in a dictionary.
pub enum Strings<'a> {
    Plain(&'a [u8]),
    /// Their lengths, and all of them without a gap.
    Lengths(Delta<'a>, &'a [u8]),
}

impl<'a> Strings<'a> {
    /// Texts whose lengths come first, as differences.
    pub fn with_lengths(data: &'a [u8], most: usize) -> Read<Self> {
        let mut lengths = Delta::new(data)?;
        let count = usize::try_from(lengths.count()).unwrap_or(usize::MAX);
        if count > most {
            return Err(Bad::corrupt("a page has more texts than rows"));
        }
        for _ in 0..count {
            lengths.next()?;
        }
        Ok(Self::Lengths(Delta::new(data)?, lengths.rest()?))
    }

    /// The next text.
    pub fn next(&mut self) -> Read<&'a [u8]> {
        match self {
            Self::Plain(data) => {
                let (text, rest) = plain_bytes(data)?;
                *data = rest;
                Ok(text)
            }
            Self::Lengths(lengths, data) => {
                let length = usize::try_from(lengths.next()?).map_err(|_| short())?;
                let (text, rest) = data.split_at_checked(length).ok_or_else(short)?;
                *data = rest;
                Ok(text)
            }
        }
    }
}
