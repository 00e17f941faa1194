//! A record file, written: columns, types and metadata as fastparquet writes them, pages small enough to be read alone.

use std::collections::HashMap;

use super::footer::NAMES;
use super::runs::hybrid;
use super::thrift::{BINARY, I32, Output, STRUCT};
use crate::buffer::Buffer;
use crate::codec::{Step, Zstd};
use crate::error::{Error, Result};
use crate::refs::{INLINE, MISSING, Urls, WHOLE};
use crate::scratch;

/// Rows of a page. Whoever wants one row decodes this many; smaller pages would slow down those who read all.
const PAGE: usize = 16_384;

const PLAIN: i64 = 0;
const RLE: i64 = 3;
const RLE_DICTIONARY: i64 = 8;
const ZSTD: i64 = 6;

/// What begins inline bytes that others would decode.
const BASE64: &[u8] = b"base64:";

/// The rows of one record, from its first on; those behind the last are missing.
#[derive(Debug, Default)]
pub struct RecordRows {
    /// Numbers of URLs, or [`INLINE`], or [`MISSING`].
    pub urls: Vec<u32>,
    /// Where each begins.
    pub offsets: Vec<u64>,
    /// How long each is, or [`WHOLE`].
    pub lengths: Vec<u64>,
    /// The bytes of those that are in the set itself.
    pub inline: Vec<u8>,
}

impl RecordRows {
    fn inline(&self, row: usize) -> Option<&[u8]> {
        let start = usize::try_from(*self.offsets.get(row)?).ok()?;
        let end = start.checked_add(usize::try_from(*self.lengths.get(row)?).ok()?)?;
        self.inline.get(start..end)
    }
}

/// A column that has been written.
struct Written {
    kind: i64,
    optional: bool,
    encodings: Vec<i64>,
    nulls: usize,
    dictionary: Option<usize>,
    data: usize,
    start: usize,
    end: usize,
    unpacked: usize,
}

/// A writer of one file.
struct FileWriter<'a> {
    rows: &'a RecordRows,
    urls: &'a Urls,
    size: usize,
    out: Vec<u8>,
}

/// Encode a record of `size` rows; paths become categories if each of them is there more than `threshold` times.
pub fn encode(rows: &RecordRows, urls: &Urls, size: usize, threshold: f64) -> Result<Vec<u8>> {
    let mut writer = FileWriter { rows, urls, size, out: b"PAR1".to_vec() };
    let (path, categories) = writer.paths(threshold)?;
    let offset = writer.numbers(|url, offset, length| match (url, length) {
        (MISSING | INLINE, _) | (_, WHOLE | 0) => 0,
        _ => offset,
    })?;
    let length = writer.numbers(|url, _, length| match (url, length) {
        (MISSING | INLINE, _) | (_, WHOLE) => 0,
        _ => length,
    })?;
    let raw = writer.raws()?;
    writer.footer(&[path, offset, length, raw], categories);
    Ok(writer.out)
}

/// A range of no bytes would be read as the whole: it is written as bytes, of which there are none.
fn is_raw(url: u32, length: u64) -> bool {
    url == INLINE || (url != MISSING && length == 0)
}

fn is_path(url: u32, length: u64) -> bool {
    url < INLINE && length != 0
}

