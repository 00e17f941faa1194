//! A column of a row group: its pages found, and the rows of some decoded.

use std::ops::Range;

use super::bad::{Bad, Read};
use super::footer::{Column, ColumnChunk, Footer, Group, Kind, NAMES};
use super::numbers::Numbers;
use super::page::{Header, Sort};
use super::part::File;
use super::texts::{NONE, Texts, TextsBuilder};
use super::values::{Delta, Hybrid, Ints, Strings, plain, plain_bytes, unknown};

/// How far headers of pages are read ahead where the file is not in memory.
const AHEAD: usize = 16 << 10;

/// How many numbers of texts are taken at a time.
const BLOCK: usize = 4096;

/// A column of a group, ready to be read.
pub struct ColumnReader<'a, 'f> {
    file: &'a File<'f>,
    chunk: ColumnChunk,
    column: Column,
    name: &'static str,
    rows: u64,
    most: usize,
}

/// Where a page is: its header, the place of its bytes, and the rows of the group that it has.
struct Place {
    header: Header,
    at: u64,
    rows: Range<u64>,
}

/// A page to be decoded.
struct Page<'a> {
    encoding: i64,
    values: &'a [u8],
    levels: Option<Hybrid<'a>>,
    /// How many values it has, nulls included.
    count: usize,
    /// The rows to decode.
    take: Range<usize>,
}

/// What takes decoded values.
trait Sink {
    fn dictionary(&mut self, data: &[u8], count: usize) -> Read<()>;
    fn page(&mut self, page: Page<'_>) -> Read<()>;
}

impl<'a, 'f> ColumnReader<'a, 'f> {
    /// A column by its number in [`NAMES`]; `None` if the file has nothing but nulls for it.
    pub fn new(file: &'a File<'f>, footer: &Footer, group: &Group, i: usize, most: usize) -> Read<Option<Self>> {
        let Some(column) = footer.columns.get(i).copied().flatten() else { return Ok(None) };
        if column.kind == Kind::Null {
            return Ok(None);
        }
        let name = NAMES.get(i).copied().unwrap_or_default();
        let Some(chunk) = group.chunks.get(i).copied().flatten() else {
            return Err(Bad::corrupt(format!("a row group lacks the column {name}")));
        };
        Ok(Some(Self { file, chunk, column, name, rows: group.rows, most }))
    }

    fn early(&self) -> Bad {
        Bad::corrupt(format!("the column {} has fewer rows than its group", self.name))
    }

    /// Go from page to page until `each` says `false`.
    fn walk(&self, mut each: impl FnMut(Place) -> Read<bool>) -> Read<()> {
        let end = self.chunk.start.saturating_add(self.chunk.length);
        let (mut at, mut row) = (self.chunk.start, 0u64);
        while at < end && row < self.rows {
            let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
            let ahead = if matches!(self.file, File::Memory(_)) { left } else { left.min(AHEAD) };
            let parsed = match Header::parse(&self.file.read(at, ahead)?) {
                Err(_) if ahead < left => Header::parse(&self.file.read(at, left)?),
                parsed => parsed,
            };
            let (header, length) = parsed?;
            let body = at.saturating_add(length as u64);
            let next = body.saturating_add(header.packed as u64);
            if next > end {
                return Err(Bad::corrupt(format!("a page of the column {} lies outside it", self.name)));
            }
            let first = row;
            if matches!(header.sort, Sort::Data | Sort::DataV2) {
                row = row.saturating_add(header.values as u64);
            }
            if !each(Place { header, at: body, rows: first..row.min(self.rows) })? {
                return Ok(());
            }
            at = next;
        }
        Ok(())
    }

    /// The rows of the page that has this one.
    pub fn page_of(&self, row: u64) -> Read<Range<u64>> {
        let mut found = None;
        self.walk(|place| {
            found = Some(place.rows).filter(|rows| rows.contains(&row));
            Ok(found.is_none())
        })?;
        found.ok_or_else(|| self.early())
    }

