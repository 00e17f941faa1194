//! Finding the members of a large JSON object without parsing them: consolidated metadata holds thousands of documents of
//! which a program mostly wants a few.

use std::ops::Range;

/// Where a member's name and value are.
pub type Member = (Range<usize>, Range<usize>);

/// The members of an object inside another, and those of the other without it.
pub type Inside = (Vec<Member>, Vec<Member>);

/// The members of the object that `text` consists of: each name's text, quotes included, and each value's text.
///
/// Only as much is checked as it takes to find the members' borders; whoever uses a value parses it, and sees its errors.
pub fn members(text: &[u8]) -> Result<Vec<Member>, usize> {
    let mut list = Vec::new();
    let at = collect(text, space(text, 0), &mut list)?;
    end(text, at, list)
}

/// The members of an object that lies inside others, and those of the object right around it without that one, in one
/// pass. `path` has the names on the way with their quotes; `None` if one is not there, or not that of an object.
pub fn members_inside(text: &[u8], path: &[&[u8]]) -> Result<Option<Inside>, usize> {
    let mut found = None;
    let at = descend(text, space(text, 0), path, &mut found)?;
    end(text, at, found)
}

fn descend(text: &[u8], at: usize, path: &[&[u8]], found: &mut Option<Inside>) -> Result<usize, usize> {
    let (mut inner, mut around) = (None, Vec::new());
    let stop = object(text, at, &mut |name, start| {
        let on_the_way = text.get(start) == Some(&b'{') && text.get(name.clone()) == path.first().copied();
        match path {
            // Of two members of one name none is the right one.
            [_, ..] if on_the_way && (inner.is_some() || found.is_some()) => Err(start),
            [_] if on_the_way => {
                let mut list = Vec::new();
                let stop = collect(text, start, &mut list)?;
                inner = Some(list);
                Ok(stop)
            }
            [_, rest @ ..] if on_the_way => descend(text, start, rest, found),
            _ => {
                let stop = value(text, start)?;
                around.push((name, start..stop));
                Ok(stop)
            }
        }
    })?;
    if let Some(list) = inner {
        *found = Some((list, around));
    }
    Ok(stop)
}

/// List the members of the object that starts at `at`; returns where it ends.
fn collect(text: &[u8], at: usize, list: &mut Vec<Member>) -> Result<usize, usize> {
    object(text, at, &mut |name, start| {
        let stop = value(text, start)?;
        list.push((name, start..stop));
        Ok(stop)
    })
}

/// Go through the object that starts at `at`: `each` gets a name and where its value starts, and says where that ends.
fn object(
    text: &[u8],
    at: usize,
    each: &mut dyn FnMut(Range<usize>, usize) -> Result<usize, usize>,
) -> Result<usize, usize> {
    let mut at = space(text, expect(text, at, b'{')?);
    if text.get(at) == Some(&b'}') {
        return Ok(at.saturating_add(1));
    }
    loop {
        let name = at..string(text, at)?;
        at = expect(text, space(text, name.end), b':')?;
        at = space(text, each(name, space(text, at))?);
        match text.get(at) {
            Some(b',') => at = space(text, at.saturating_add(1)),
            Some(b'}') => return Ok(at.saturating_add(1)),
            _ => return Err(at),
        }
    }
}

fn end<T>(text: &[u8], at: usize, list: T) -> Result<T, usize> {
    let rest = space(text, at);
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
            // Whoever goes over this without looking would take a quote or bracket in it for the start of something.
            let odd = rest.iter().take(n).any(|b| matches!(b, b'"' | b'{' | b'['));
            if n == 0 || odd { Err(at) } else { Ok(at.saturating_add(n)) }
        }
        None => Err(at),
    }
}

/// Whether two texts are the same but for white space between tokens.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    Tokens::of(one).eq(Tokens::of(other))
}

/// The bytes of a text without the white space between its tokens; strings keep theirs.
struct Tokens<'a> {
    bytes: std::slice::Iter<'a, u8>,
    quoted: bool,
    escaped: bool,
}

impl<'a> Tokens<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self { bytes: text.iter(), quoted: false, escaped: false }
    }
}

impl Iterator for Tokens<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.next()?;
            if self.quoted {
                self.quoted = self.escaped || byte != b'"';
                self.escaped = byte == b'\\' && !self.escaped;
            } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                continue;
            } else {
                self.quoted = byte == b'"';
            }
            return Some(byte);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::{Member, members, members_inside, same};

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
        for bad in [
            &b"{"[..],
            b"{\"a\":f\"}",
            b"{\"a\":1{}}",
            b"{\"a\"}",
            b"{\"a\":}",
            b"{\"a\":1}x",
            b"[]",
            b"{\"a\":[}",
            b"{\"a",
            b"{\"a\":1,}",
            b"",
        ] {
            assert!(members(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn members_of_an_inner_object_are_found_in_one_pass() {
        let text =
            br#" {"a": [{"b": {}}], "b": 1, "x": {"kind": "k", "y": {"p": {"q": 1}, "r": "}"}, "z": 2}, "c": 3} "#;
        let look = |path: &[&[u8]]| {
            let cut = |list: Vec<Member>| {
                list.into_iter().map(|(n, v)| [&text[n], &text[v]].map(String::from_utf8_lossy).join(" ")).collect()
            };
            let found: Option<(Vec<String>, Vec<String>)> =
                members_inside(text, path).unwrap().map(|(inner, around)| (cut(inner), cut(around)));
            found.map(|(inner, around)| format!("{} | {}", inner.join(", "), around.join(", ")))
        };
        let found = look(&[br#""x""#, br#""y""#]).unwrap();
        assert_eq!(found, r#""p" {"q": 1}, "r" "}" | "kind" "k", "z" 2"#);
        assert!(look(&[br#""x""#]).unwrap().starts_with(r#""kind" "k", "y" {"#));
        assert_eq!(look(&[br#""y""#]), None);
        assert_eq!(look(&[br#""b""#]), None);
        assert_eq!(look(&[br#""x""#, br#""z""#]), None);
        for twice in [&br#"{"x": {"y": {}, "y": {}}}"#[..], br#"{"x": {"y": {}}, "x": {"y": {}}}"#] {
            assert!(members_inside(twice, &[br#""x""#, br#""y""#]).is_err());
        }
        assert!(members_inside(br#"{"x": {"y": {"p": 1}}"#, &[br#""x""#, br#""y""#]).is_err());
        assert!(members_inside(br#"{"x": {"y": {"p": }}}"#, &[br#""x""#, br#""y""#]).is_err());
    }

    #[test]
    fn white_space_counts_in_strings_only() {
        let text = br#"{ "a b" : [ 1,
            "c\" d\\" , null ]	}"#;
        assert!(same(text, br#"{"a b":[1,"c\" d\\",null]}"#));
        assert!(!same(text, br#"{"a b":[1,"c\"d\\",null]}"#));
        assert!(!same(text, br#"{"ab":[1,"c\" d\\",null]}"#));
        assert!(!same(text, br#"{"a b":[1,"c\" d\\",null]}}"#));
        assert!(same(b"", b" \n"));
    }
}
