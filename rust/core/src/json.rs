//! Finding the members of a large JSON object without parsing them: consolidated metadata holds thousands of documents of
//! which a program mostly wants a few.

use std::ops::Range;

/// Where a member's name and value are.
pub type Member = (Range<usize>, Range<usize>);

/// The members of the object that `text` consists of: each name's text, quotes included, and each value's text.
///
/// Only as much is checked as it takes to find the members' borders; whoever uses a value parses it, and sees its errors.
pub fn members(text: &[u8]) -> Result<Vec<Member>, usize> {
    let mut at = space(text, 0);
    at = expect(text, at, b'{')?;
    let mut list = Vec::new();
    at = space(text, at);
    if text.get(at) == Some(&b'}') {
        return end(text, at, list);
    }
    loop {
        let name = at..string(text, at)?;
        at = expect(text, space(text, name.end), b':')?;
        let start = space(text, at);
        let stop = value(text, start)?;
        list.push((name, start..stop));
        at = space(text, stop);
        match text.get(at) {
            Some(b',') => at = space(text, at.saturating_add(1)),
            Some(b'}') => return end(text, at, list),
            _ => return Err(at),
        }
    }
}

fn end<T>(text: &[u8], at: usize, list: T) -> Result<T, usize> {
    let rest = space(text, at.saturating_add(1));
    if rest == text.len() { Ok(list) } else { Err(rest) }
}

fn space(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at.saturating_add(rest.iter().take_while(|b| b.is_ascii_whitespace()).count())
}

fn expect(text: &[u8], at: usize, byte: u8) -> Result<usize, usize> {
    if text.get(at) == Some(&byte) { Ok(at.saturating_add(1)) } else { Err(at) }
}

/// The end of the string that starts at `at`.
fn string(text: &[u8], at: usize) -> Result<usize, usize> {
    let mut i = expect(text, at, b'"')?;
    loop {
        let rest = text.get(i..).unwrap_or_default();
        i = i.saturating_add(memchr::memchr2(b'"', b'\\', rest).ok_or(at)?);
        match text.get(i) {
            Some(b'"') => return Ok(i.saturating_add(1)),
            _ => i = i.saturating_add(2),
        }
    }
}

/// The end of the value that starts at `at`.
fn value(text: &[u8], at: usize) -> Result<usize, usize> {
    match text.get(at) {
        Some(b'"') => string(text, at),
        Some(b'{' | b'[') => {
            let mut depth = 0usize;
            let mut i = at;
            loop {
                match text.get(i) {
                    Some(b'"') => {
                        i = string(text, i)?;
                        continue;
                    }
                    Some(b'{' | b'[') => depth = depth.saturating_add(1),
                    Some(b'}' | b']') => depth = depth.saturating_sub(1),
                    Some(_) => {}
                    None => return Err(at),
                }
                i = i.saturating_add(1);
                if depth == 0 {
                    return Ok(i);
                }
            }
        }
        Some(_) => {
            let rest = text.get(at..).unwrap_or_default();
            let n = rest.iter().take_while(|b| !matches!(b, b',' | b'}' | b']') && !b.is_ascii_whitespace()).count();
            if n == 0 { Err(at) } else { Ok(at.saturating_add(n)) }
        }
        None => Err(at),
    }
}

/// The text without the white space between its tokens; strings keep theirs.
pub fn squeezed(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for &byte in text {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        } else {
            quoted = byte == b'"';
        }
        out.push(byte);
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::{members, squeezed};

    #[test]
    fn members_are_cut_at_their_borders() {
        let text = br#" { "a/.zarray" : {"x": [1, "}\"]"], "y": {}}, "b":null ,"c":"q\\" } "#;
        let found: Vec<(&[u8], &[u8])> =
            members(text).unwrap().into_iter().map(|(n, v)| (&text[n], &text[v])).collect();
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], (&br#""a/.zarray""#[..], &br#"{"x": [1, "}\"]"], "y": {}}"#[..]));
        assert_eq!(found[1].1, b"null");
        assert_eq!(found[2].1, br#""q\\""#);
        assert!(members(b"{}").unwrap().is_empty());
        for bad in [&b"{"[..], b"{\"a\"}", b"{\"a\":}", b"{\"a\":1}x", b"[]", b"{\"a\":[}", b"{\"a", b"{\"a\":1,}", b""]
        {
            assert!(members(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn white_space_goes_but_not_from_strings() {
        let text = br#"{ "a b" : [ 1,
            "c\" d\\" , null ]	}"#;
        assert_eq!(squeezed(text), br#"{"a b":[1,"c\" d\\",null]}"#);
        assert_eq!(squeezed(b" \"open "), b"\"open ");
    }
}
