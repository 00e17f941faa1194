//! The kernel's codecs of arrays, each from the options that Python hands down.

use std::sync::Arc;

use omnizarr_core::chain::{ArrayStep, Pack};
use omnizarr_core::codec::{
    BitRound, BoolBits, Delta, Length, N5, PackBits, Padding, Reshape, Rounded, Shapeless, Step,
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
        "n5" => {
            let most: Vec<usize> = option(config, "shape")?;
            let series = series(option(config, "codecs")?)?;
            let n5 = N5::new(option(config, "item")?, option(config, "swap")?, most.into_iter().collect(), series);
            Pack::Code(Arc::new(n5))
        }
        _ => return Ok(None),
    }))
}

fn shapeless<S: Step + 'static>(step: S) -> ArrayStep {
    ArrayStep::Code(Arc::new(Shapeless(step)))
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
        option(config, "signed")?,
        padding,
    ))
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
