//! Filter chains of LZMA, in the words of Python's `lzma` module.

use super::lzma::wrong;
use crate::error::CodecError;
use liblzma::stream::{Filters, LzmaOptions, MatchFinder, Mode};

pub(super) const LZMA1: u64 = 0x4000_0000_0000_0001;
pub(super) const LZMA2: u64 = 0x21;
const DELTA: u64 = 3;

/// The preset whose values the options of a filter start from.
const DEFAULT_PRESET: u32 = 6;

/// The smallest dictionary there is.
const LEAST_DICTIONARY: usize = 4096;

/// One filter: its number and its options, as in the codec's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LzmaFilter {
    /// One of the `FILTER_…` numbers.
    pub id: u64,
    /// Options by name: `preset`, `dict_size`, `lc`, `lp`, `pb`, `mode`, `nice_len`, `mf`, `depth`; `dist`;
    /// `start_offset`.
    pub options: Vec<(String, u64)>,
}

impl LzmaFilter {
    fn option(&self, name: &str) -> Result<Option<u32>, CodecError> {
        let Some((_, value)) = self.options.iter().find(|(known, _)| known == name) else { return Ok(None) };
        u32::try_from(*value).map(Some).map_err(|_| wrong(format!("{name} {value} is too large")))
    }

    fn allow(&self, names: &[&str]) -> Result<(), CodecError> {
        match self.options.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            Some((name, _)) => Err(wrong(format!("filter {:#x} has no option {name:?}", self.id))),
            None => Ok(()),
        }
    }

    /// The settings of an LZMA filter, its dictionary no larger than `limit` bytes.
    pub(super) fn lzma(&self, limit: usize) -> Result<LzmaOptions, CodecError> {
        self.allow(&["preset", "dict_size", "lc", "lp", "pb", "mode", "nice_len", "mf", "depth"])?;
        let preset = self.option("preset")?.unwrap_or(DEFAULT_PRESET);
        let mut options = LzmaOptions::new_preset(preset).map_err(|_| wrong(format!("no preset {preset}")))?;
        // A distance never reaches back past the first byte, so a larger dictionary would only cost memory.
        let limit = u32::try_from(limit.max(LEAST_DICTIONARY)).unwrap_or(u32::MAX);
        let size = self.option("dict_size")?.unwrap_or_else(|| preset_dictionary(preset));
        options.dict_size(size.min(limit));
        if let Some(bits) = self.option("lc")? {
            options.literal_context_bits(bits);
        }
        if let Some(bits) = self.option("lp")? {
            options.literal_position_bits(bits);
        }
        if let Some(bits) = self.option("pb")? {
            options.position_bits(bits);
        }
        if let Some(length) = self.option("nice_len")? {
            options.nice_len(length);
        }
        if let Some(depth) = self.option("depth")? {
            options.depth(depth);
        }
        match self.option("mode")? {
            None => {}
            Some(1) => _ = options.mode(Mode::Fast),
            Some(2) => _ = options.mode(Mode::Normal),
            Some(mode) => return Err(wrong(format!("no mode {mode}"))),
        }
        if let Some(finder) = self.option("mf")? {
            options.match_finder(match_finder(finder)?);
        }
        Ok(options)
    }

    /// Add the filter to a chain.
    fn push(&self, chain: &mut Filters, limit: usize) -> Result<(), CodecError> {
        let failed = |_| wrong(format!("filter {:#x} refuses its options", self.id));
        let jump = |filter: &Self| -> Result<[u8; 4], CodecError> {
            filter.allow(&["start_offset"])?;
            Ok(filter.option("start_offset")?.unwrap_or(0).to_le_bytes())
        };
        match self.id {
            LZMA1 => _ = chain.lzma1(&self.lzma(limit)?),
            LZMA2 => _ = chain.lzma2(&self.lzma(limit)?),
            DELTA => {
                self.allow(&["dist"])?;
                let distance = self.option("dist")?.unwrap_or(1);
                let stored = distance.checked_sub(1).and_then(|d| u8::try_from(d).ok());
                let stored = stored.ok_or_else(|| wrong(format!("dist {distance} is not one of 1 to 256")))?;
                chain.delta_properties(&[stored]).map_err(failed)?;
            }
            4 => _ = chain.x86_properties(&jump(self)?).map_err(failed)?,
            5 => _ = chain.powerpc_properties(&jump(self)?).map_err(failed)?,
            6 => _ = chain.ia64_properties(&jump(self)?).map_err(failed)?,
            7 => _ = chain.arm_properties(&jump(self)?).map_err(failed)?,
            8 => _ = chain.arm_thumb_properties(&jump(self)?).map_err(failed)?,
            9 => _ = chain.sparc_properties(&jump(self)?).map_err(failed)?,
            id => return Err(wrong(format!("no filter {id:#x}"))),
        }
        Ok(())
    }
}

/// The library's form of a chain, its dictionaries no larger than `limit` bytes.
pub(super) fn chain(filters: &[LzmaFilter], limit: usize) -> Result<Filters, CodecError> {
    if filters.is_empty() || filters.len() > 4 {
        return Err(wrong(format!("{} filters; there must be one to four", filters.len())));
    }
    let mut chain = Filters::new();
    for filter in filters {
        filter.push(&mut chain, limit)?;
    }
    Ok(chain)
}

/// The dictionary of a preset: 256 KiB to 64 MiB.
fn preset_dictionary(preset: u32) -> u32 {
    let powers = [18, 20, 21, 22, 22, 23, 23, 24, 25, 26];
    let level = usize::try_from(preset & 31).unwrap_or(usize::MAX);
    1 << powers.get(level).copied().unwrap_or(26_u32).min(26)
}

fn match_finder(number: u32) -> Result<MatchFinder, CodecError> {
    Ok(match number {
        3 => MatchFinder::HashChain3,
        4 => MatchFinder::HashChain4,
        18 => MatchFinder::BinaryTree2,
        19 => MatchFinder::BinaryTree3,
        20 => MatchFinder::BinaryTree4,
        _ => return Err(wrong(format!("no match finder {number}"))),
    })
}
