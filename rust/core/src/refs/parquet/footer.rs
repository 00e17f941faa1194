//! What a record file says about itself: its columns, and where they are.

use super::bad::{Bad, Read};
use super::thrift::{BINARY, I32, I64, Input, LIST, STRUCT};

/// The columns of a record file, in the order in which they are written.
pub const NAMES: [&str; 4] = ["path", "offset", "size", "raw"];

/// Numbers of the columns in [`NAMES`].
pub const PATH: usize = 0;
pub const OFFSET: usize = 1;
pub const SIZE: usize = 2;
pub const RAW: usize = 3;

/// How values lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int32,
    Int64,
    Double,
    Bytes,
    /// There is nothing but nulls.
    Null,
}

/// A column of the file.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub kind: Kind,
    pub optional: bool,
}

/// The part of a column that belongs to one row group.
#[derive(Debug, Clone, Copy)]
pub struct ColumnChunk {
    pub codec: i64,
    pub start: u64,
    pub length: u64,
}

/// A row group.
#[derive(Debug, Default)]
pub struct Group {
    /// The number of its first row.
    pub first: u64,
    pub rows: u64,
    pub chunks: [Option<ColumnChunk>; 4],
}

/// The footer.
#[derive(Debug, Default)]
pub struct Footer {
    pub columns: [Option<Column>; 4],
    /// Those that have rows.
    pub groups: Vec<Group>,
}

/// An element of the schema.
#[derive(Default)]
struct Element<'a> {
    name: &'a [u8],
    kind: Option<i64>,
    repetition: i64,
    children: usize,
    null: bool,
}

fn unsigned(value: i64, what: &str) -> Read<u64> {
    u64::try_from(value).map_err(|_| Bad::corrupt(format!("the footer has a negative {what}")))
}

