//! What a server's answer says about itself, before a byte of it is believed.

use reqwest::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED};

use super::date;
use crate::refs::Stamp;

/// `Content-Range`: where the part begins, how long it is, and the size of all if the server says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRange {
    /// The first byte, and how many there are; `None` for a range that could not be had.
    pub part: Option<(u64, u64)>,
    /// Bytes of the whole.
    pub size: Option<u64>,
}

/// Parse `bytes 0-99/1000`, `bytes 0-99/*` or `bytes */1000`.
pub fn content_range(text: &str) -> Option<ContentRange> {
    let (unit, rest) = text.trim().split_once(' ')?;
    let (part, size) = rest.trim().split_once('/')?;
    let size = if size == "*" { None } else { Some(size.parse::<u64>().ok()?) };
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    if part == "*" {
        return Some(ContentRange { part: None, size });
    }
    let (first, last) = part.split_once('-')?;
    let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
    let length = last.checked_sub(first)?.checked_add(1)?;
    if size.is_some_and(|size| last >= size) {
        return None;
    }
    Some(ContentRange { part: Some((first, length)), size })
}

fn text(headers: &HeaderMap, name: reqwest::header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The `Content-Range` of an answer; `Err` with the text if it is there but makes no sense.
pub fn range_of(headers: &HeaderMap) -> Result<Option<ContentRange>, String> {
    match headers.get(CONTENT_RANGE) {
        None => Ok(None),
        Some(value) => {
            let said = String::from_utf8_lossy(value.as_bytes()).into_owned();
            content_range(&said).map(Some).ok_or(said)
        }
    }
}

/// The number of bytes that the body is to have.
pub fn length_of(headers: &HeaderMap) -> Option<u64> {
    text(headers, CONTENT_LENGTH)?.trim().parse().ok()
}

/// How the body is compressed on its way, if it is.
pub fn encoding_of(headers: &HeaderMap) -> Option<&str> {
    text(headers, CONTENT_ENCODING)
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
}

fn kind_of(headers: &HeaderMap) -> String {
    text(headers, CONTENT_TYPE).unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether the server calls the body a page to be looked at.
pub fn says_html(headers: &HeaderMap) -> bool {
    let kind = kind_of(headers);
    kind.starts_with("text/html") || kind.starts_with("application/xhtml")
}

/// Whether the body holds several parts, each with a header.
pub fn is_multipart(headers: &HeaderMap) -> bool {
    kind_of(headers).starts_with("multipart/")
}

/// Whether bytes are the beginning of a page to be looked at.
pub fn looks_like_html(head: &[u8]) -> bool {
    let start = head.trim_ascii_start();
    let starts = |word: &[u8]| start.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    starts(b"<!doctype html") || starts(b"<html")
}

/// What the headers say of the state of the source; the size is the caller's to add.
pub fn stamp_of(headers: &HeaderMap) -> Stamp {
    Stamp {
        size: None,
        modified: text(headers, LAST_MODIFIED).and_then(date::nanoseconds),
        etag: text(headers, ETAG).map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()),
    }
}

/// An ETag that may stand in `If-Match`: a strong one.
pub fn strong(tag: &str) -> bool {
    tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"')
}

/// What an answer now contradicts of what is known; weak and strong forms of an ETag are one.
pub fn contradiction(known: &Stamp, now: &Stamp) -> Option<String> {
    let mut now = now.clone();
    if let (Some(then), Some(tag)) = (&known.etag, &now.etag)
        && then.trim_start_matches("W/") == tag.trim_start_matches("W/")
    {
        now.etag = known.etag.clone();
        // The server itself says that it is the same; copies of it on other machines may bear other dates.
        now.modified = known.modified;
    }
    known.contradiction(&now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_has_them() {
        let made = |part, size| Some(ContentRange { part, size });
        assert_eq!(content_range("bytes 0-99/1000"), made(Some((0, 100)), Some(1000)));
        assert_eq!(content_range("bytes 5-5/*"), made(Some((5, 1)), None));
        assert_eq!(content_range("bytes */7"), made(None, Some(7)));
        for bad in
            ["", "bytes", "bytes 0-99", "bytes 9-3/10", "bytes 0-10/10", "items 0-1/2", "bytes -1-2/4", "bytes a-b/c"]
        {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }

    #[test]
    fn weak_tags_and_copies_with_other_dates_are_the_same() {
        let stamp = |tag: &str, modified| Stamp { size: Some(1), modified, etag: Some(tag.into()) };
        assert_eq!(contradiction(&stamp("\"a\"", Some(1)), &stamp("W/\"a\"", Some(2))), None);
        assert!(contradiction(&stamp("\"a\"", None), &stamp("\"b\"", None)).is_some());
        assert!(contradiction(&Stamp { size: Some(2), ..Stamp::default() }, &stamp("\"b\"", None)).is_some());
    }
}
