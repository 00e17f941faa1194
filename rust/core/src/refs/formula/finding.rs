//! A formula as references by key.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::node::{Fault, Node, Value};
use super::pattern::Pattern;
use super::{Bounds, Dimension};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::refs::{ByKey, JsonSet, Reference, Urls};

/// Files end before this.
const MOST_BYTES: u64 = 1 << 63;

/// References by formula.
pub struct Formula {
    dimensions: Vec<Dimension>,
    key: Node,
    pattern: Pattern,
    url: Node,
    part: Option<(Node, Node)>,
    urls: Arc<Urls>,
    bounds: Bounds,
    /// Places in the product by key, where the key's text cannot be solved.
    expanded: OnceLock<HashMap<Box<str>, u64>>,
}

impl Formula {
    /// A formula whose URLs get numbers in the table of a set.
    pub fn new(
        dimensions: Vec<Dimension>,
        key: Node,
        url: Node,
        part: Option<(Node, Node)>,
        urls: Arc<Urls>,
        bounds: Bounds,
    ) -> Self {
        let pattern = Pattern::new(&key);
        Self { dimensions, key, pattern, url, part, urls, bounds, expanded: OnceLock::new() }
    }

    /// How many keys there are at most; `None` for more than 64 bits hold.
    pub fn count(&self) -> Option<u64> {
        let counts = self.dimensions.iter().map(Dimension::count);
        if counts.clone().any(|count| count == 0) {
            return Some(0);
        }
        counts.into_iter().try_fold(1u64, u64::checked_mul)
    }

    fn wrong(&self, key: &str, message: Fault) -> Error {
        Error::Metadata { key: key.into(), message: format!("a formula of the set cannot be evaluated: {message}") }
    }

    /// The values of the dimensions at a place of the product, the last dimension running fastest.
    fn values_at(&self, place: u64, values: &mut [i64]) -> bool {
        let mut rest = place;
        for (dimension, value) in self.dimensions.iter().zip(values.iter_mut()).rev() {
            let count = dimension.count();
            let found = rest.checked_rem(count).and_then(|at| dimension.value(at));
            rest = rest.checked_div(count).unwrap_or(0);
            let Some(found) = found else { return false };
            *value = found;
        }
        rest == 0
    }

    /// The values of the dimensions for a key. Where several give it, those that come last in the product.
    fn solve(&self, key: &str) -> Result<Option<Vec<i64>>> {
        if !self.pattern.solvable {
            return self.look_up(key);
        }
        if self.count() == Some(0) {
            return Ok(None);
        }
        let mut best: Option<Vec<u64>> = None;
        let mut text = String::new();
        let mut fault = None;
        let within = self.pattern.matches(key, self.dimensions.len(), &mut |found| {
            let places: Option<Vec<u64>> = self
                .dimensions
                .iter()
                .zip(found)
                .map(|(dimension, value)| match value {
                    Some(value) => dimension.place(*value),
                    None => dimension.count().checked_sub(1),
                })
                .collect();
            let Some(places) = places else { return };
            if best.as_ref().is_some_and(|best| *best >= places) {
                return;
            }
            text.clear();
            match self.key.write(&self.values(&places), &self.bounds, &mut text) {
                Ok(()) if text == key => best = Some(places),
                Ok(()) => {}
                Err(message) => fault = Some(message),
            }
        });
        if !within {
            let message = format!("{key:?} matches the keys of a formula in too many ways");
            return Err(Error::Limit(message));
        }
        match (best, fault) {
            (Some(places), _) => Ok(Some(self.values(&places))),
            (None, Some(message)) => Err(self.wrong(key, message)),
            (None, None) => Ok(None),
        }
    }

    fn values(&self, places: &[u64]) -> Vec<i64> {
        self.dimensions.iter().zip(places).map(|(dimension, &place)| dimension.value(place).unwrap_or(0)).collect()
    }

    /// Find a key among all keys, which are made for that once.
    fn look_up(&self, key: &str) -> Result<Option<Vec<i64>>> {
        if !key.starts_with(self.pattern.start()) {
            return Ok(None);
        }
        if self.expanded.get().is_none() {
            let made = self.expand()?;
            let _ = self.expanded.set(made);
        }
        let mut values = vec![0; self.dimensions.len()];
        let place = self.expanded.get().and_then(|all| all.get(key));
        Ok(place.filter(|&&place| self.values_at(place, &mut values)).map(|_| values.clone()))
    }