impl FileWriter<'_> {
    fn begin(&self, kind: i64, optional: bool) -> Written {
        let at = self.out.len();
        let encodings = vec![PLAIN, RLE];
        Written { kind, optional, encodings, nulls: 0, dictionary: None, data: at, start: at, end: at, unpacked: 0 }
    }

    /// Compress and write a page; `body` is what follows the sizes in its header.
    fn page(&mut self, written: &mut Written, sort: i64, data: &[u8], body: impl FnOnce(&mut Output)) -> Result<()> {
        let mut packed = Buffer::default();
        let zstd = Zstd::new(1, false).map_err(failed)?;
        scratch::with(|work| zstd.encode(data, &mut packed, &mut work.cx)).map_err(failed)?;
        let mut header = Output::default();
        header.inner(|header| {
            header.i32(1, sort);
            header.i32(2, signed(data.len()));
            header.i32(3, signed(packed.len()));
            body(header);
        });
        self.out.extend_from_slice(&header.data);
        self.out.extend_from_slice(packed.as_slice());
        written.unpacked = written.unpacked.saturating_add(header.data.len()).saturating_add(data.len());
        written.end = self.out.len();
        Ok(())
    }

    fn data_page(&mut self, written: &mut Written, count: usize, encoding: i64, data: &[u8]) -> Result<()> {
        self.page(written, 0, data, |header| {
            header.structure(5, |header| {
                header.i32(1, signed(count));
                header.i32(2, encoding);
                header.i32(3, RLE);
                header.i32(4, RLE);
            });
        })
    }

    /// Write a column of optional texts: `text` appends what a row has, and says whether it has any.
    fn texts(
        &mut self,
        mut written: Written,
        encoding: i64,
        mut text: impl FnMut(&Self, usize, &mut Vec<u8>, &mut Vec<u32>) -> Result<bool>,
        width: u32,
    ) -> Result<Written> {
        let (mut levels, mut data, mut values, mut indices) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        written.data = self.out.len();
        for first in (0..self.size).step_by(PAGE) {
            let end = first.saturating_add(PAGE).min(self.size);
            let here = end.min(self.rows.urls.len());
            levels.clear();
            data.clear();
            values.clear();
            indices.clear();
            for row in first..here {
                let there = text(self, row, &mut values, &mut indices)?;
                written.nulls = written.nulls.saturating_add(usize::from(!there));
                levels.push(u32::from(there));
            }
            let rest = end.saturating_sub(here.max(first));
            written.nulls = written.nulls.saturating_add(rest);
            levels.resize(end.saturating_sub(first), 0);
            data.extend_from_slice(&[0; 4]);
            hybrid(&levels, 1, &mut data);
            let length = u32::try_from(data.len().saturating_sub(4)).unwrap_or(u32::MAX);
            if let Some(head) = data.first_chunk_mut::<4>() {
                *head = length.to_le_bytes();
            }
            if width > 0 {
                data.push(width.to_le_bytes()[0]);
                hybrid(&indices, width, &mut data);
            } else {
                data.extend_from_slice(&values);
            }
            if data.len() > i32::MAX as usize {
                return Err(Error::Limit("a page of a record file has more than two gigabytes".into()));
            }
            self.data_page(&mut written, end.saturating_sub(first), encoding, &data)?;
        }
        Ok(written)
    }

    fn paths(&mut self, threshold: f64) -> Result<(Written, Option<usize>)> {
        let (mut local, mut order, mut count) = (HashMap::new(), Vec::new(), 0usize);
        let mut last = MISSING;
        for (&url, &length) in self.rows.urls.iter().zip(&self.rows.lengths) {
            if is_path(url, length) {
                count = count.saturating_add(1);
                if url != last {
                    local.entry(url).or_insert_with(|| {
                        order.push(url);
                        order.len().saturating_sub(1)
                    });
                    last = url;
                }
            }
        }
        let mut written = self.begin(6, true);
        let category = !order.is_empty() && count as f64 / order.len() as f64 > threshold;
        let mut texts = Vec::with_capacity(order.len());
        for &url in &order {
            texts.push(self.urls.get(url).ok_or_else(|| Error::Invalid("a URL without a number".into()))?);
        }
        if !category {
            let written = self.texts(
                written,
                PLAIN,
                |writer, row, values, _| {
                    let Some(&url) = writer.row(row, is_path) else { return Ok(false) };
                    let text = local.get(&url).and_then(|&i| texts.get(i)).map_or("", |text| text);
                    put(values, text.as_bytes());
                    Ok(true)
                },
                0,
            )?;
            return Ok((written, None));
        }
        let mut data = Vec::new();
        texts.iter().for_each(|text| put(&mut data, text.as_bytes()));
        written.dictionary = Some(self.out.len());
        written.encodings = vec![PLAIN, RLE, RLE_DICTIONARY];
        self.page(&mut written, 2, &data, |header| {
            header.structure(7, |header| {
                header.i32(1, signed(order.len()));
                header.i32(2, PLAIN);
            });
        })?;
        let width = order.len().saturating_sub(1).checked_ilog2().map_or(1, |bits| bits.saturating_add(1));
        let mut last = (MISSING, 0);
        let written = self.texts(
            written,
            RLE_DICTIONARY,
            |writer, row, _, indices| {
                let Some(&url) = writer.row(row, is_path) else { return Ok(false) };
                if url != last.0 {
                    last = (url, local.get(&url).and_then(|&i| u32::try_from(i).ok()).unwrap_or(0));
                }
                indices.push(last.1);
                Ok(true)
            },
            width,
        )?;
        Ok((written, Some(order.len())))
    }

    /// The URL of a row of a sort.
    fn row(&self, row: usize, sort: fn(u32, u64) -> bool) -> Option<&u32> {
        let (url, &length) = (self.rows.urls.get(row)?, self.rows.lengths.get(row)?);
        sort(*url, length).then_some(url)
    }

    fn raws(&mut self) -> Result<Written> {
        let written = self.begin(6, true);
        let mut encoded = Buffer::default();
        self.texts(
            written,
            PLAIN,
            |writer, row, values, _| {
                let Some(&url) = writer.row(row, is_raw) else { return Ok(false) };
                let bytes = if url == INLINE { writer.rows.inline(row) } else { Some(&[][..]) };
                let outside = || Error::Invalid("an inline reference lies outside the inline bytes".into());
                let bytes = bytes.ok_or_else(outside)?;
                if bytes.starts_with(BASE64) {
                    // Every reader would decode it, so that it has to be encoded.
                    let encode =
                        |work: &mut scratch::Scratch| crate::codec::Base64.encode(bytes, &mut encoded, &mut work.cx);
                    scratch::with(encode).map_err(failed)?;
                    put(values, &[BASE64, encoded.as_slice()].concat());
                } else {
                    put(values, bytes);
                }
                Ok(true)
            },
            0,
        )
    }

    fn numbers(&mut self, number: impl Fn(u32, u64, u64) -> u64) -> Result<Written> {
        let mut written = self.begin(2, false);
        let mut data = Vec::with_capacity(self.size.min(PAGE).saturating_mul(8));
        let rows = self.rows;
        for first in (0..self.size).step_by(PAGE) {
            let end = first.saturating_add(PAGE).min(self.size);
            let here = first..end.min(rows.urls.len()).max(first);
            data.clear();
            let columns = (rows.urls.get(here.clone()), rows.offsets.get(here.clone()), rows.lengths.get(here));
            if let (Some(urls), Some(offsets), Some(lengths)) = columns {
                for ((&url, &offset), &length) in urls.iter().zip(offsets).zip(lengths) {
                    let value = number(url, offset, length);
                    if value > i64::MAX.cast_unsigned() {
                        return Err(Error::Invalid(format!("a reference to byte {value} has no place in parquet")));
                    }
                    data.extend_from_slice(&value.to_le_bytes());
                }
            }
            data.resize(end.saturating_sub(first).saturating_mul(8), 0);
            self.data_page(&mut written, end.saturating_sub(first), PLAIN, &data)?;
        }
        Ok(written)
    }

    fn footer(&mut self, columns: &[Written; 4], categories: Option<usize>) {
        let mut out = Output::default();
        let total = columns.iter().fold(0usize, |sum, column| sum.saturating_add(column.unpacked));
        let size = signed(self.size);
        out.inner(|out| {
            out.i32(1, 1);
            schema(out, columns);
            out.i64(3, size);
            out.list(4, STRUCT, 1);
            out.inner(|out| {
                out.list(1, STRUCT, columns.len());
                for (column, name) in columns.iter().zip(NAMES) {
                    out.inner(|out| chunk(out, column, name, size));
                }
                out.i64(2, signed(total));
                out.i64(3, size);
            });
            out.list(5, STRUCT, 1);
            out.inner(|out| {
                out.binary(1, b"pandas");
                out.binary(2, pandas(categories).as_bytes());
            });
            out.binary(6, concat!("omnizarr version ", env!("CARGO_PKG_VERSION")).as_bytes());
        });
        self.out.extend_from_slice(&out.data);
        let length = u32::try_from(out.data.len()).unwrap_or(u32::MAX);
        self.out.extend_from_slice(&length.to_le_bytes());
        self.out.extend_from_slice(b"PAR1");
    }
}

