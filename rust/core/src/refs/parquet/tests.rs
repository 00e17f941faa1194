//! Record files of few and of many pages: what they hold, and how much is gone through for it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;
use std::sync::Arc;

use super::page::PARSED;
use super::runs::hybrid;
use super::thrift::{BINARY, Output, STRUCT};
use super::{ParquetRows, ParquetSet};
use crate::refs::{Reference, Rows, Urls};
use crate::store::{MemoryStore, Store};

const KEY: &str = "a/refs.0.parq";

/// Larger than what is read once and kept.
const LARGE: usize = 9 << 20;

/// How a file is made.
#[derive(Clone)]
struct Made {
    rows: usize,
    /// Rows of a group.
    group: usize,
    /// Rows of a page of each column.
    pages: [usize; 3],
    dictionaries: bool,
    /// Bytes that belong to no column.
    padding: usize,
    /// The offset of the first row.
    first: usize,
}

impl Made {
    fn new(rows: usize, pages: [usize; 3]) -> Self {
        Self { rows, group: rows, pages, dictionaries: false, padding: 0, first: 1 }
    }

    fn path(row: usize) -> String {
        format!("/file{}", row / 3 % 7)
    }

    fn reference(&self, row: usize, urls: &Urls) -> Option<Reference> {
        let url = urls.number(&Self::path(row)).unwrap();
        let offset = (self.first + row) as u64;
        (row < self.rows).then_some(Reference::Range { url, offset, length: (row % 5) as u64 })
    }

    fn value(&self, column: usize, row: usize) -> Vec<u8> {
        let number = |value: usize| (value as u64).to_le_bytes().to_vec();
        match column {
            0 => [&(Self::path(row).len() as u32).to_le_bytes(), Self::path(row).as_bytes()].concat(),
            1 => number(self.first + row),
            _ => number(row % 5),
        }
    }

    /// One column of a group: where its bytes begin, and where its data do if there is a dictionary before.
    fn column(&self, out: &mut Vec<u8>, column: usize, rows: &Range<usize>) -> (usize, Option<usize>) {
        let start = out.len();
        let mut known: Vec<Vec<u8>> = rows.clone().map(|row| self.value(column, row)).collect();
        known.sort_unstable();
        known.dedup();
        if self.dictionaries {
            page(out, 2, 7, known.len(), 0, &known.concat());
        }
        let data = out.len();
        for first in rows.clone().step_by(self.pages[column]) {
            let values = (first..(first + self.pages[column]).min(rows.end)).map(|row| self.value(column, row));
            let values: Vec<Vec<u8>> = values.collect();
            if self.dictionaries {
                let numbers: Vec<u32> = values.iter().map(|v| known.binary_search(v).unwrap() as u32).collect();
                let mut packed = vec![20];
                hybrid(&numbers, 20, &mut packed);
                page(out, 0, 5, values.len(), 8, &packed);
            } else {
                page(out, 0, 5, values.len(), 0, &values.concat());
            }
        }
        (start, self.dictionaries.then_some(data))
    }

    fn file(&self) -> Vec<u8> {
        let mut file = b"PAR1".to_vec();
        file.resize(file.len() + self.padding, 0);
        let mut groups = Vec::new();
        for first in (0..self.rows).step_by(self.group) {
            let rows = first..(first + self.group).min(self.rows);
            let columns = [0, 1, 2].map(|column| {
                let (start, data) = self.column(&mut file, column, &rows);
                (start, data, file.len())
            });
            groups.push((rows.len(), columns));
        }
        let mut out = Output::default();
        out.inner(|out| {
            out.list(2, STRUCT, 4);
            out.inner(|out| out.i32(5, 3));
            for (kind, name) in [(6, "path"), (2, "offset"), (2, "size")] {
                out.inner(|out| {
                    out.i32(1, kind);
                    out.binary(4, name.as_bytes());
                });
            }
            out.list(4, STRUCT, groups.len());
            for (rows, columns) in &groups {
                out.inner(|out| {
                    out.list(1, STRUCT, 3);
                    for ((start, data, end), name) in columns.iter().zip(["path", "offset", "size"]) {
                        out.inner(|out| {
                            out.structure(3, |out| {
                                out.list(3, BINARY, 1);
                                out.item(name.as_bytes());
                                out.i64(7, (end - start) as i64);
                                out.i64(9, data.unwrap_or(*start) as i64);
                                if data.is_some() {
                                    out.i64(11, *start as i64);
                                }
                            });
                        });
                    }
                    out.i64(3, *rows as i64);
                });
            }
        });
        file.extend_from_slice(&out.data);
        file.extend_from_slice(&(out.data.len() as u32).to_le_bytes());
        file.extend_from_slice(b"PAR1");
        file
    }
}

