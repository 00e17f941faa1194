//! The URLs of a set, each under a number.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::columns::INLINE;
use crate::error::{Error, Result};
use crate::fork;

/// URLs under numbers, each once; more can be added while the set is in use.
#[derive(Default)]
pub struct Urls {
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    texts: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Urls {
    /// The number of a URL, which is added if it is new.
    pub fn number(&self, url: &str) -> Result<u32> {
        let _fork = fork::guard();
        if let Some(&number) = self.table.read().unwrap_or_else(PoisonError::into_inner).numbers.get(url) {
            return Ok(number);
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&number) = table.numbers.get(url) {
            return Ok(number);
        }
        let number = u32::try_from(table.texts.len()).ok().filter(|&number| number < INLINE);
        let number = number.ok_or_else(|| Error::Limit("more than four thousand million URLs".into()))?;
        let text: Arc<str> = url.into();
        table.texts.push(Arc::clone(&text));
        table.numbers.insert(text, number);
        Ok(number)
    }

    /// The URL of a number.
    pub fn get(&self, number: u32) -> Option<Arc<str>> {
        let _fork = fork::guard();
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.texts.get(usize::try_from(number).ok()?).map(Arc::clone)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let _fork = fork::guard();
        self.table.read().unwrap_or_else(PoisonError::into_inner).texts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
