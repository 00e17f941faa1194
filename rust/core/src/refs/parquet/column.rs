//! A column of a row group: its pages found, and the rows of some decoded.

use std::borrow::Cow;
use std::ops::Range;

use super::bad::{Bad, Read};
use super::dictionary::Dictionary;
use super::footer::{Column, ColumnChunk, Footer, Group, Kind, NAMES};
use super::marks::{Mark, Marker, Marks};
use super::numbers::Numbers;
use super::page::{Header, Sort};
use super::part::File;
use super::texts::{Texts, TextsBuilder};
use super::values::{Delta, Hybrid, Ints, Strings, unknown};

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
    /// Numbers of the group and of the column.
    number: (usize, usize),
    rows: u64,
    most: usize,
}

/// Where a page is: its header, the place of its bytes, and the rows of the group that it has.
struct Place {
    header: Header,
    at: u64,
    rows: Range<u64>,
}

/// A dictionary that lies before a page: where its header begins and, if it has been passed, what that says and where the
/// bytes behind it are.
#[derive(Clone, Copy)]
struct Before {
    from: u64,
    passed: Option<(Header, u64)>,
}

/// Bytes of a column that have been read already.
#[derive(Default)]
struct Ahead<'f> {
    start: u64,
    bytes: Cow<'f, [u8]>,
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
    /// The place for a dictionary.
    fn dictionary(&mut self) -> &mut Dictionary;
    /// The dictionary is another than before.
    fn begin(&mut self) {}
    fn page(&mut self, page: Page<'_>) -> Read<()>;
}

impl<'a, 'f> ColumnReader<'a, 'f> {
    /// A column of a group by its number in [`NAMES`]; `None` if the file has nothing but nulls for it.
    pub fn new(
        file: &'a File<'f>,
        footer: &Footer,
        (number, group): (usize, &Group),
        i: usize,
        most: usize,
    ) -> Read<Option<Self>> {
        let Some(column) = footer.columns.get(i).copied().flatten() else { return Ok(None) };
        if column.kind == Kind::Null {
            return Ok(None);
        }
        let name = NAMES.get(i).copied().unwrap_or_default();
        let Some(chunk) = group.chunks.get(i).copied().flatten() else {
            return Err(Bad::corrupt(format!("a row group lacks the column {name}")));
        };
        Ok(Some(Self { file, chunk, column, name, number: (number, i), rows: group.rows, most }))
    }

    fn early(&self) -> Bad {
        Bad::corrupt(format!("the column {} has fewer rows than its group", self.name))
    }

    fn end(&self) -> u64 {
        self.chunk.start.saturating_add(self.chunk.length)
    }

    /// The header at a place, and where the bytes behind it begin.
    fn header(&self, at: u64, ahead: &mut Ahead<'f>) -> Read<(Header, u64)> {
        let left = usize::try_from(self.end().saturating_sub(at)).unwrap_or(usize::MAX);
        let skip = at.checked_sub(ahead.start).and_then(|skip| usize::try_from(skip).ok());
        let have = skip.and_then(|skip| ahead.bytes.get(skip..)).unwrap_or_default();
        let known = if have.is_empty() { None } else { Header::parse(have).ok() };
        let (header, length) = match known {
            Some(known) => known,
            None => {
                let mut some = if matches!(self.file, File::Memory(_)) { left } else { left.min(AHEAD) };
                loop {
                    *ahead = Ahead { start: at, bytes: self.file.read(at, some)? };
                    match Header::parse(&ahead.bytes) {
                        // It may be longer.
                        Err(_) if some < left => some = some.saturating_mul(8).min(left),
                        parsed => break parsed?,
                    }
                }
            }
        };
        Ok((header, at.saturating_add(length as u64)))
    }

    /// Go from page to page until `each` says `false`, from one that begins no later than a row. It gets pages with rows
    /// alone, and the last dictionary before each.
    fn walk(&self, row: u64, marks: &mut Marks, mut each: impl FnMut(Place, Option<Before>) -> Read<bool>) -> Read<()> {
        let start = marks.before(self.number, row);
        let (mut at, mut row) = start.map_or((self.chunk.start, 0), |mark| (mark.at, mark.row));
        let mut dictionary = start.and_then(|mark| mark.dictionary).map(|from| Before { from, passed: None });
        let (mut marker, mut ahead) = (Marker::default(), Ahead::default());
        while at < self.end() && row < self.rows {
            let (header, body) = self.header(at, &mut ahead)?;
            let next = body.saturating_add(header.packed as u64);
            if next > self.end() {
                return Err(Bad::corrupt(format!("a page of the column {} lies outside it", self.name)));
            }
            match header.sort {
                Sort::Dictionary => dictionary = Some(Before { from: at, passed: Some((header, body)) }),
                Sort::Data | Sort::DataV2 if header.values > 0 => {
                    let mark = Mark { row, at, dictionary: dictionary.map(|one| one.from) };
                    marker.pass(marks, self.number, mark, self.file.size());
                    let first = row;
                    row = row.saturating_add(header.values as u64);
                    if !each(Place { header, at: body, rows: first..row.min(self.rows) }, dictionary)? {
                        return Ok(());
                    }
                }
                _ => {}
            }
            at = next;
        }
        Ok(())
    }

