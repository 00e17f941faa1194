//! From the text of a set to its references, without a value in between.

use super::cursor::{Cursor, Fault, Raw};
use super::table::Row;
use super::text::{BASE64, Coder, unescape};
use super::{JsonSet, inlined, malformed};
use crate::error::Result;
use crate::refs::WHOLE;

/// Members of version 1 that are no references.
const MEMBERS: [&[u8]; 4] = [b"version", b"templates", b"gen", b"omnizarr"];

/// Files end before this.
const MOST_BYTES: u64 = 1 << 63;

/// What the members at the top are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// References by key.
    Zero,
    /// References are below `refs`.
    One,
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    set: JsonSet,
    /// What the text says the version is, or what is to be tried.
    version: Option<Version>,
    /// The fault of the key that is read.
    key: Vec<u8>,
    text: Vec<u8>,
    last_url: Option<(&'a [u8], u32)>,
    target: Option<&'a str>,
    coder: Coder,
    seen: Seen,
}

/// What was met at the top so far.
#[derive(Default)]
struct Seen {
    refs: bool,
    members: bool,
    keys: bool,
    /// What is wrong with members, should they turn out to be references.
    fault: Option<(Vec<u8>, Fault)>,
}

/// See [`JsonSet::read`].
pub fn read(text: &[u8], target: Option<&str>) -> Result<JsonSet> {
    if let Err(error) = std::str::from_utf8(text) {
        return Err(malformed("", format!("the set is no UTF-8 text at byte {}", error.valid_up_to())));
    }
    // The version may be said last. If it is another than it looked like, all is read again.
    let (set, found) = pass(text, target, None)?;
    match found {
        None => Ok(set),
        Some(version) => Ok(pass(text, target, Some(version))?.0),
    }
}

/// Read a set as one of a version, or as what it looks like; returns the version if it turned out to be another.
fn pass<'a>(text: &'a [u8], target: Option<&'a str>, version: Option<Version>) -> Result<(JsonSet, Option<Version>)> {
    let mut reader = Reader {
        cursor: Cursor::new(text),
        set: JsonSet::default(),
        version,
        key: Vec::new(),
        text: Vec::new(),
        last_url: None,
        target,
        coder: Coder::default(),
        seen: Seen::default(),
    };
    let done = reader.top();
    let key = String::from_utf8_lossy(&reader.key).into_owned();
    done.map_err(|(at, message)| malformed(&key, format!("{message}, at byte {at} of the set")))?;
    let found = reader.verdict()?;
    if (found == Some(Version::Zero) || version == Some(Version::Zero))
        && let Some((key, (at, message))) = reader.seen.fault
    {
        let message = format!("{message}, at byte {at} of the set");
        return Err(malformed(&String::from_utf8_lossy(&key), message));
    }
    let mixed = match found {
        Some(Version::Zero) => reader.seen.refs || reader.seen.members,
        Some(Version::One) => reader.seen.keys,
        None => false,
    };
    Ok((reader.set, found.filter(|_| mixed)))
}

impl<'a> Reader<'a> {
    fn top(&mut self) -> std::result::Result<(), Fault> {
        self.object(Self::top_member)?;
        self.key.clear();
        self.cursor.end()
    }

    /// Go through an object; `each` is called with the name in `self.key`.
    fn object(&mut self, each: fn(&mut Self) -> std::result::Result<(), Fault>) -> std::result::Result<(), Fault> {
        self.cursor.expect(b'{')?;
        if self.cursor.take(b'}') {
            return Ok(());
        }
        loop {
            self.cursor.peek();
            let start = self.cursor.at();
            let raw = self.cursor.string()?;
            self.key.clear();
            fill(raw, start, &mut self.key)?;
            self.cursor.expect(b':')?;
            each(self)?;
            if self.cursor.take(b'}') {
                return Ok(());
            }
            self.cursor.expect(b',')?;
        }
    }

    fn top_member(&mut self) -> std::result::Result<(), Fault> {
        let zero = self.version == Some(Version::Zero);
        let first = self.cursor.peek();
        if zero && self.key == b"version" && first.is_some_and(|byte| byte.is_ascii_digit()) {
            self.text.clear();
            return self.cursor.value(&mut self.text);
        }
        if !zero && self.key == b"refs" && first == Some(b'{') {
            if self.seen.refs {
                return Err(self.cursor.fault("there are two members of this name"));
            }
            self.seen.refs = true;
            return self.object(Self::member);
        }
        if !zero && MEMBERS.contains(&self.key.as_slice()) {
            let mut text = Vec::new();
            self.cursor.value(&mut text)?;
            self.seen.members = true;
            self.set.members.push((String::from_utf8_lossy(&self.key).into_owned(), text));
            return Ok(());
        }
        if self.version == Some(Version::One) {
            self.text.clear();
            self.set.strange.push(String::from_utf8_lossy(&self.key).into_owned());
            return self.cursor.value(&mut self.text);
        }
        self.seen.keys = true;
        self.maybe_member()
    }

    /// Take a member at the top for a reference; if it is none, that may be right in version 1.
    fn maybe_member(&mut self) -> std::result::Result<(), Fault> {
        let start = self.cursor.at();
        let Err(fault) = self.member() else { return Ok(()) };
        self.cursor.go_back(start);
        self.text.clear();
        if self.cursor.value(&mut self.text).is_err() {
            return Err(fault);
        }
        if self.seen.fault.is_none() {
            self.seen.fault = Some((self.key.clone(), fault));
        }
        Ok(())
    }

