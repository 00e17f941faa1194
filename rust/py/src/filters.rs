//! The kernel's codecs of arrays, each from the options that Python hands down.

use std::sync::Arc;

use omnizarr_core::chain::{ArrayStep, Pack};
use omnizarr_core::codec::{
    Along, Arithmetic, BitRound, BoolBits, Delta, Length, N5, Number, NumberKind, PackBits, Padding, Pcodec,
    PcodecOptions, Reshape, Rounded, Shapeless, Step, TiffBits, TiffDelta, TiffFloats, Zfp, ZfpMode, ZfpType,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::chain::series;
use crate::codecs::{option, valid};

/// A codec from array to array; `None` if the name is no such codec's.
pub fn array_step(name: &str, config: &Bound<'_, PyDict>) -> PyResult<Option<ArrayStep>> {
    Ok(Some(match name {
        "delta" => {
            let (dtype, astype): (String, String) = (option(config, "dtype")?, option(config, "astype")?);
            shapeless(valid(Delta::new(&dtype, &astype))?)
        }
        "bitround" => {
            let numbers = (option(config, "size")?, option(config, "big")?);
            let fraction: Option<u32> = option(config, "fraction")?;
            let signed = option(config, "signed")?;
            let kind = fraction.map_or(Rounded::Integer { signed }, Rounded::Float);
            shapeless(valid(BitRound::new(numbers, kind, option(config, "keepbits")?))?)
        }
        "cast" => {
            let (from, to): (String, String) = (option(config, "from")?, option(config, "to")?);
            shapeless(valid(Arithmetic::cast(&from, &to))?)
        }
        "quantize" => {
            let (from, to): (String, String) = (option(config, "from")?, option(config, "to")?);
            shapeless(valid(Arithmetic::quantize(&from, &to, option(config, "scale")?))?)
        }
        "scale" => {
            let (from, to): (String, String) = (option(config, "from")?, option(config, "to")?);
            let (offset, scale) = (number(config, "offset")?, number(config, "scale")?);
            shapeless(valid(Arithmetic::scale(&from, &to, offset, scale))?)
        }
        "tiff_delta" => {
            let numbers = (option(config, "size")?, option(config, "big")?);
            ArrayStep::Code(Arc::new(valid(TiffDelta::new(numbers, along(config)?))?))
        }
        "bool_bits" => ArrayStep::Code(Arc::new(BoolBits)),
        "reshape" => ArrayStep::Reshape(Reshape::To(lengths(config)?)),
        "squeeze" => ArrayStep::Reshape(Reshape::Squeeze),
        _ => return Ok(None),
    }))
}

/// A codec from array to bytes; `None` if the name is no such codec's.
pub fn pack_step(name: &str, config: &Bound<'_, PyDict>) -> PyResult<Option<Pack>> {
    Ok(Some(match name {
        "packbits" => Pack::Code(Arc::new(packbits(config)?)),
        "tiff_floats" => {
            let numbers = (option(config, "size")?, option(config, "big")?);
            Pack::Code(Arc::new(valid(TiffFloats::new(numbers, along(config)?))?))
        }
        "tiff_bits" => {
            let numbers = (option(config, "size")?, option(config, "big")?);
            Pack::Code(Arc::new(valid(TiffBits::new(numbers, option(config, "bits")?, option(config, "run")?))?))
        }
        "n5" => {
            let most: Vec<usize> = option(config, "shape")?;
            let series = series(option(config, "codecs")?)?;
            let n5 = N5::new(option(config, "item")?, option(config, "swap")?, most.into_iter().collect(), series);
            Pack::Code(Arc::new(n5))
        }
        "pcodec" => Pack::Code(Arc::new(pcodec(config)?)),
        "zfp" => Pack::Code(Arc::new(zfp(config)?)),
        _ => return Ok(None),
    }))
}

fn along(config: &Bound<'_, PyDict>) -> PyResult<Along> {
    Ok(Along { from_last: option(config, "from_last")?, distance: option(config, "distance")? })
}

fn shapeless<S: Step + 'static>(step: S) -> ArrayStep {
    ArrayStep::Code(Arc::new(Shapeless(step)))
}

