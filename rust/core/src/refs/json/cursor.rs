//! Going through JSON text once, byte by byte, with errors that say where.

use super::text::unescape;

/// Deepest nesting of a value.
const MOST_LEVELS: usize = 128;

/// Why a text is no JSON: the byte where that shows, and a sentence.
pub type Fault = (usize, String);

/// A place in a JSON text, which is UTF-8.
pub struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// A string as it stands between its quotes.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// What stands between the quotes.
    pub bytes: &'a [u8],
    /// Whether there are escapes in it.
    pub escaped: bool,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of a text, behind a byte-order mark if it has one.
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 } }
    }

    /// Where the cursor is.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text between two places.
    fn between(&self, start: usize, end: usize) -> &'a [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no white space, which the cursor then is at.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at = self.at.saturating_add(1),
                other => return other.copied(),
            }
        }
    }

    /// Go over a byte, if it is the next.
    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.at = self.at.saturating_add(1);
        }
        found
    }

    /// Go over a byte that must be the next.
    pub fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.take(byte) { Ok(()) } else { Err(self.fault(&format!("{:?} is missing", char::from(byte)))) }
    }

    /// Go over these bytes, if they are what comes next as it stands.
    fn take_text(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at = self.at.saturating_add(text.len());
        }
        found
    }

    /// Go over a string, if what stands between its quotes is just this.
    pub fn take_string(&mut self, raw: &[u8]) -> bool {
        let found = match self.rest() {
            [b'"', rest @ ..] => rest.strip_prefix(raw).is_some_and(|rest| rest.first() == Some(&b'"')),
            _ => false,
        };
        if found {
            self.at = self.at.saturating_add(raw.len()).saturating_add(2);
        }
        found
    }

    /// Go back to where the cursor was.
    pub fn go_back(&mut self, at: usize) {
        self.at = at;
    }

    /// An error at this place.
    pub fn fault(&self, message: &str) -> Fault {
        (self.at, message.into())
    }

    /// Nothing may follow.
    pub fn end(&mut self) -> Result<(), Fault> {
        if self.peek().is_none() { Ok(()) } else { Err(self.fault("something follows the end")) }
    }

    /// Go over a string.
    pub fn string(&mut self) -> Result<Raw<'a>, Fault> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            let unfinished = (start, "a string does not end".to_owned());
            let found = memchr::memchr2(b'"', b'\\', self.rest()).ok_or(unfinished)?;
            let end = self.at.saturating_add(found);
            if self.text.get(end) == Some(&b'"') {
                self.at = end.saturating_add(1);
                return Ok(Raw { bytes: self.between(start, end), escaped });
            }
            escaped = true;
            self.at = end.saturating_add(2);
        }
    }

    /// Go over a whole number that is not negative; `None`, and the cursor stays, if there is something else.
    pub fn whole(&mut self) -> Option<u64> {
        self.peek();
        let (mut value, mut n) = (0u64, 0usize);
        for byte in self.rest() {
            if !byte.is_ascii_digit() {
                break;
            }
            value = value.checked_mul(10)?.checked_add(u64::from(byte.wrapping_sub(b'0')))?;
            n = n.saturating_add(1);
        }
        let next = self.rest().get(n);
        if n == 0 || matches!(next, Some(b'.' | b'e' | b'E')) || (n > 1 && self.rest().first() == Some(&b'0')) {
            return None;
        }
        self.at = self.at.saturating_add(n);
        Some(value)
    }

    /// Go over `null`, if it is the next.
    pub fn null(&mut self) -> bool {
        self.peek();
        self.take_text(b"null")
    }

    /// Go over any value; what it says without white space between tokens is added to `out`.
    pub fn value(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.nested(out, MOST_LEVELS)
    }

    fn nested(&mut self, out: &mut Vec<u8>, levels: usize) -> Result<(), Fault> {
        match self.peek() {
            Some(open @ (b'{' | b'[')) => {
                let levels = levels.checked_sub(1).ok_or_else(|| self.fault("it is nested too deep"))?;
                self.container(open, out, levels)
            }
            Some(b'"') => self.copy_string(out),
            Some(_) => self.literal(out),
            None => Err(self.fault("a value is missing")),
        }
    }

    fn container(&mut self, open: u8, out: &mut Vec<u8>, levels: usize) -> Result<(), Fault> {
        let close = if open == b'{' { b'}' } else { b']' };
        self.expect(open)?;
        out.push(open);
        if self.take(close) {
            out.push(close);
            return Ok(());
        }
        loop {
            if open == b'{' {
                self.copy_string(out)?;
                self.expect(b':')?;
                out.push(b':');
            }
            self.nested(out, levels)?;
            if self.take(close) {
                out.push(close);
                return Ok(());
            }
            self.expect(b',')?;
            out.push(b',');
        }
    }

    fn copy_string(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let start = self.at;
        let raw = self.string()?;
        if raw.escaped {
            // Broken escapes would break whoever parses the value later.
            let mut scratch = Vec::new();
            unescape(raw.bytes, &mut scratch).map_err(|message| (start, message.to_owned()))?;
        }
        out.push(b'"');
        out.extend_from_slice(raw.bytes);
        out.push(b'"');
        Ok(())
    }

    fn literal(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        const WORDS: [&[u8]; 6] = [b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity"];
        let end = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-' | b'.');
        let n = self.rest().iter().position(end).unwrap_or(self.rest().len());
        let word = self.rest().get(..n).unwrap_or_default();
        if !WORDS.contains(&word) && !is_number(word) {
            return Err(self.fault("this is no value"));
        }
        out.extend_from_slice(word);
        self.at = self.at.saturating_add(n);
        Ok(())
    }
}

/// Whether a word is a number as JSON spells it.
fn is_number(word: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let whole = digits(word);
    let mut rest = word.get(whole..).unwrap_or_default();
    if whole == 0 || (whole > 1 && word.first() == Some(&b'0')) {
        return false;
    }
    if let Some(after) = rest.strip_prefix(b".") {
        let n = digits(after);
        rest = after.get(n..).unwrap_or_default();
        if n == 0 {
            return false;
        }
    }
    if let [b'e' | b'E', after @ ..] = rest {
        let after = after.strip_prefix(b"+").or_else(|| after.strip_prefix(b"-")).unwrap_or(after);
        let n = digits(after);
        rest = if n == 0 { b"e" } else { after.get(n..).unwrap_or_default() };
    }
    rest.is_empty()
}
