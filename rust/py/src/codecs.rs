//! The kernel's own codecs, each from the options that Python hands down.

use std::sync::Arc;

use omnizarr_core::codec::{
    Base64, BitOrder, Blosc, Bz2, Checksum, Conditional, Crc32c, Gzip, Lz4, Lzma, LzmaFilter, N5Lz4, Rice, Shuffle,
    Step, Sum, Szip, SzipOptions, TiffLzw, TiffPackBits, Zlib, Zstd,
};
use omnizarr_core::error::CodecError;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::foreign::PythonStep;
use crate::hdf5_codecs::hdf5_step;

/// An option that must be there.
pub fn option<'py, T>(config: &Bound<'py, PyDict>, name: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let value = config.get_item(name)?.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    value.extract().map_err(Into::into)
}

/// A codec, or the complaint that its options do not suit it.
pub fn valid<T>(step: Result<T, CodecError>) -> PyResult<T> {
    step.map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A codec as a step of a chain.
pub fn made<T: Step + 'static>(step: Result<T, CodecError>) -> PyResult<Arc<dyn Step>> {
    valid(step).map(|step| Arc::new(step) as Arc<dyn Step>)
}

pub fn python_step(config: &Bound<'_, PyDict>) -> PyResult<PythonStep> {
    let (encoded, decoded): (Option<usize>, Option<usize>) =
        (option(config, "encoded_size")?, option(config, "decoded_size")?);
    Ok(PythonStep { codec: option(config, "codec")?, name: option(config, "name")?, sizes: encoded.zip(decoded) })
}

/// A codec of bytes.
pub fn byte_step(name: &str, config: &Bound<'_, PyDict>) -> PyResult<Arc<dyn Step>> {
    match name {
        "gzip" => made(Gzip::new(option(config, "level")?)),
        "zlib" => made(Zlib::new(option(config, "level")?)),
        "zstd" => made(Zstd::new(option(config, "level")?, option(config, "checksum")?)),
        "lz4" => made(Lz4::new(option(config, "acceleration")?)),
        "bz2" => made(Bz2::new(option(config, "level")?)),
        "crc32c" => made(Ok(Crc32c::new())),
        "shuffle" => made(Shuffle::new(option(config, "elementsize")?)),
        "lzma" => lzma(config),
        "szip" => made(Szip::new(SzipOptions {
            mask: option(config, "mask")?,
            block: option(config, "block")?,
            line: option(config, "line")?,
            bits: option(config, "bits")?,
        })),
        "tiff_lzw" => made(Ok(TiffLzw)),
        "tiff_packbits" => made(Ok(TiffPackBits)),
        "bit_order" => made(Ok(BitOrder)),
        "rice" => made(Rice::new((option(config, "size")?, option(config, "big")?), option(config, "block")?)),
        "base64" => made(Ok(Base64)),
        "checksum" => Ok(Arc::new(checksum(config)?)),
        "conditional" => {
            let steps: Vec<(String, Bound<'_, PyDict>)> = option(config, "codecs")?;
            let steps: PyResult<Vec<_>> = steps.iter().map(|(name, config)| byte_step(name, config)).collect();
            made(Conditional::new(steps?, option(config, "header_bits")?))
        }
        "n5.lz4" => made(N5Lz4::new(option(config, "block_size")?)),
        "python" => Ok(Arc::new(python_step(config)?)),
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
        _ => {
            let unknown = || PyValueError::new_err(format!("the kernel has no codec {name:?}"));
            hdf5_step(name, config)?.ok_or_else(unknown)
        }
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

fn checksum(config: &Bound<'_, PyDict>) -> PyResult<Checksum> {
    let name: String = option(config, "sum")?;
    let sum = match name.as_str() {
        "crc32" => Sum::Crc32,
        "crc32c" => Sum::Crc32c,
        "adler32" => Sum::Adler32,
        "fletcher32" => Sum::Fletcher32,
        "jenkins_lookup3" => {
            Sum::JenkinsLookup3 { initial: option(config, "initval")?, prefix: option(config, "prefix")? }
        }
        _ => return Err(PyValueError::new_err(format!("the kernel has no checksum {name:?}"))),
    };
    Ok(Checksum::new(sum, option(config, "at_start")?))
}
