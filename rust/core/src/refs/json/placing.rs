//! From references by key to references by array: each goes to the array whose chunk it is.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::table::{Group, Row, split};
use super::{JsonSet, Loose};
use crate::error::Result;
use crate::keys::Keys;
use crate::refs::{Columns, INLINE, Urls};
use crate::store::check_key;

/// An array of the set, as its document describes it.
pub struct Grid {
    /// How its keys are made; the path is that of the array.
    pub keys: Keys,
    /// How many chunks there are along each dimension.
    pub counts: Vec<u64>,
}

impl Grid {
    /// The number of a chunk; `None` if the grid has none there.
    fn number(&self, index: impl ExactSizeIterator<Item = u64> + DoubleEndedIterator) -> Option<u64> {
        if index.len() != self.counts.len() {
            return None;
        }
        let step = |number: Option<u64>, (i, &count): (u64, &u64)| {
            if i < count { number?.checked_mul(count)?.checked_add(i) } else { None }
        };
        if self.keys.reversed {
            index.rev().zip(&self.counts).fold(Some(0), step)
        } else {
            index.zip(&self.counts).fold(Some(0), step)
        }
    }

    fn total(&self) -> Option<u64> {
        self.counts.iter().try_fold(1u64, |total, &count| total.checked_mul(count))
    }
}

/// The references of one array.
#[derive(Default)]
pub struct PlacedArray {
    /// Numbers of the chunks, ascending; `None` for all of the grid.
    pub numbers: Option<Vec<u64>>,
    /// Numbers of URLs.
    pub urls: Vec<u32>,
    /// Where chunks begin.
    pub offsets: Vec<u64>,
    /// How many bytes they have.
    pub lengths: Vec<u64>,
}

/// A set whose references have found their arrays.
pub struct Placed {
    /// What is in the set itself and is no chunk.
    pub documents: BTreeMap<String, Bytes>,
    /// The arrays, in the order of the grids.
    pub arrays: Vec<PlacedArray>,
    /// References under keys that are no chunks.
    pub loose: Loose,
    /// The bytes of inline references.
    pub inline: Bytes,
    /// The URLs.
    pub urls: Arc<Urls>,
}

impl Placed {
    /// The columns of an array, which are taken out.
    pub fn take_columns(&mut self, i: usize) -> Result<Columns> {
        let array = self.arrays.get_mut(i).map(std::mem::take).unwrap_or_default();
        let inline = self.inline.clone();
        Columns::new(array.numbers, array.urls, array.offsets, array.lengths, inline, self.urls.len())
    }
}

/// Columns that are gathered for an array: numbers of chunks in any order.
#[derive(Default)]
struct Gathered {
    numbers: Vec<u64>,
    urls: Vec<u32>,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
}

impl Gathered {
    fn push(&mut self, number: u64, row: Row) {
        self.numbers.push(number);
        self.urls.push(row.url);
        self.offsets.push(row.offset);
        self.lengths.push(row.length);
    }

    /// Put the rows into order, of those with one number only the last, and leave the numbers out if all are there.
    fn finish(mut self, total: Option<u64>) -> PlacedArray {
        if !self.numbers.is_sorted_by(|a, b| a < b) {
            let mut order: Vec<usize> = (0..self.numbers.len()).collect();
            let number = |&i: &usize| self.numbers.get(i).copied().unwrap_or(u64::MAX);
            // Stable, so the last of those that are alike is the one that was read last.
            order.sort_by_key(number);
            let mut kept: Vec<usize> = Vec::with_capacity(order.len());
            for i in order {
                match kept.last_mut() {
                    Some(last) if number(last) == number(&i) => *last = i,
                    _ => kept.push(i),
                }
            }
            self.urls = picked(&self.urls, &kept);
            self.offsets = picked(&self.offsets, &kept);
            self.lengths = picked(&self.lengths, &kept);
            self.numbers = picked(&self.numbers, &kept);
        }
        let full = total == Some(self.numbers.len() as u64);
        let numbers = if full { None } else { Some(self.numbers) };
        PlacedArray { numbers, urls: self.urls, offsets: self.offsets, lengths: self.lengths }
    }
}

fn picked<T: Copy>(column: &[T], order: &[usize]) -> Vec<T> {
    order.iter().filter_map(|&i| column.get(i).copied()).collect()
}

/// Arrays whose keys look alike but for numbers in their paths, by these numbers.
type ByLead = HashMap<Vec<u32>, usize>;

impl JsonSet {
    /// Give each reference to its array.
    pub fn place(mut self, grids: &[Grid]) -> Result<Placed> {
        let mut gathered: Vec<Gathered> = grids.iter().map(|_| Gathered::default()).collect();
        let mut groups = std::mem::take(&mut self.table.groups);
        let forms = self.forms(grids);
        for (at, group) in groups.iter_mut().enumerate() {
            let group = std::mem::take(group);
            match forms.get(&at) {
                Some((lead, arrays)) => self.place_group(group, *lead, arrays, grids, &mut gathered),
                None => self.odd.extend(rows(&group).map(|(key, row)| (key.into(), row))),
            }
        }
        let by_path: HashMap<&str, usize> = grids.iter().enumerate().map(|(i, grid)| (&*grid.keys.path, i)).collect();
        let mut odd = std::mem::take(&mut self.odd);
        odd.retain(|(key, row)| match chunk(key, grids, &by_path) {
            None => true,
            Some((array, number)) => {
                if let Some(one) = gathered.get_mut(array) {
                    one.push(number, *row);
                }
                false
            }
        });
        let arrays = gathered.into_iter().zip(grids).map(|(rows, grid)| rows.finish(grid.total())).collect();
        let inline = Bytes::from(std::mem::take(&mut self.inline));
        let (documents, loose) = sorted(odd, &inline)?;
        Ok(Placed { documents, arrays, loose: Loose::new(loose), inline, urls: self.urls })
    }

