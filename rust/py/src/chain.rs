//! Codec chains from the list of steps that Python hands down.

use std::sync::Arc;

use omnizarr_core::chain::{ArrayStep, Chain, Pack, Shard};
use omnizarr_core::codec::{
    Blosc, Bz2, Crc32c, Delta, Gzip, Lz4, Lzma, LzmaFilter, Shapeless, Shuffle, Step, Zlib, Zstd,
};
use omnizarr_core::error::CodecError;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::foreign::{PythonFilter, PythonStep};

type Steps<'py> = Vec<(String, Bound<'py, PyDict>)>;

fn option<'py, T>(config: &Bound<'py, PyDict>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let value = config.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    value.extract().map_err(Into::into)
}

fn valid<T>(step: Result<T, CodecError>) -> PyResult<T> {
    step.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn made<T: Step + 'static>(step: Result<T, CodecError>) -> PyResult<Arc<dyn Step>> {
    valid(step).map(|step| Arc::new(step) as Arc<dyn Step>)
}

/// Build the chain for elements of `item` bytes.
pub fn build(steps: &Bound<'_, PyList>, item: usize, most_variable: usize) -> PyResult<Chain> {
    assemble(steps.extract::<Steps<'_>>()?, item, most_variable)
}

fn assemble(steps: Steps<'_>, item: usize, most_variable: usize) -> PyResult<Chain> {
    let mut chain = Chain { item, order: None, array: Vec::new(), pack: Pack::Vlen, bytes: Vec::new(), most_variable };
    let mut packed = false;
    for (name, config) in &steps {
        match name.as_str() {
            "transpose" => transpose(&mut chain, option(config, "order")?)?,
            "bytes" => (chain.pack, packed) = (Pack::Bytes { swap: option(config, "swap")? }, true),
            "vlen" => (chain.pack, packed) = (Pack::Vlen, true),
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
                    "array-bytes" => (chain.pack, packed) = (Pack::Code(Arc::new(PythonFilter(step))), true),
                    _ => chain.bytes.push(Arc::new(step)),
                }
            }
            "delta" => {
                let (dtype, astype): (String, String) = (option(config, "dtype")?, option(config, "astype")?);
                chain.array.push(ArrayStep::Code(Arc::new(Shapeless(valid(Delta::new(&dtype, &astype))?))));
            }
            _ => chain.bytes.push(byte_step(name, config)?),
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

fn python_step(config: &Bound<'_, PyDict>) -> PyResult<PythonStep> {
    let (encoded, decoded): (Option<usize>, Option<usize>) =
        (option(config, "encoded_size")?, option(config, "decoded_size")?);
    Ok(PythonStep { codec: option(config, "codec")?, name: option(config, "name")?, sizes: encoded.zip(decoded) })
}

fn byte_step(name: &str, config: &Bound<'_, PyDict>) -> PyResult<Arc<dyn Step>> {
    match name {
        "gzip" => made(Gzip::new(option(config, "level")?)),
        "zlib" => made(Zlib::new(option(config, "level")?)),
        "zstd" => made(Zstd::new(option(config, "level")?, option(config, "checksum")?)),
        "lz4" => made(Lz4::new(option(config, "acceleration")?)),
        "bz2" => made(Bz2::new(option(config, "level")?)),
        "crc32c" => made(Ok(Crc32c::new())),
        "shuffle" => made(Shuffle::new(option(config, "elementsize")?)),
        "lzma" => lzma(config),
        "blosc" => {
            let cname: String = option(config, "cname")?;
            let codec = valid(Blosc::new(
                &cname,
                option(config, "clevel")?,
                option(config, "shuffle")?,
                option(config, "typesize")?,
                option(config, "blocksize")?,
            ))?;
            let in_order: bool = option(config, "bytes_in_order")?;
            made(Ok(if in_order { codec.bytes_in_order() } else { codec }))
        }
        _ => Err(PyValueError::new_err(format!("the kernel has no codec {name:?}"))),
    }
}

fn lzma(config: &Bound<'_, PyDict>) -> PyResult<Arc<dyn Step>> {
    let filters: Option<Vec<Bound<'_, PyDict>>> = option(config, "filters")?;
    let filter = |entry: &Bound<'_, PyDict>| -> PyResult<LzmaFilter> {
        let rest = entry.iter().filter(|(name, _)| !name.eq("id").unwrap_or(false));
        let options: PyResult<Vec<(String, u64)>> =
            rest.map(|(name, value)| Ok((name.extract()?, value.extract()?))).collect();
        Ok(LzmaFilter { id: option(entry, "id")?, options: options? })
    };
    let filters = filters.map(|list| list.iter().map(filter).collect::<PyResult<Vec<_>>>()).transpose()?;
    made(Lzma::new(option(config, "format")?, option(config, "check")?, option(config, "preset")?, filters))
}