impl Footer {
    /// Parse the footer's own bytes; `end` is where the columns end in the file.
    pub fn parse(data: &[u8], end: u64) -> Read<Self> {
        let mut footer = Self::default();
        let mut input = Input::new(data);
        let (mut schema, mut rows) = (false, 0u64);
        input.fields(|input, id, kind| {
            match (id, kind) {
                (2, LIST) => {
                    footer.columns = columns(input)?;
                    schema = true;
                }
                (4, LIST) => {
                    let (kind, count) = input.list()?;
                    for _ in 0..count {
                        if kind != STRUCT {
                            return Err(Bad::corrupt("the footer has no list of row groups"));
                        }
                        let group = Group { first: rows, ..group(input, end)? };
                        rows = rows.saturating_add(group.rows);
                        if group.rows > 0 {
                            footer.groups.push(group);
                        }
                    }
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if !schema {
            return Err(Bad::corrupt("the footer has no schema"));
        }
        if footer.columns.iter().all(Option::is_none) {
            return Err(Bad::corrupt("there is none of the columns path, offset, size and raw"));
        }
        if footer.columns[PATH].is_none() && footer.columns[RAW].is_none() {
            return Err(Bad::corrupt("there is neither a column path nor a column raw"));
        }
        Ok(footer)
    }

    /// The group that holds a row, and its number.
    pub fn group_of(&self, row: u64) -> Option<(usize, &Group)> {
        let number = self.groups.partition_point(|group| group.first.saturating_add(group.rows) <= row);
        self.groups.get(number).map(|group| (number, group))
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        self.groups.capacity().saturating_mul(size_of::<Group>())
    }
}

fn columns(input: &mut Input<'_>) -> Read<[Option<Column>; 4]> {
    let (kind, count) = input.list()?;
    if kind != STRUCT {
        return Err(Bad::corrupt("the footer has no schema"));
    }
    let mut found = [None; 4];
    // How many leaves and groups are still to come at each depth; the first is the root.
    let mut open: Vec<usize> = Vec::new();
    for i in 0..count {
        let element = element(input)?;
        if i == 0 {
            open.push(element.children);
            continue;
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        let Some(left) = open.last_mut() else { return Err(Bad::corrupt("the schema is no tree")) };
        *left = left.saturating_sub(1);
        let top = open.len() == 1;
        if element.children > 0 {
            if open.len() > 64 {
                return Err(Bad::corrupt("the schema is nested too deeply"));
            }
            open.push(element.children);
        }
        let name = NAMES.iter().position(|name| name.as_bytes() == element.name);
        if let (true, Some(slot)) = (top, name.and_then(|i| found.get_mut(i))) {
            *slot = Some(column(&element)?);
        }
    }
    Ok(found)
}

fn element<'a>(input: &mut Input<'a>) -> Read<Element<'a>> {
    let mut made = Element::default();
    input.fields(|input, id, kind| {
        match (id, kind) {
            (1, I32) => made.kind = Some(input.number()?),
            (3, I32) => made.repetition = input.number()?,
            (4, BINARY) => made.name = input.binary()?,
            (5, I32) => made.children = usize::try_from(input.number()?).unwrap_or(0),
            (10, STRUCT) => input.fields(|_, id, _| {
                made.null |= id == 11;
                Ok(false)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(made)
}

fn column(element: &Element<'_>) -> Read<Column> {
    let name = String::from_utf8_lossy(element.name);
    let text = matches!(name.as_ref(), "path" | "raw");
    let kind = match element.kind {
        _ if element.null => Kind::Null,
        Some(1) if !text => Kind::Int32,
        Some(2) if !text => Kind::Int64,
        Some(5) if !text => Kind::Double,
        Some(6) if text => Kind::Bytes,
        _ => {
            let wanted = if text { "text or bytes" } else { "integers" };
            return Err(Bad::corrupt(format!("the column {name} is not one of {wanted}")));
        }
    };
    match element.repetition {
        0 | 1 if element.children == 0 => Ok(Column { kind, optional: element.repetition == 1 }),
        _ => Err(Bad::corrupt(format!("the column {name} has more than one value in a row"))),
    }
}

fn group(input: &mut Input<'_>, end: u64) -> Read<Group> {
    let mut made = Group::default();
    input.fields(|input, id, kind| {
        match (id, kind) {
            (1, LIST) => {
                let (kind, count) = input.list()?;
                for _ in 0..count {
                    if kind != STRUCT {
                        return Err(Bad::corrupt("a row group has no list of columns"));
                    }
                    if let Some((i, chunk)) = chunk(input, end)?
                        && let Some(slot) = made.chunks.get_mut(i)
                    {
                        *slot = Some(chunk);
                    }
                }
            }
            (3, I64) => made.rows = unsigned(input.number()?, "number of rows")?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(made)
}

fn chunk(input: &mut Input<'_>, end: u64) -> Read<Option<(usize, ColumnChunk)>> {
    let (mut meta, mut elsewhere) = (None, false);
    input.fields(|input, id, kind| {
        match (id, kind) {
            (1, BINARY) => elsewhere |= !input.binary()?.is_empty(),
            (3, STRUCT) => meta = chunk_meta(input)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let Some((i, chunk)) = meta else { return Ok(None) };
    if elsewhere {
        return Err(Bad::unsupported("a column is in another file"));
    }
    if chunk.start.checked_add(chunk.length).is_none_or(|stop| stop > end) {
        return Err(Bad::corrupt("a column lies outside the file"));
    }
    Ok(Some((i, chunk)))
}

fn chunk_meta(input: &mut Input<'_>) -> Read<Option<(usize, ColumnChunk)>> {
    let (mut name, mut codec, mut length, mut data, mut dictionary) = (None, 0, 0, 0, None);
    input.fields(|input, id, kind| {
        match (id, kind) {
            (3, LIST) => {
                let (kind, count) = input.list()?;
                for i in 0..count {
                    if kind != BINARY {
                        return Err(Bad::corrupt("a column has no name"));
                    }
                    let part = input.binary()?;
                    name = if i == 0 { NAMES.iter().position(|name| name.as_bytes() == part) } else { None };
                }
            }
            (4, I32) => codec = input.number()?,
            (7, I64) => length = unsigned(input.number()?, "length of a column")?,
            (9, I64) => data = unsigned(input.number()?, "place of a page")?,
            (11, I64) => dictionary = Some(unsigned(input.number()?, "place of a dictionary")?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    // Some writers say 0 for a dictionary that is not there.
    let start = dictionary.filter(|&at| at > 0).map_or(data, |at| at.min(data));
    Ok(name.map(|i| (i, ColumnChunk { codec, start, length })))
}