/// A number as Python has it: whole, or a float.
fn number(config: &Bound<'_, PyDict>, name: &str) -> PyResult<Number> {
    match option::<i64>(config, name) {
        Ok(whole) => Ok(Number::Whole(whole)),
        Err(_) => Ok(Number::Float(option(config, name)?)),
    }
}

fn packbits(config: &Bound<'_, PyDict>) -> PyResult<PackBits> {
    let padding: String = option(config, "padding")?;
    let padding = match padding.as_str() {
        "none" => Padding::None,
        "first_byte" => Padding::First,
        "last_byte" => Padding::Last,
        _ => return Err(PyValueError::new_err(format!("no padding {padding:?}"))),
    };
    valid(PackBits::new(
        (option(config, "size")?, option(config, "big")?),
        option(config, "components")?,
        (option(config, "first")?, option(config, "last")?),
        option(config, "extend")?,
        padding,
    ))
}

fn pcodec(config: &Bound<'_, PyDict>) -> PyResult<Pcodec> {
    let kind: char = option(config, "kind")?;
    let kind = match kind {
        'f' => NumberKind::Float,
        'u' => NumberKind::Unsigned,
        _ => NumberKind::Signed,
    };
    let options = PcodecOptions {
        level: option(config, "level")?,
        find_mode: option(config, "find_mode")?,
        delta: option(config, "delta")?,
        delta_order: option(config, "delta_order")?,
        page: option(config, "page")?,
    };
    let numbers = (option(config, "size")?, option(config, "big")?);
    valid(Pcodec::new(kind, numbers, option(config, "components")?, &options))
}

fn zfp(config: &Bound<'_, PyDict>) -> PyResult<Zfp> {
    let (mode, kind): (String, String) = (option(config, "mode")?, option(config, "type")?);
    let mode = match mode.as_str() {
        "reversible" => ZfpMode::Reversible,
        "fixed_accuracy" => ZfpMode::Accuracy(option(config, "tolerance")?),
        "fixed_rate" => ZfpMode::Rate(option(config, "rate")?),
        "fixed_precision" => ZfpMode::Precision(option(config, "precision")?),
        "expert" => ZfpMode::Expert {
            minbits: option(config, "minbits")?,
            maxbits: option(config, "maxbits")?,
            maxprec: option(config, "maxprec")?,
            minexp: option(config, "minexp")?,
        },
        _ => return Err(PyValueError::new_err(format!("no mode {mode:?}"))),
    };
    let kind = match kind.as_str() {
        "int8" => ZfpType::Int8,
        "uint8" => ZfpType::UInt8,
        "int16" => ZfpType::Int16,
        "uint16" => ZfpType::UInt16,
        "int32" => ZfpType::Int32,
        "uint32" => ZfpType::UInt32,
        "int64" => ZfpType::Int64,
        "uint64" => ZfpType::UInt64,
        "float16" => ZfpType::Float16,
        "float32" => ZfpType::Float32,
        "float64" => ZfpType::Float64,
        _ => return Err(PyValueError::new_err(format!("no type {kind:?}"))),
    };
    valid(Zfp::new(mode, kind, option(config, "big")?, option(config, "header")?))
}

/// A length is a number, -1 for what is left, or a list of dimensions.
fn lengths(config: &Bound<'_, PyDict>) -> PyResult<Vec<Length>> {
    let shape: Vec<Bound<'_, PyAny>> = option(config, "shape")?;
    let length = |one: &Bound<'_, PyAny>| match one.extract::<i64>() {
        Ok(-1) => Ok(Length::Rest),
        Ok(_) => Ok(Length::Fixed(one.extract()?)),
        Err(_) => Ok(Length::Of(one.extract()?)),
    };
    shape.iter().map(length).collect()
}
