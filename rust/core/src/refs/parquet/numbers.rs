//! Numbers of many rows; where all are the same, as sizes of chunks often are, one stands for all.

/// A column of numbers.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The number of all rows, and how many there are, as long as no other has come.
    same: (u64, usize),
    values: Vec<u64>,
}

impl Numbers {
    /// Make room for rows that come.
    pub fn reserve(&mut self, rows: usize) {
        if !self.values.is_empty() {
            self.values.reserve(rows);
        }
    }

    /// Add rows with one number.
    pub fn push(&mut self, value: u64, count: usize) {
        if self.values.is_empty() && (self.same.1 == 0 || self.same.0 == value) {
            self.same = (value, self.same.1.saturating_add(count));
        } else {
            self.spread(count);
            self.values.extend(std::iter::repeat_n(value, count));
        }
    }

    /// Add rows with a number each.
    pub fn extend(&mut self, values: &[[u8; 8]]) {
        let Some(first) = values.first() else { return };
        let shifted = values.get(1..).unwrap_or_default();
        if values.get(..shifted.len()) == Some(shifted) {
            self.push(u64::from_le_bytes(*first), values.len());
        } else {
            self.spread(values.len());
            self.values.extend(values.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        }
    }

    /// Give each row its own number, and make room for more.
    fn spread(&mut self, more: usize) {
        let (value, count) = std::mem::take(&mut self.same);
        self.values.reserve(count.saturating_add(more));
        self.values.extend(std::iter::repeat_n(value, count));
    }

    /// The number of a row; 0 where there is none.
    pub fn get(&self, row: usize) -> u64 {
        if row < self.same.1 { self.same.0 } else { self.values.get(row).copied().unwrap_or(0) }
    }

    /// How much memory they take.
    pub fn bytes(&self) -> usize {
        self.values.capacity().saturating_mul(8)
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    fn all(numbers: &Numbers, rows: usize) -> Vec<u64> {
        (0..rows).map(|row| numbers.get(row)).collect()
    }

    #[test]
    fn one_stands_for_all() {
        let mut numbers = Numbers::default();
        numbers.push(7, 2);
        numbers.extend(&[7u64.to_le_bytes(); 3]);
        numbers.push(7, 0);
        assert_eq!((all(&numbers, 6), numbers.bytes()), (vec![7, 7, 7, 7, 7, 0], 0));
        numbers.push(8, 1);
        numbers.push(7, 1);
        numbers.extend(&[1u64.to_le_bytes(), 2u64.to_le_bytes()]);
        assert_eq!(all(&numbers, 10), [7, 7, 7, 7, 7, 8, 7, 1, 2, 0]);
        assert_eq!(*all(&numbers, 8).last().unwrap(), 1);
    }
}