    fn unpack(&self, place: &Place, most: usize) -> Read<Vec<u8>> {
        let data = self.file.read(place.at, place.header.packed)?;
        place.header.unpack(self.chunk.codec, &data, most.min(self.most))
    }

    fn decode(&self, rows: &Range<u64>, sink: &mut dyn Sink) -> Read<()> {
        let (mut dictionary, mut next) = (None, rows.start);
        let most = |values: usize| match self.column.kind {
            Kind::Bytes => usize::MAX,
            // No encoding of numbers needs more.
            _ => values.saturating_mul(16).saturating_add(64 << 10),
        };
        self.walk(|place| {
            if place.header.sort == Sort::Dictionary {
                dictionary = Some(place);
                return Ok(true);
            }
            if place.rows.end <= rows.start || place.rows.is_empty() {
                return Ok(true);
            }
            if let Some(place) = dictionary.take() {
                if !matches!(place.header.encoding, 0 | 2) {
                    return Err(Bad::unsupported("a dictionary of an unknown encoding"));
                }
                sink.dictionary(&self.unpack(&place, most(place.header.values))?, place.header.values)?;
            }
            let data = self.unpack(&place, most(place.header.values))?;
            let take = rows.start.max(place.rows.start)..rows.end.min(place.rows.end);
            next = take.end;
            sink.page(self.page(&place, &data, take)?)?;
            Ok(place.rows.end < rows.end)
        })?;
        if next == rows.end { Ok(()) } else { Err(self.early()) }
    }

    fn page<'p>(&self, place: &Place, data: &'p [u8], take: Range<u64>) -> Read<Page<'p>> {
        let short = || Bad::corrupt("a page is shorter than its levels");
        let (levels, values) = match place.header.sort {
            Sort::DataV2 => data.split_at_checked(place.header.levels).ok_or_else(short)?,
            _ if self.column.optional => {
                let (length, rest) = data.split_first_chunk::<4>().ok_or_else(short)?;
                rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(short)?
            }
            _ => (&[][..], data),
        };
        let within = |row: u64| usize::try_from(row.saturating_sub(place.rows.start)).unwrap_or(usize::MAX);
        Ok(Page {
            encoding: place.header.encoding,
            values,
            levels: if self.column.optional { Some(Hybrid::new(levels, 1)?) } else { None },
            count: place.header.values,
            take: within(take.start)..within(take.end),
        })
    }

    /// Decode integers; nulls are 0.
    pub fn ints(&self, rows: &Range<u64>) -> Read<Numbers> {
        let mut sink =
            IntSink { kind: self.column.kind, name: self.name, dictionary: Vec::new(), values: Numbers::default() };
        self.decode(rows, &mut sink)?;
        Ok(sink.values)
    }

    /// Decode texts.
    pub fn texts(&self, rows: &Range<u64>) -> Read<Texts> {
        let mut sink = TextSink::default();
        self.decode(rows, &mut sink)?;
        Ok(sink.texts.finish())
    }
}

/// The numbers of values in a dictionary.
fn indices(data: &[u8]) -> Read<Hybrid<'_>> {
    match data.split_first() {
        Some((&width, rest)) => Hybrid::new(rest, u32::from(width)),
        // A page of nulls alone.
        None => Hybrid::new(data, 1),
    }
}

fn unknown_encoding(encoding: i64) -> Bad {
    Bad::unsupported(format!("values in the encoding of number {encoding}"))
}

struct IntSink {
    kind: Kind,
    name: &'static str,
    dictionary: Vec<i64>,
    values: Numbers,
}

impl Sink for IntSink {
    fn dictionary(&mut self, mut data: &[u8], count: usize) -> Read<()> {
        self.dictionary.clear();
        for _ in 0..count {
            let (value, rest) = plain(data, self.kind)?;
            self.dictionary.push(value);
            data = rest;
        }
        Ok(())
    }