fn schema(out: &mut Output, columns: &[Written; 4]) {
    out.list(2, STRUCT, 5);
    out.inner(|out| {
        out.binary(4, b"schema");
        out.i32(5, 4);
    });
    for (column, name) in columns.iter().zip(NAMES) {
        out.inner(|out| {
            out.i32(1, column.kind);
            out.i32(3, i64::from(column.optional));
            out.binary(4, name.as_bytes());
            if name == "path" {
                out.i32(6, 0);
                out.structure(10, |out| out.structure(1, |_| ()));
            }
        });
    }
}

fn chunk(out: &mut Output, column: &Written, name: &str, rows: i64) {
    out.i64(2, signed(column.start));
    out.structure(3, |out| {
        out.i32(1, column.kind);
        out.list(2, I32, column.encodings.len());
        column.encodings.iter().for_each(|&encoding| out.item_number(encoding));
        out.list(3, BINARY, 1);
        out.item(name.as_bytes());
        out.i32(4, ZSTD);
        out.i64(5, rows);
        out.i64(6, signed(column.unpacked));
        out.i64(7, signed(column.end.saturating_sub(column.start)));
        out.i64(9, signed(column.data));
        if let Some(at) = column.dictionary {
            out.i64(11, signed(at));
        }
        out.structure(12, |out| out.i64(3, signed(column.nulls)));
    });
}

