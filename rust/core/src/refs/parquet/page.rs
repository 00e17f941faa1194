//! Pages: their headers, and their bytes unpacked.

use super::bad::{Bad, Read};
use super::thrift::{FALSE, I32, Input, STRUCT};
use crate::codec::{Gzip, Lz4, Step, Zstd, crc32_after};
use crate::scratch;

/// Most rows in a page: more than any writer makes, so that a few bytes cannot stand for gigabytes of nulls.
pub const MOST_ROWS: usize = 1 << 24;

/// What a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Data,
    DataV2,
    Dictionary,
    /// Something else, which is skipped.
    Other,
}

/// The header of a page.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    pub sort: Sort,
    /// How many values it has, nulls included; in a column without lists the number of rows.
    pub values: usize,
    pub encoding: i64,
    /// How many bytes of levels lie uncompressed in front; only in version 2.
    pub levels: usize,
    /// How its bytes lie in the file.
    pub packed: usize,
    unpacked: usize,
    compressed: bool,
    crc: Option<u32>,
}

#[cfg(test)]
thread_local! {
    /// How many headers this thread has parsed.
    pub static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn size(value: i64) -> Read<usize> {
    usize::try_from(value).map_err(|_| Bad::corrupt("a page has a negative size"))
}

impl Header {
    /// Parse a header; also how many bytes it takes up.
    pub fn parse(data: &[u8]) -> Read<(Self, usize)> {
        #[cfg(test)]
        PARSED.set(PARSED.get().wrapping_add(1));
        let mut made = Self {
            sort: Sort::Other,
            values: 0,
            encoding: -1,
            levels: 0,
            packed: 0,
            unpacked: 0,
            compressed: true,
            crc: None,
        };
        let mut input = Input::new(data);
        let (mut sort, mut rep) = (-1, 0usize);
        input.fields(|input, id, kind| {
            match (id, kind) {
                (1, I32) => sort = input.number()?,
                (2, I32) => made.unpacked = size(input.number()?)?,
                (3, I32) => made.packed = size(input.number()?)?,
                (4, I32) => made.crc = Some(u32::from_le_bytes(low(input.number()?))),
                (5 | 7, STRUCT) => input.fields(|input, id, kind| {
                    match (id, kind) {
                        (1, I32) => made.values = size(input.number()?)?,
                        (2, I32) => made.encoding = input.number()?,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                (8, STRUCT) => input.fields(|input, id, kind| {
                    match (id, kind) {
                        (1, I32) => made.values = size(input.number()?)?,
                        (4, I32) => made.encoding = input.number()?,
                        (5, I32) => made.levels = size(input.number()?)?,
                        (6, I32) => rep = size(input.number()?)?,
                        (7, FALSE) => made.compressed = false,
                        _ => return Ok(false),
                    }
                    Ok(true)
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        made.sort = match sort {
            0 => Sort::Data,
            2 => Sort::Dictionary,
            3 => Sort::DataV2,
            _ => Sort::Other,
        };
        if rep > 0 {
            return Err(Bad::corrupt("a page has levels of repetition"));
        }
        if made.sort != Sort::Other && made.values > MOST_ROWS {
            return Err(Bad::large(format!("a page claims {} rows", made.values)));
        }
        Ok((made, input.at()))
    }

    /// Unpack the bytes of the page, of which there are to be no more than `most`.
    pub fn unpack(&self, codec: i64, data: &[u8], most: usize) -> Read<Vec<u8>> {
        if self.crc.is_some_and(|crc| crc != crc32_after(0, data)) {
            return Err(Bad::corrupt("the checksum of a page does not match"));
        }
        if self.unpacked > most {
            return Err(Bad::large(format!("a page claims {} bytes where at most {most} are expected", self.unpacked)));
        }
        if codec == 0 || !self.compressed {
            return Ok(data.to_vec());
        }
        let (levels, values) =
            data.split_at_checked(self.levels).ok_or_else(|| Bad::corrupt("the levels of a page do not fit"))?;
        let want = self.unpacked.checked_sub(self.levels);
        let want = want.ok_or_else(|| Bad::corrupt("the levels of a page do not fit"))?;
        // Zeroed memory costs nothing until the codec has filled it.
        let mut out = vec![0; self.unpacked];
        let (head, tail) =
            out.split_at_mut_checked(self.levels).ok_or_else(|| Bad::corrupt("the levels of a page do not fit"))?;
        head.copy_from_slice(levels);
        if want > 0 {
            decompress(codec, values, tail)?;
        }
        Ok(out)
    }
}

fn low(value: i64) -> [u8; 4] {
    let [a, b, c, d, ..] = value.to_le_bytes();
    [a, b, c, d]
}

fn decompress(codec: i64, src: &[u8], out: &mut [u8]) -> Read<()> {
    let decode = |step: &dyn Step, src: &[u8], out: &mut [u8]| {
        scratch::with(|work| step.decode_exact(src, out, &mut work.cx)).map_err(Bad::from)
    };
    match codec {
        1 => snappy(src, out),
        2 => decode(&Gzip::new(1)?, src, out),
        6 => decode(&Zstd::new(1, false)?, src, out),
        7 => {
            // The codec of numcodecs is the same block with its size in front.
            let size = u32::try_from(out.len()).map_err(|_| Bad::large("a page of more than four gigabytes"))?;
            decode(&Lz4::new(1)?, &[&size.to_le_bytes(), src].concat(), out)
        }
        3 => Err(Bad::unsupported("the file is compressed with LZO")),
        4 => Err(Bad::unsupported("the file is compressed with Brotli")),
        5 => Err(Bad::unsupported("the file is compressed with Hadoop's LZ4")),
        _ => Err(Bad::unsupported(format!("the file is compressed in a way of number {codec}"))),
    }
}

fn snappy(src: &[u8], out: &mut [u8]) -> Read<()> {
    let failed = |error: snap::Error| Bad::corrupt(format!("a page does not decode: {error}"));
    if snap::raw::decompress_len(src).map_err(failed)? != out.len() {
        return Err(Bad::corrupt("a page does not decode to the size that it claims"));
    }
    snap::raw::Decoder::new().decompress(src, out).map_err(failed).map(drop)
}
