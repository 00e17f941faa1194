//! What a key may look like.

use crate::error::{Error, Result};

/// Refuse what is not a key: empty parts, `.`, `..`, NUL, backslash, drive letters.
pub fn check_key(key: &str) -> Result<()> {
    let message = if key.is_empty() {
        "it is empty"
    } else if key.bytes().any(|b| b == 0 || b == b'\\') {
        "it has a NUL or a backslash"
    } else if key.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        "it has an empty, '.' or '..' part"
    } else if cfg!(windows) && key.contains(':') {
        "it has a colon"
    } else {
        return Ok(());
    };
    Err(Error::Unsafe { key: key.into(), message: message.into() })
}

/// Refuse what is not a prefix: it is empty, or a key followed by `/`.
pub fn check_prefix(prefix: &str) -> Result<()> {
    match prefix.strip_suffix('/') {
        _ if prefix.is_empty() => Ok(()),
        Some(key) => check_key(key),
        None => Err(Error::Unsafe { key: prefix.into(), message: "a prefix ends in '/'".into() }),
    }
}

/// Whether a file's name is one that an unfinished write leaves behind.
pub fn is_debris(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".partial")
}