/// What pandas is told of the types.
fn pandas(categories: Option<usize>) -> String {
    let column = |name: &str, numpy: &str, pandas: &str, metadata: &str| {
        format!(
            r#"{{"field_name": "{name}", "metadata": {metadata}, "name": "{name}", "numpy_type": "{numpy}", "pandas_type": "{pandas}"}}"#
        )
    };
    let path = match categories {
        None => column("path", "object", "unicode", "null"),
        Some(count) => {
            let codes = if count < 128 {
                "int8"
            } else if count < 32_768 {
                "int16"
            } else {
                "int32"
            };
            let metadata = format!(r#"{{"num_categories": {count}, "ordered": false}}"#);
            column("path", codes, "categorical", &metadata)
        }
    };
    let columns = [
        path,
        column("offset", "int64", "int64", "null"),
        column("size", "int64", "int64", "null"),
        column("raw", "object", "bytes", "null"),
    ];
    format!(
        concat!(
            r#"{{"column_indexes": [], "columns": [{}], "#,
            r#""creator": {{"library": "omnizarr", "version": "{}"}}, "#,
            r#""index_columns": [], "pandas_version": "2.0.0", "partition_columns": []}}"#
        ),
        columns.join(", "),
        env!("CARGO_PKG_VERSION")
    )
}

fn put(values: &mut Vec<u8>, text: &[u8]) {
    values.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    values.extend_from_slice(text);
}

fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn failed(error: crate::error::CodecError) -> Error {
    Error::Chunk { key: String::new(), cause: error }
}