    /// Which group has the keys of which arrays: how many numbers of a key belong to the path, and the arrays by these.
    fn forms(&self, grids: &[Grid]) -> HashMap<usize, (usize, ByLead)> {
        let mut forms: HashMap<usize, (usize, ByLead)> = HashMap::new();
        let mut key = String::new();
        for (i, grid) in grids.iter().enumerate() {
            grid.keys.write(&vec![0; grid.counts.len()], &mut key);
            let Some((start, separators)) = split(key.as_bytes()) else { continue };
            let Some(group) = self.table.find(key.as_bytes().get(..start).unwrap_or_default(), &separators) else {
                continue;
            };
            let mut sample = Group { separators, ..Group::default() };
            sample.take_numbers(key.as_bytes().get(start..).unwrap_or_default());
            let Some(lead) = sample.indices.len().checked_sub(grid.counts.len()) else { continue };
            if !grid.counts.is_empty() && !grid.keys.suffix.is_empty() {
                continue;
            }
            let entry = forms.entry(group).or_insert_with(|| (lead, ByLead::new()));
            // Keys of arrays inside arrays can look alike; such are found by key.
            if entry.0 == lead {
                entry.1.insert(sample.indices.get(..lead).unwrap_or_default().to_vec(), i);
            }
        }
        forms
    }

    fn place_group(&mut self, group: Group, lead: usize, arrays: &ByLead, grids: &[Grid], into: &mut [Gathered]) {
        if lead == 0
            && let Some(&array) = arrays.get([].as_slice())
            && let (Some(grid), Some(gathered)) = (grids.get(array), into.get_mut(array))
        {
            let indices = group.indices.chunks_exact(group.width());
            let numbers: Option<Vec<u64>> =
                indices.map(|index| grid.number(index.iter().map(|&i| u64::from(i)))).collect();
            if let Some(numbers) = numbers {
                let Group { urls, offsets, lengths, .. } = group;
                *gathered = Gathered { numbers, urls, offsets, lengths };
                return;
            }
        }
        for (i, index) in group.indices.chunks_exact(group.width()).enumerate() {
            let Some(row) = group.row(i) else { continue };
            let (head, rest) = index.split_at_checked(lead).unwrap_or((index, &[]));
            let array = arrays.get(head).copied();
            let number = array.and_then(|at| grids.get(at)?.number(rest.iter().map(|&i| u64::from(i))));
            match (array.and_then(|at| into.get_mut(at)), number) {
                (Some(gathered), Some(number)) => gathered.push(number, row),
                _ => self.odd.push((group.key(i).into(), row)),
            }
        }
    }
}

fn rows(group: &Group) -> impl Iterator<Item = (String, Row)> {
    (0..group.urls.len()).filter_map(|i| Some((group.key(i), group.row(i)?)))
}

/// The array that a key is a chunk of, and the chunk's number.
fn chunk(key: &str, grids: &[Grid], by_path: &HashMap<&str, usize>) -> Option<(usize, u64)> {
    let mut end = key.len();
    loop {
        end = key.get(..end)?.rfind('/').map_or(0, |at| at.saturating_add(1));
        if let Some(&array) = by_path.get(key.get(..end)?)
            && let Some(grid) = grids.get(array)
            && let Some(mut index) = grid.keys.parse(key, grid.counts.len())
        {
            if grid.keys.reversed {
                index.reverse();
            }
            if let Some(number) = grid.number(index.into_iter()) {
                return Some((array, number));
            }
        }
        end = end.checked_sub(1)?;
    }
}

type Sorted = (BTreeMap<String, Bytes>, Vec<(Box<str>, Row)>);

/// Tell documents from references to elsewhere; of keys that are there twice only the last is left.
fn sorted(mut odd: Vec<(Box<str>, Row)>, inline: &Bytes) -> Result<Sorted> {
    odd.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut documents = BTreeMap::new();
    let mut loose: Vec<(Box<str>, Row)> = Vec::new();
    let mut all = odd.into_iter().peekable();
    while let Some((key, row)) = all.next() {
        if all.peek().is_some_and(|(next, _)| *next == key) {
            continue;
        }
        check_key(&key)?;
        if row.url == INLINE {
            let place = usize::try_from(row.offset).ok().zip(usize::try_from(row.length).ok());
            let range = place.and_then(|(start, n)| Some(start..start.checked_add(n)?));
            let bytes = range.filter(|range| range.end <= inline.len()).map(|range| inline.slice(range));
            documents.insert(key.into(), bytes.unwrap_or_default());
        } else {
            loose.push((key, row));
        }
    }
    Ok((documents, loose))
}