fn page(out: &mut Vec<u8>, sort: i64, field: u8, count: usize, encoding: i64, data: &[u8]) {
    let mut header = Output::default();
    header.inner(|header| {
        header.i32(1, sort);
        header.i32(2, data.len() as i64);
        header.i32(3, data.len() as i64);
        header.structure(field, |header| {
            header.i32(1, count as i64);
            header.i32(2, encoding);
        });
    });
    out.extend_from_slice(&header.data);
    out.extend_from_slice(data);
}

fn opened(file: &[u8], rows: usize) -> (Arc<MemoryStore>, ParquetRows) {
    let store = Arc::new(MemoryStore::default());
    store.put(KEY, &[file]).unwrap();
    let urls = Arc::new(Urls::default());
    let set = ParquetSet::new(Arc::clone(&store) as Arc<dyn Store>, String::new(), 1 << 20, 1 << 20, urls).unwrap();
    (store, Arc::new(set).rows("a/", rows as u64))
}

/// Find all rows, one after the other or every 97th; how many headers were parsed for it.
fn find_all(made: &Made, rows: &ParquetRows, step: usize) -> usize {
    let before = PARSED.get();
    for i in 0..made.rows {
        let row = i * step % made.rows;
        assert_eq!(rows.find(row as u64).unwrap(), made.reference(row, rows.urls()), "row {row}");
    }
    PARSED.get() - before
}

#[test]
fn rows_are_found_in_any_order() {
    for pages in [[1, 1, 1], [1, 2, 3], [5, 3, 1], [700, 1, 1], [1, 700, 64]] {
        for group in [1, 97, 700, 1000] {
            for dictionaries in [false, true] {
                for padding in [0, LARGE] {
                    let made = Made { group, dictionaries, padding, ..Made::new(1000, pages) };
                    let file = made.file();
                    for step in [1, 999, 97] {
                        find_all(&made, &opened(&file, 1000).1, step);
                    }
                    let (_, rows) = opened(&file, 1000);
                    let gathered = rows.gather(0, 1, &|| false).unwrap();
                    let offsets: Vec<u64> = (1..=1000).collect();
                    assert_eq!(gathered.offsets, offsets);
                    assert_eq!(rows.present(0, 2000).unwrap().len(), 1000);
                }
            }
        }
    }
}

#[test]
fn pages_of_one_row_are_not_gone_through_again_for_each() {
    for padding in [0, LARGE] {
        for dictionaries in [false, true] {
            let made = Made { padding, dictionaries, ..Made::new(3000, [1; 3]) };
            let file = made.file();
            for step in [1, 2999, 97] {
                let parsed = find_all(&made, &opened(&file, 3000).1, step);
                assert!(parsed < 3000 * 100, "{parsed} headers");
            }
            let before = PARSED.get();
            assert_eq!(opened(&file, 3000).1.gather(0, 1, &|| false).unwrap().numbers.len(), 3000);
            assert!(PARSED.get() - before < 3000 * 100);
        }
    }
}

#[test]
fn what_lies_behind_a_row_is_not_looked_at() {
    let made = Made { dictionaries: true, ..Made::new(1000, [100; 3]) };
    let mut file = made.file();
    // The last pages of the last column, before the footer.
    let length = file[file.len() - 8..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes)).unwrap();
    let end = file.len() - 8 - length as usize;
    file[end - 300..end].fill(0xff);
    let (_, rows) = opened(&file, 1000);
    let before = PARSED.get();
    assert_eq!(rows.find(150).unwrap(), made.reference(150, rows.urls()));
    // A dictionary and two pages, of three columns; the first column twice.
    assert_eq!(PARSED.get() - before, 12);
    assert!(rows.find(999).is_err());
    assert_eq!(rows.find(250).unwrap(), made.reference(250, rows.urls()));
}

#[test]
fn a_large_file_that_is_replaced_is_read_anew() {
    let old = Made { padding: LARGE, ..Made::new(2000, [1; 3]) };
    let new = Made { first: 1 << 20, dictionaries: true, ..Made { pages: [2, 3, 1], ..old.clone() } };
    let (store, rows) = opened(&old.file(), 2000);
    for row in (0..1000).rev() {
        assert_eq!(rows.find(row).unwrap(), old.reference(row as usize, rows.urls()));
    }
    store.put(KEY, &[&new.file()]).unwrap();
    for row in 1000..2000 {
        assert_eq!(rows.find(row).unwrap(), new.reference(row as usize, rows.urls()));
    }
}
