//! Codec chains from the list of steps that Python hands down.

use std::sync::Arc;

use omnizarr_core::chain::{ArrayStep, Chain, Pack, Shard};
use omnizarr_core::clean::Clean;
use omnizarr_core::codec::Series;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::codecs::{byte_step, option, python_step};
use crate::filters::{array_step, pack_step};
use crate::foreign::PythonFilter;

pub type Steps<'py> = Vec<(String, Bound<'py, PyDict>)>;

/// Build the chain for elements of `item` bytes.
pub fn build(steps: &Bound<'_, PyList>, item: usize, most_variable: usize) -> PyResult<Chain> {
    assemble(steps.extract::<Steps<'_>>()?, item, most_variable)
}

fn assemble(steps: Steps<'_>, item: usize, most_variable: usize) -> PyResult<Chain> {
    let mut chain = Chain {
        item,
        order: None,
        array: Vec::new(),
        pack: Pack::Vlen(None),
        bytes: Vec::new(),
        most_variable,
        clean: None,
    };
    let mut packed = false;
    for (name, config) in &steps {
        match name.as_str() {
            "transpose" => transpose(&mut chain, option(config, "order")?)?,
            "bytes" => (chain.pack, packed) = (Pack::Bytes { swap: option(config, "swap")? }, true),
            "clean" => {
                let (bits, signed) = (option(config, "bits")?, option(config, "signed")?);
                chain.clean = Some(if bits == 1 { Clean::Bool } else { Clean::Bits { bits, signed } });
            }
            "vlen" => (chain.pack, packed) = (Pack::Vlen(None), true),
            "sharding" => {
                let inner = assemble(option(config, "codecs")?, item, most_variable)?;
                let index = assemble(option(config, "index_codecs")?, 8, most_variable)?;
                let cell: Vec<usize> = option(config, "chunk_shape")?;
                let index_at_start = option(config, "index_at_start")?;
                let shard = Shard { cell: cell.into_iter().collect(), inner, index, index_at_start };
                (chain.pack, packed) = (Pack::Shard(Box::new(shard)), true);
            }
            "python" => {
                let kind: String = option(config, "kind")?;
                let step = python_step(config)?;
                match kind.as_str() {
                    "array" => chain.array.push(ArrayStep::Code(Arc::new(PythonFilter(step)))),
                    // What the elements of any length were packed into is all that it could work on.
                    "array-bytes" if packed => chain.pack = Pack::Vlen(Some(Arc::new(PythonFilter(step)))),
                    "array-bytes" => (chain.pack, packed) = (Pack::Code(Arc::new(PythonFilter(step))), true),
                    _ => chain.bytes.push(Arc::new(step)),
                }
            }
            _ => {
                if let Some(step) = array_step(name, config)? {
                    chain.array.push(step);
                } else if let Some(pack) = pack_step(name, config)? {
                    (chain.pack, packed) = (pack, true);
                } else {
                    chain.bytes.push(byte_step(name, config)?);
                }
            }
        }
    }
    if packed { Ok(chain) } else { Err(PyValueError::new_err("a chain needs a step from array to bytes")) }
}

/// Fold a transpose into the order in which chunks are copied; behind a filter it stays a step of its own.
fn transpose(chain: &mut Chain, order: Vec<usize>) -> PyResult<()> {
    if !chain.array.is_empty() {
        chain.array.push(ArrayStep::Transpose(order.into_iter().collect()));
        return Ok(());
    }
    let folded = match &chain.order {
        None => Some(order.into_iter().collect()),
        Some(before) => order.iter().map(|&a| before.get(a).copied()).collect(),
    };
    chain.order = Some(folded.ok_or_else(|| PyValueError::new_err("transpose orders of different lengths"))?);
    Ok(())
}

/// Codecs of bytes one after the other.
pub fn series(steps: Steps<'_>) -> PyResult<Series> {
    let steps: PyResult<Vec<_>> = steps.iter().map(|(name, config)| byte_step(name, config)).collect();
    Ok(Series::new(steps?))
}
