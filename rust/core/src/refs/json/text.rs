//! Strings of JSON, and bytes in base64, each into the other.

use std::fmt::Write;

use crate::buffer::Buffer;
use crate::codec::{Base64, Contexts, Step, Want};

/// What a value begins with whose bytes are in base64.
pub const BASE64: &[u8] = b"base64:";

/// Add what stands between the quotes of a string to `out`, with its escapes resolved.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (letter, after) = match escape {
            [_, letter, after @ ..] => (*letter, after),
            _ => return Err("an escape does not end"),
        };
        rest = after;
        match letter {
            b'"' | b'\\' | b'/' => out.push(letter),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => {
                let (letter, after) = unicode(rest)?;
                rest = after;
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => return Err("there is no such escape"),
        }
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// The letter behind `\u`, which may be two of those, and what follows.
fn unicode(text: &[u8]) -> Result<(char, &[u8]), &'static str> {
    let (high, rest) = hex(text)?;
    if let Some(letter) = char::from_u32(high) {
        return Ok((letter, rest));
    }
    let lone = "half of a pair of surrogates stands alone";
    let Some(after) = rest.strip_prefix(b"\\u") else { return Err(lone) };
    let (low, rest) = hex(after)?;
    let pair = char::decode_utf16([high, low].map(|unit| u16::try_from(unit).unwrap_or(0))).next();
    match pair {
        Some(Ok(letter)) => Ok((letter, rest)),
        _ => Err(lone),
    }
}

fn hex(text: &[u8]) -> Result<(u32, &[u8]), &'static str> {
    let (digits, rest) = text.split_at_checked(4).ok_or("an escape does not end")?;
    let mut value = 0u32;
    for digit in digits {
        value = value << 4 | char::from(*digit).to_digit(16).ok_or("an escape has no four hexadecimal digits")?;
    }
    Ok((value, rest))
}

/// Add a string with its quotes to `out`.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Those that end lines in JavaScript, and DEL, are escaped as well, to be seen.
            '\0'..' ' | '\u{7f}' | '\u{2028}' | '\u{2029}' => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// Bytes and their base64, one after the other: what that needs is made once.
#[derive(Default)]
pub struct Coder {
    buffer: Buffer,
    contexts: Contexts,
}

impl Coder {
    /// Add the bytes that base64 stands for to `out`.
    pub fn decode(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let most = Want::AtMost(text.len());
        Base64.decode(text, &mut self.buffer, most, &mut self.contexts).map_err(|error| error.message)?;
        out.extend_from_slice(self.buffer.as_slice());
        Ok(())
    }

    /// Add bytes as the text that stands for them to `out`.
    ///
    /// Others take text that is JSON for a document and write it anew, which changes the bytes of a chunk such as `1.50`.
    /// So text is only what looks like no JSON.
    pub fn quote(&mut self, bytes: &[u8], out: &mut String) {
        const STARTS: &[u8] = b"\"-0123456789[{tfnNI \n";
        let plain = |byte: &u8| matches!(byte, b'\n' | b' '..=b'~');
        let like_json = bytes.first().is_some_and(|first| STARTS.contains(first)) || bytes.starts_with(BASE64);
        match std::str::from_utf8(bytes) {
            Ok(text) if !like_json && bytes.iter().all(plain) => quote(text, out),
            _ => {
                out.push_str("\"base64:");
                // Encoding cannot fail: the buffer grows.
                if Base64.encode(bytes, &mut self.buffer, &mut self.contexts).is_ok() {
                    out.push_str(std::str::from_utf8(self.buffer.as_slice()).unwrap_or_default());
                }
                out.push('"');
            }
        }
    }
}
