//! Some rows of a record file, decoded into columns: those of a page, or a few.

use std::borrow::Cow;
use std::ops::Range;

use bytes::Bytes;

use super::bad::{Bad, Read};
use super::column::ColumnReader;
use super::footer::{Footer, OFFSET, PATH, RAW, SIZE};
use super::marks::Marks;
use super::numbers::Numbers;
use super::texts::Texts;
use crate::store::Object;

/// The bytes of a record file.
pub enum File<'a> {
    /// In memory.
    Memory(&'a [u8]),
    /// In a store.
    Stored(&'a dyn Object),
}

impl<'a> File<'a> {
    /// Its size.
    pub fn size(&self) -> u64 {
        match self {
            Self::Memory(data) => data.len() as u64,
            Self::Stored(object) => object.size(),
        }
    }

    /// Some of its bytes, fewer where it ends.
    pub fn read(&self, at: u64, length: usize) -> Read<Cow<'a, [u8]>> {
        let have = usize::try_from(self.size().saturating_sub(at)).unwrap_or(usize::MAX);
        let length = length.min(have);
        match self {
            Self::Memory(data) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX);
                Ok(Cow::Borrowed(data.get(start..start.saturating_add(length)).unwrap_or_default()))
            }
            Self::Stored(object) => {
                let mut bytes = vec![0; length];
                object.read_at(at, &mut bytes).map_err(|error| Bad::corrupt(error.to_string()))?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Read the footer.
    pub fn footer(&self) -> Read<Footer> {
        let size = self.size();
        let tail = self.read(size.saturating_sub(8), 8)?;
        let Some((length, magic)) = tail.split_first_chunk::<4>() else {
            return Err(Bad::corrupt(format!("a file of {size} bytes is no parquet")));
        };
        match magic {
            b"PAR1" => {}
            b"PARE" => return Err(Bad::unsupported("the file is encrypted")),
            _ => return Err(Bad::corrupt("this is no parquet, or it is cut short")),
        }
        let length = u64::from(u32::from_le_bytes(*length));
        let end = size.checked_sub(8).and_then(|end| end.checked_sub(length)).filter(|&end| end >= 4);
        let end = end.ok_or_else(|| Bad::corrupt("the footer is longer than the file"))?;
        Footer::parse(&self.read(end, usize::try_from(length).unwrap_or(usize::MAX))?, end)
    }
}

/// What a row says.
#[derive(Debug, PartialEq, Eq)]
pub enum Row {
    Missing,
    Inline(Bytes),
    /// The number of its path, offset and size; whole if both are 0.
    At(u32, u64, u64),
}

/// Decoded rows.
pub struct Part {
    /// Which of the record's.
    pub rows: Range<u64>,
    /// Where references lead.
    pub paths: Texts,
    offsets: Numbers,
    sizes: Numbers,
    raws: Texts,
}

impl Part {
    /// Rows that are not in the file.
    pub fn missing(rows: Range<u64>) -> Self {
        Self {
            rows,
            paths: Texts::default(),
            offsets: Numbers::default(),
            sizes: Numbers::default(),
            raws: Texts::default(),
        }
    }

    /// Read the rows of the page that has this one; `most` bounds the bytes of a page. The marks are those of this file
    /// in this state.
    pub fn read(file: &File<'_>, footer: &Footer, row: u64, most: usize, marks: &mut Marks) -> Read<Self> {
        let Some((number, group)) = footer.group_of(row) else { return Ok(Self::missing(row..u64::MAX)) };
        let first = group.first;
        let at = row.saturating_sub(first);
        let reader = |i: usize| ColumnReader::new(file, footer, (number, group), i, most);
        let lead = match reader(PATH)? {
            Some(path) => Some(path),
            None => reader(RAW)?,
        };
        let Some(lead) = lead else { return Ok(Self::missing(first..first.saturating_add(group.rows))) };
        let rows = lead.page_of(at, marks)?;
        let mut texts = |i: usize| reader(i)?.map_or(Ok(Texts::default()), |column| column.texts(&rows, marks));
        let (paths, raws) = (texts(PATH)?, texts(RAW)?);
        let mut ints = |i: usize| reader(i)?.map_or(Ok(Numbers::default()), |column| column.ints(&rows, marks));
        Ok(Self {
            paths,
            offsets: ints(OFFSET)?,
            sizes: ints(SIZE)?,
            raws,
            rows: first.saturating_add(rows.start)..first.saturating_add(rows.end),
        })
    }

    /// What the row says that is this far behind the first.
    pub fn row(&self, i: usize) -> Row {
        if let Some(number) = self.raws.number(i) {
            return Row::Inline(self.raws.text(number));
        }
        match self.paths.number(i) {
            None => Row::Missing,
            Some(path) => Row::At(path, self.offsets.get(i), self.sizes.get(i)),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        usize::try_from(self.rows.end.saturating_sub(self.rows.start)).unwrap_or(usize::MAX)
    }

    /// Whether every row is missing.
    pub fn is_missing(&self) -> bool {
        self.paths.len() == 0 && self.raws.len() == 0
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        let numbers = self.offsets.bytes().saturating_add(self.sizes.bytes());
        self.paths.bytes().saturating_add(self.raws.bytes()).saturating_add(numbers).saturating_add(256)
    }
}
