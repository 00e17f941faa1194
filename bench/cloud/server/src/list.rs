//! Listings, and what else is written in XML and percent signs.

use std::fmt::Write;

use crate::objects::Objects;

/// Decodes percent signs, and "+" in queries.
pub fn decoded(text: &str, plus: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match (byte, hex.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(value)) => {
                out.push(value);
                at += 2;
            }
            (b'+', _) if plus => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Gives a part of a query, decoded.
pub fn asked(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| decoded(value, true))
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> String {
    let spaced: String = text.as_bytes().chunks(2).map(|two| format!("%{}", String::from_utf8_lossy(two))).collect();
    decoded(&spaced, false)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Answers ListObjectsV2.
pub fn list(objects: &Objects, bucket: &str, query: &str) -> String {
    let prefix = asked(query, "prefix").unwrap_or_default();
    let delimiter = asked(query, "delimiter").unwrap_or_default();
    let most = asked(query, "max-keys").and_then(|most| most.parse().ok()).unwrap_or(1000_usize).min(1000);
    let token = asked(query, "continuation-token").map(|token| unhex(&token));
    let after = token.or_else(|| asked(query, "start-after"));
    let root = format!("{bucket}/");
    let first = format!("{root}{}", after.as_deref().unwrap_or("").max(&prefix));
    let (mut body, mut common, mut last, mut count, mut more) = (String::new(), String::new(), String::new(), 0, false);
    objects.walk(&first, |key, one| {
        let Some(key) = key.strip_prefix(&root).filter(|key| key.starts_with(&prefix)) else {
            return false;
        };
        if after.as_deref().is_some_and(|after| {
            key <= after || (!delimiter.is_empty() && after.ends_with(&delimiter) && key.starts_with(after))
        }) {
            return true;
        }
        if !common.is_empty() && key.starts_with(&common) {
            return true;
        }
        more = count == most;
        if more {
            return false;
        }
        count += 1;
        let rest = key.get(prefix.len()..).unwrap_or("");
        let cut = if delimiter.is_empty() { None } else { rest.find(&delimiter) };
        if let Some(cut) = cut {
            common = format!("{prefix}{}", rest.get(..cut + delimiter.len()).unwrap_or(rest));
            last.clone_from(&common);
            let _ = write!(body, "<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", escaped(&common));
        } else {
            key.clone_into(&mut last);
            let (shown, tag, size) = (escaped(key), &one.tag, one.data.len());
            let _ = write!(
                body,
                "<Contents><Key>{shown}</Key><LastModified>1994-11-06T08:49:37.000Z</LastModified><ETag>{tag}</ETag>\
                 <Size>{size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            );
        }
        true
    });
    let token =
        if more { format!("<NextContinuationToken>{}</NextContinuationToken>", hex(&last)) } else { String::new() };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
         <Name>{bucket}</Name><Prefix>{}</Prefix><KeyCount>{count}</KeyCount><MaxKeys>{most}</MaxKeys>\
         <IsTruncated>{more}</IsTruncated>{token}{body}</ListBucketResult>",
        escaped(&prefix)
    )
}