    /// The rows of the page that has this one.
    pub fn page_of(&self, row: u64, marks: &mut Marks) -> Read<Range<u64>> {
        let mut found = None;
        self.walk(row, marks, |place, _| {
            found = Some(place.rows).filter(|rows| rows.contains(&row));
            Ok(found.is_none())
        })?;
        found.ok_or_else(|| self.early())
    }

    fn unpack(&self, header: &Header, at: u64) -> Read<Vec<u8>> {
        let most = match self.column.kind {
            Kind::Bytes => usize::MAX,
            // No encoding of numbers needs more.
            _ => header.values.saturating_mul(16).saturating_add(64 << 10),
        };
        header.unpack(self.chunk.codec, &self.file.read(at, header.packed)?, most.min(self.most))
    }

    fn dictionary(&self, before: Before) -> Read<Dictionary> {
        let (header, body) = match before.passed {
            Some(passed) => passed,
            None => self.header(before.from, &mut Ahead::default())?,
        };
        if !matches!(header.encoding, 0 | 2) {
            return Err(Bad::unsupported("a dictionary of an unknown encoding"));
        }
        let from = (self.number.0, before.from);
        Dictionary::new(from, self.column.kind, self.unpack(&header, body)?, header.values)
    }

    fn decode(&self, rows: &Range<u64>, marks: &mut Marks, sink: &mut dyn Sink) -> Read<()> {
        let (mut used, mut next) = (None, rows.start);
        let mut kept = Some(marks.take(self.number));
        self.walk(rows.start, marks, |place, dictionary| {
            if place.rows.end <= rows.start {
                return Ok(true);
            }
            if let Some(before) = dictionary.filter(|before| used != Some(before.from)) {
                used = Some(before.from);
                let from = Some((self.number.0, before.from));
                *sink.dictionary() = match kept.take().filter(|kept| kept.from == from) {
                    Some(kept) => kept,
                    None => self.dictionary(before)?,
                };
                sink.begin();
            }
            let data = self.unpack(&place.header, place.at)?;
            let take = rows.start.max(place.rows.start)..rows.end.min(place.rows.end);
            next = take.end;
            sink.page(self.page(&place, &data, take)?)?;
            Ok(place.rows.end < rows.end)
        })?;
        if used.is_some() && rows.end < self.rows {
            marks.keep(self.number, std::mem::take(sink.dictionary()));
        }
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
    pub fn ints(&self, rows: &Range<u64>, marks: &mut Marks) -> Read<Numbers> {
        let mut sink = IntSink {
            kind: self.column.kind,
            name: self.name,
            dictionary: Dictionary::default(),
            values: Numbers::default(),
        };
        self.decode(rows, marks, &mut sink)?;
        Ok(sink.values)
    }

    /// Decode texts.
    pub fn texts(&self, rows: &Range<u64>, marks: &mut Marks) -> Read<Texts> {
        let mut sink = TextSink::default();
        self.decode(rows, marks, &mut sink)?;
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
    dictionary: Dictionary,
    values: Numbers,
}

impl Sink for IntSink {
    fn dictionary(&mut self) -> &mut Dictionary {
        &mut self.dictionary
    }

    fn page(&mut self, page: Page<'_>) -> Read<()> {
        let name = self.name;
        let mut values = match page.encoding {
            0 => Ints::Plain(page.values, self.kind),
            2 | 8 => Ints::Dictionary(indices(page.values)?, &self.dictionary.values),
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
    dictionary: Dictionary,
    /// The numbers under which texts of the dictionary have been added, and one more; 0 if they have not. Zeros are what
    /// costs least where a page uses few of many texts.
    numbers: Vec<u32>,
}

fn too_much() -> Bad {
    Bad::large("texts of more than four gigabytes")
}

impl TextSink {
    fn push_from_dictionary(&mut self, index: usize, count: usize) -> Read<()> {
        let slot = self.numbers.get_mut(index).ok_or_else(unknown)?;
        let number = match slot.checked_sub(1) {
            Some(number) => number,
            None => self.texts.add(self.dictionary.text(index).ok_or_else(unknown)?).ok_or_else(too_much)?,
        };
        *slot = number.saturating_add(1);
        self.texts.push_numbers(number, count);
        Ok(())
    }
}

impl Sink for TextSink {
    fn dictionary(&mut self) -> &mut Dictionary {
        &mut self.dictionary
    }

    fn begin(&mut self) {
        self.numbers = vec![0; self.dictionary.texts()];
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
