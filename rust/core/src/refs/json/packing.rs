//! Sets that are packed: told by their first bytes, not by their names.

use crate::buffer::Buffer;
use crate::codec::{Contexts, Gzip, Step, Want, Zstd};
use crate::error::{ArchiveFault, CodecError, Error, Fault, Result};

fn failed(error: CodecError) -> Error {
    match error.fault {
        Fault::TooLarge => Error::Limit(format!("a packed reference set is too large: {}", error.message)),
        _ => Error::Archive {
            key: String::new(),
            fault: ArchiveFault::Corrupt,
            message: format!("a packed reference set is damaged: {error}"),
            hint: "",
        },
    }
}

fn gzip() -> Result<Box<dyn Step>> {
    Ok(Box::new(Gzip::new(-1).map_err(failed)?))
}

fn zstd() -> Result<Box<dyn Step>> {
    Ok(Box::new(Zstd::new(3, true).map_err(failed)?))
}

/// Undo gzip or zstd, if the bytes begin as those do; `None` if not.
pub fn unpacked(data: &[u8], most: usize) -> Result<Option<Vec<u8>>> {
    let step: Box<dyn Step> = match data {
        [0x1f, 0x8b, ..] => gzip()?,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => zstd()?,
        _ => return Ok(None),
    };
    let mut out = Buffer::default();
    step.decode(data, &mut out, Want::AtMost(most), &mut Contexts::default()).map_err(failed)?;
    Ok(Some(out.as_slice().to_vec()))
}

/// Pack bytes by `gzip` or `zstd`.
pub fn packed(data: &[u8], how: &str) -> Result<Vec<u8>> {
    let step: Box<dyn Step> = if how == "gzip" { gzip()? } else { zstd()? };
    let mut out = Buffer::default();
    step.encode(data, &mut out, &mut Contexts::default()).map_err(failed)?;
    Ok(out.as_slice().to_vec())
}