    /// Read what the key stands for.
    fn member(&mut self) -> std::result::Result<(), Fault> {
        let row = match self.cursor.peek() {
            Some(b'[') => self.reference()?,
            Some(b'"') => self.data()?,
            Some(b'{') => {
                let offset = self.set.inline.len() as u64;
                self.cursor.value(&mut self.set.inline)?;
                let length = (self.set.inline.len() as u64).saturating_sub(offset);
                Row { url: crate::refs::INLINE, offset, length }
            }
            _ => return Err(self.cursor.fault("a reference is text, an object or a list")),
        };
        if self.set.table.push(&self.key, row) {
            return Ok(());
        }
        let key = std::str::from_utf8(&self.key).unwrap_or_default();
        self.set.odd.push((key.into(), row));
        Ok(())
    }

    fn data(&mut self) -> std::result::Result<Row, Fault> {
        let start = self.cursor.at();
        let raw = self.cursor.string()?;
        let bytes = if raw.escaped {
            self.text.clear();
            fill(raw, start, &mut self.text)?;
            &self.text
        } else {
            raw.bytes
        };
        let Some(letters) = bytes.strip_prefix(BASE64) else { return Ok(inlined(&mut self.set.inline, bytes)) };
        let offset = self.set.inline.len() as u64;
        let decoded = self.coder.decode(letters, &mut self.set.inline);
        decoded.map_err(|message| (start, format!("the base64 is damaged: {message}")))?;
        let length = (self.set.inline.len() as u64).saturating_sub(offset);
        Ok(Row { url: crate::refs::INLINE, offset, length })
    }

    fn reference(&mut self) -> std::result::Result<Row, Fault> {
        self.cursor.expect(b'[')?;
        let url = self.url()?;
        if self.cursor.take(b']') {
            return Ok(Row { url, offset: 0, length: WHOLE });
        }
        self.cursor.expect(b',')?;
        let offset = self.number("offset")?;
        if self.cursor.take(b']') {
            return Err(self.cursor.fault("a reference has an offset and no length"));
        }
        self.cursor.expect(b',')?;
        let length = self.number("length")?;
        if !self.cursor.take(b']') {
            return Err(self.cursor.fault("a reference has more than a URL, an offset and a length"));
        }
        match (offset, length) {
            (Some(offset), Some(length)) if offset.checked_add(length).is_some_and(|end| end < MOST_BYTES) => {
                Ok(Row { url, offset, length })
            }
            (None, None) => Ok(Row { url, offset: 0, length: WHOLE }),
            (Some(_), Some(_)) => Err(self.cursor.fault("no file is as long as this reference says")),
            _ => Err(self.cursor.fault("of offset and length one is null")),
        }
    }

    fn url(&mut self) -> std::result::Result<u32, Fault> {
        let start = self.cursor.at();
        if self.cursor.null() {
            let Some(target) = self.target else { return Err((start, "the URL is null".into())) };
            return self.set.urls.number(target).map_err(|error| (start, error.to_string()));
        }
        if self.cursor.peek() != Some(b'"') {
            return Err(self.cursor.fault("the URL of a reference is no text"));
        }
        // Mostly it is the same as before.
        if let Some((raw, number)) = self.last_url
            && self.cursor.take_string(raw)
        {
            return Ok(number);
        }
        let raw = self.cursor.string()?;
        self.text.clear();
        fill(raw, start, &mut self.text)?;
        let url = std::str::from_utf8(&self.text).unwrap_or_default();
        if url.is_empty() {
            return Err((start, "the URL is empty".into()));
        }
        let number = self.set.urls.number(url).map_err(|error| (start, error.to_string()))?;
        self.last_url = Some((raw.bytes, number));
        Ok(number)
    }

    fn number(&mut self, what: &str) -> std::result::Result<Option<u64>, Fault> {
        if self.cursor.null() {
            return Ok(None);
        }
        match self.cursor.whole() {
            Some(value) => Ok(Some(value)),
            None => Err(self.cursor.fault(&format!("the {what} is no whole number from 0 on"))),
        }
    }

    /// What version the set is, if that was not clear before.
    fn verdict(&self) -> Result<Option<Version>> {
        if self.version.is_some() {
            return Ok(None);
        }
        let said = self.set.members.iter().rev().find(|(name, _)| name == "version");
        let version = match said.map(|(_, text)| text.as_slice()) {
            Some(b"1" | b"1.0" | b"\"1\"") => Version::One,
            Some(b"0") | None if self.seen.refs && !self.seen.keys => Version::One,
            Some(b"0") | None => Version::Zero,
            Some(text) => {
                let text: String = String::from_utf8_lossy(text).chars().take(40).collect();
                return Err(malformed("version", format!("there is no version {text} of reference sets")));
            }
        };
        Ok(Some(version))
    }
}

fn fill(raw: Raw<'_>, start: usize, out: &mut Vec<u8>) -> std::result::Result<(), Fault> {
    if raw.escaped {
        unescape(raw.bytes, out).map_err(|message| (start, message.to_owned()))
    } else {
        out.extend_from_slice(raw.bytes);
        Ok(())
    }
}