    fn page(&mut self, page: Page<'_>) -> Read<()> {
        let name = self.name;
        let mut values = match page.encoding {
            0 => Ints::Plain(page.values, self.kind),
            2 | 8 => Ints::Dictionary(indices(page.values)?, &self.dictionary),
            5 if self.kind != Kind::Double => Ints::Delta(Delta::new(page.values)?),
            other => return Err(unknown_encoding(other)),
        };
        self.values.reserve(page.take.len());
        let column = &mut self.values;
        runs(page.levels, &page.take, |there, skipped, kept| {
            if there {
                values.skip(skipped)?;
                let fine = values.take(kept, column)?;
                return fine.ok_or_else(|| Bad::corrupt(format!("the column {name} has negative numbers")));
            }
            column.push(0, kept);
            Ok(())
        })
    }
}

/// Go through runs of rows that have values, or have none: whether they do, how many of them come before the rows that are
/// to be taken, and how many are.
fn runs(
    mut levels: Option<Hybrid<'_>>,
    take: &Range<usize>,
    mut each: impl FnMut(bool, usize, usize) -> Read<()>,
) -> Read<()> {
    let mut row = 0usize;
    while row < take.end {
        let left = take.end.saturating_sub(row);
        let (level, count) = levels.as_mut().map_or(Ok((1, left)), |levels| levels.run(left))?;
        let skipped = take.start.saturating_sub(row).min(count);
        each(level != 0, skipped, count.saturating_sub(skipped))?;
        row = row.saturating_add(count);
    }
    Ok(())
}

#[derive(Default)]
struct TextSink {
    texts: TextsBuilder,
    data: Vec<u8>,
    spans: Vec<Range<usize>>,
    /// The numbers under which texts of the dictionary have been added.
    numbers: Vec<u32>,
}

fn too_much() -> Bad {
    Bad::large("texts of more than four gigabytes")
}

impl TextSink {
    fn push_from_dictionary(&mut self, index: usize, count: usize) -> Read<()> {
        let slot = self.numbers.get_mut(index).ok_or_else(unknown)?;
        if *slot == NONE {
            let text = self.spans.get(index).and_then(|span| self.data.get(span.clone())).ok_or_else(unknown)?;
            *slot = self.texts.add(text).ok_or_else(too_much)?;
        }
        self.texts.push_numbers(*slot, count);
        Ok(())
    }
}

impl Sink for TextSink {
    fn dictionary(&mut self, data: &[u8], count: usize) -> Read<()> {
        self.data = data.to_vec();
        self.spans.clear();
        let mut rest = data;
        for _ in 0..count {
            let (text, after) = plain_bytes(rest)?;
            let end = data.len().saturating_sub(after.len());
            self.spans.push(end.saturating_sub(text.len())..end);
            rest = after;
        }
        self.numbers = vec![NONE; self.spans.len()];
        Ok(())
    }

    fn page(&mut self, page: Page<'_>) -> Read<()> {
        let mut strings = match page.encoding {
            0 => Strings::Plain(page.values),
            6 => Strings::with_lengths(page.values, page.count)?,
            2 | 8 => {
                let (mut indices, mut block) = (indices(page.values)?, Vec::new());
                return runs(page.levels, &page.take, |there, mut skipped, mut kept| {
                    if !there {
                        self.texts.push_none(kept);
                        return Ok(());
                    }
                    while skipped > 0 {
                        skipped = skipped.saturating_sub(indices.run(skipped)?.1);
                    }
                    while kept > 0 {
                        block.clear();
                        indices.take(kept.min(BLOCK), &mut block)?;
                        for same in block.chunk_by(|one, other| one == other) {
                            let index = same.first().copied().unwrap_or_default() as usize;
                            self.push_from_dictionary(index, same.len())?;
                        }
                        kept = kept.saturating_sub(block.len());
                    }
                    Ok(())
                });
            }
            other => return Err(unknown_encoding(other)),
        };
        runs(page.levels, &page.take, |there, skipped, kept| {
            if !there {
                self.texts.push_none(kept);
                return Ok(());
            }
            for _ in 0..skipped {
                strings.next()?;
            }
            for _ in 0..kept {
                self.texts.push(strings.next()?).ok_or_else(too_much)?;
            }
            Ok(())
        })
    }
}
