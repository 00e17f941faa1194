//! Chunk keys: one template covers every generation of Zarr.

use std::fmt::Write;

/// How a chunk's indices become its key, below the array's own prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// The array's path in the store: empty, or ending in `/`.
    pub path: String,
    /// What stands before the first index, as it is: `c/` in version 3; may be empty.
    pub prefix: String,
    /// Between indices.
    pub separator: String,
    /// Behind the last index.
    pub suffix: String,
    /// The key of the only chunk of an array without dimensions.
    pub scalar: String,
    /// Whether the index of the last dimension comes first.
    pub reversed: bool,
}

impl Keys {
    /// Write the key of the chunk at `index` into `key`, replacing what was there.
    pub fn write(&self, index: &[u64], key: &mut String) {
        key.clear();
        key.push_str(&self.path);
        if index.is_empty() {
            key.push_str(&self.scalar);
        } else {
            key.push_str(&self.prefix);
            if self.reversed {
                self.write_indices(index.iter().rev(), key);
            } else {
                self.write_indices(index.iter(), key);
            }
            key.push_str(&self.suffix);
        }
    }

    fn write_indices<'a>(&self, index: impl Iterator<Item = &'a u64>, key: &mut String) {
        for (d, i) in index.enumerate() {
            if d > 0 {
                key.push_str(&self.separator);
            }
            // Writing to a String cannot fail.
            let _ = write!(key, "{i}");
        }
    }

    /// The indices that a key stands for, if it is one that [`Keys::write`] makes for this many dimensions.
    pub fn parse(&self, key: &str, dimensions: usize) -> Option<Vec<u64>> {
        let rest = key.strip_prefix(&self.path)?;
        if dimensions == 0 {
            return (rest == self.scalar).then(Vec::new);
        }
        let rest = rest.strip_prefix(&self.prefix)?.strip_suffix(&self.suffix)?;
        let mut index = rest.split(&self.separator).map(number).collect::<Option<Vec<u64>>>()?;
        if self.reversed {
            index.reverse();
        }
        (index.len() == dimensions).then_some(index)
    }
}

/// A decimal number as keys spell it: no sign, no leading zero.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_both_versions_and_back() {
        let three = Keys {
            path: "a/".into(),
            prefix: "c/".into(),
            separator: "/".into(),
            scalar: "c".into(),
            ..Keys::default()
        };
        let two = Keys { separator: ".".into(), scalar: "0".into(), ..Keys::default() };
        let mut key = String::new();
        three.write(&[1, 20, 3], &mut key);
        assert_eq!(key, "a/c/1/20/3");
        assert_eq!(three.parse(&key, 3), Some(vec![1, 20, 3]));
        assert_eq!(three.parse("a/c/1/02/3", 3), None);
        assert_eq!(three.parse("a/c/1/2", 3), None);
        three.write(&[], &mut key);
        assert_eq!(key, "a/c");
        two.write(&[4, 5], &mut key);
        assert_eq!(key, "4.5");
        assert_eq!(two.parse("4.5", 2), Some(vec![4, 5]));
        assert_eq!(two.parse("+4.5", 2), None);
        two.write(&[], &mut key);
        assert_eq!(key, "0");
        let back = Keys { separator: "/".into(), suffix: ".x".into(), reversed: true, ..Keys::default() };
        back.write(&[4, 5], &mut key);
        assert_eq!(key, "5/4.x");
        assert_eq!(back.parse("5/4.x", 2), Some(vec![4, 5]));
    }
}
