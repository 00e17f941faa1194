//! The values that a variable of a formula goes through.

use std::collections::HashMap;

use crate::error::{Error, Result};

/// The values of a variable, in order.
#[derive(Debug, Clone)]
pub struct Dimension {
    values: Values,
}

#[derive(Debug, Clone)]
enum Values {
    Range { start: i64, step: i64, count: u64 },
    List { values: Vec<i64>, places: HashMap<i64, u64> },
}

impl Dimension {
    /// From `start` to before `stop`, in steps that may be negative.
    pub fn range(start: i64, stop: i64, step: i64) -> Result<Self> {
        let wide = |value: i64| i128::from(value);
        let way = if step > 0 { wide(stop).checked_sub(wide(start)) } else { wide(start).checked_sub(wide(stop)) };
        let size = wide(step).unsigned_abs();
        let count = way.and_then(|way| u128::try_from(way).ok()).unwrap_or(0);
        if size == 0 {
            return Err(Error::Metadata { key: "gen".into(), message: "the step of a dimension is 0".into() });
        }
        // At most the distance between two i64, which has its place in u64.
        let count = u64::try_from(count.div_ceil(size)).unwrap_or(u64::MAX);
        Ok(Self { values: Values::Range { start, step, count } })
    }

    /// These values.
    pub fn list(values: Vec<i64>) -> Self {
        // Of a value that is there twice the last place is kept, which is the one that counts.
        let places = values.iter().zip(0u64..).map(|(&value, place)| (value, place)).collect();
        Self { values: Values::List { values, places } }
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        match &self.values {
            Values::Range { count, .. } => *count,
            Values::List { values, .. } => values.len() as u64,
        }
    }

    /// The value at a place.
    pub fn value(&self, place: u64) -> Option<i64> {
        match &self.values {
            Values::Range { start, step, count } => {
                let way = i128::from(*step).checked_mul(i128::from(place))?;
                let value = i64::try_from(i128::from(*start).checked_add(way)?).ok()?;
                (place < *count).then_some(value)
            }
            Values::List { values, .. } => values.get(usize::try_from(place).ok()?).copied(),
        }
    }

    /// The last place of a value.
    pub fn place(&self, value: i128) -> Option<u64> {
        match &self.values {
            Values::Range { start, step, count } => {
                let (way, step) = (value.checked_sub(i128::from(*start))?, i128::from(*step));
                if way.checked_rem(step)? != 0 {
                    return None;
                }
                u64::try_from(way.checked_div(step)?).ok().filter(|place| place < count)
            }
            Values::List { places, .. } => places.get(&i64::try_from(value).ok()?).copied(),
        }
    }
}
