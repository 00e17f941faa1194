//! Pages of a listing, without keys that are none of ours.

use memchr::memmem::find;

/// What holds one entry of a listing, and what in it the name: of S3 and Google, and of Azure.
const ENTRIES: [(&str, &str); 4] =
    [("Contents", "Key"), ("CommonPrefixes", "Prefix"), ("Blob", "Name"), ("BlobPrefix", "Name")];

/// A page without entries whose names have empty parts, as in `a//b`: the client would refuse all of the page for them.
/// `None` if there are no such.
pub fn without_odd_names(page: &[u8]) -> Option<Vec<u8>> {
    let mut made: Option<Vec<u8>> = None;
    for (entry, name) in ENTRIES {
        if let Some(shorter) = without(made.as_deref().unwrap_or(page), entry, name) {
            made = Some(shorter);
        }
    }
    made
}

fn without(page: &[u8], entry: &str, name: &str) -> Option<Vec<u8>> {
    let (open, close) = (format!("<{entry}>"), format!("</{entry}>"));
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut kept = Vec::new();
    let mut odd = false;
    let mut rest = page;
    while let Some((at, inner)) = between(rest, open.as_bytes(), close.as_bytes()) {
        let to = at.saturating_add(open.len()).saturating_add(inner.len()).saturating_add(close.len());
        let is_odd = between(inner, start.as_bytes(), end.as_bytes()).is_some_and(|(_, text)| has_empty_part(text));
        let until = if is_odd { at } else { to };
        kept.extend_from_slice(rest.get(..until).unwrap_or_default());
        odd |= is_odd;
        rest = rest.get(to..).unwrap_or_default();
    }
    kept.extend_from_slice(rest);
    odd.then_some(kept)
}

/// Where the first text between two marks begins with its mark, and the text.
fn between<'a>(page: &'a [u8], open: &[u8], close: &[u8]) -> Option<(usize, &'a [u8])> {
    let at = find(page, open)?;
    let inner = page.get(at.checked_add(open.len())?..)?;
    Some((at, inner.get(..find(inner, close)?)?))
}

fn has_empty_part(name: &[u8]) -> bool {
    name.starts_with(b"/") || name.windows(2).any(|pair| pair == b"//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_names_are_left_out() {
        let page = b"<L xmlns=\"http://x/\"><Contents><Key>a//b</Key></Contents><Contents><Key>a/b</Key></Contents>\
            <CommonPrefixes><Prefix>/</Prefix></CommonPrefixes><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></L>";
        let expected: &[u8] = b"<L xmlns=\"http://x/\"><Contents><Key>a/b</Key></Contents>\
            <CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes></L>";
        assert_eq!(without_odd_names(page).as_deref(), Some(expected));
        assert_eq!(without_odd_names(expected), None);
        assert_eq!(without_odd_names(b"<Contents><Key>a//b</Key>"), None);
    }
}
