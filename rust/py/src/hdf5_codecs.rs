//! The codecs of HDF5's filters, each from the options that Python hands down.

use std::sync::Arc;

use omnizarr_core::codec::{
    Bitshuffle, BitshuffleCompressor, Hdf5Lz4, Hdf5Zfp, Lzf, NBit, NumberAt, ScaleOffset, Shuffle, Step,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::codecs::{made, option};

/// A codec of bytes; `None` if the name is no such codec's.
pub fn hdf5_step(name: &str, config: &Bound<'_, PyDict>) -> PyResult<Option<Arc<dyn Step>>> {
    let parameters = || option::<Vec<u32>>(config, "parameters");
    let step = match name {
        "lzf" => made(Ok(Lzf)),
        "lz4h5" => made(Hdf5Lz4::new(option(config, "block")?)),
        "bitshuffle" => {
            let compressor: String = option(config, "compressor")?;
            let compressor = match compressor.as_str() {
                "lz4" => BitshuffleCompressor::Lz4,
                "zstd" => BitshuffleCompressor::Zstd(option(config, "level")?),
                _ => BitshuffleCompressor::None,
            };
            made(Bitshuffle::new(option(config, "elementsize")?, option(config, "block")?, compressor))
        }
        "shuffle_rest" => made(Shuffle::new(option(config, "elementsize")?).map(Shuffle::with_rest)),
        "scaleoffset" => made(ScaleOffset::new(&parameters()?)),
        "nbit" => {
            let numbers: Option<Vec<(usize, bool)>> = option(config, "numbers")?;
            let number = |(offset, signed)| NumberAt { offset, signed };
            let numbers: Option<Vec<_>> = numbers.map(|list| list.into_iter().map(number).collect());
            made(NBit::new(&parameters()?, numbers.as_deref()))
        }
        "hdf5_zfp" => made(Hdf5Zfp::new(&parameters()?)),
        _ => return Ok(None),
    };
    step.map(Some)
}