    fn expand(&self) -> Result<HashMap<Box<str>, u64>> {
        let count = self.count().filter(|&count| count <= self.bounds.expanded).ok_or_else(|| {
            Error::Limit("a formula has too many keys, and none can be told from its text without making all".into())
        })?;
        let mut all = HashMap::new();
        let mut values = vec![0; self.dimensions.len()];
        for place in 0..count {
            self.values_at(place, &mut values);
            all.insert(self.text(&self.key, &values, "")?.into(), place);
        }
        Ok(all)
    }

    fn text(&self, node: &Node, values: &[i64], key: &str) -> Result<String> {
        let mut out = String::new();
        node.write(values, &self.bounds, &mut out).map_err(|fault| self.wrong(key, fault))?;
        Ok(out)
    }

    fn number(&self, node: &Node, values: &[i64], key: &str) -> Result<u64> {
        let value = node.value(values, &self.bounds).map_err(|fault| self.wrong(key, fault))?;
        let number = match &value {
            Value::Int(value) => u64::try_from(*value).ok(),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.wrong(key, "an offset or length is no whole number from 0 on"))
    }

    fn url_and_part(&self, values: &[i64], key: &str) -> Result<(String, Option<(u64, u64)>)> {
        let url = self.text(&self.url, values, key)?;
        if url.is_empty() {
            return Err(self.wrong(key, "the URL is empty"));
        }
        let Some((offset, length)) = &self.part else { return Ok((url, None)) };
        let (offset, length) = (self.number(offset, values, key)?, self.number(length, values, key)?);
        match offset.checked_add(length) {
            Some(end) if end < MOST_BYTES => Ok((url, Some((offset, length)))),
            _ => Err(self.wrong(key, "no file is as long as the reference says")),
        }
    }

    /// Add all references to a set, if there are no more than `most`; says how many there were.
    pub fn expand_into(&self, set: &mut JsonSet, most: u64) -> Result<u64> {
        let many = || Error::Limit(format!("a formula of the set makes more than {most} references"));
        let count = self.count().filter(|&count| count <= most).ok_or_else(many)?;
        let mut values = vec![0; self.dimensions.len()];
        for place in 0..count {
            self.values_at(place, &mut values);
            let key = self.text(&self.key, &values, "")?;
            let (url, part) = self.url_and_part(&values, &key)?;
            set.push_part(&key, &url, part)?;
        }
        Ok(count)
    }
}

impl ByKey for Formula {
    fn find(&self, key: &str) -> Result<Option<Reference>> {
        let Some(values) = self.solve(key)? else { return Ok(None) };
        let (url, part) = self.url_and_part(&values, key)?;
        let url = self.urls.number(&url)?;
        Ok(Some(match part {
            None => Reference::Whole { url },
            Some((offset, length)) => Reference::Range { url, offset, length },
        }))
    }

    fn may_hold(&self, keys: &Keys) -> bool {
        let start = self.pattern.start();
        start.starts_with(&keys.path) || keys.path.starts_with(start)
    }

    fn only_folder(&self, prefix: &str) -> Option<String> {
        let (name, _) = self.pattern.start().strip_prefix(prefix)?.split_once('/')?;
        (self.count() != Some(0)).then(|| format!("{prefix}{name}/"))
    }

    fn keys(&self, prefix: &str, most: usize) -> Result<Vec<String>> {
        let start = self.pattern.start();
        if (!start.starts_with(prefix) && !prefix.starts_with(start)) || self.count() == Some(0) {
            return Ok(Vec::new());
        }
        let many = || Error::Limit("a formula of the set has too many keys to list".into());
        let count = self.count().filter(|&count| count <= most as u64).ok_or_else(many)?;
        let mut values = vec![0; self.dimensions.len()];
        let mut keys = Vec::new();
        for place in 0..count {
            self.values_at(place, &mut values);
            let key = self.text(&self.key, &values, "")?;
            if key.starts_with(prefix) {
                keys.push(key);
            }
        }
        Ok(keys)
    }
}
