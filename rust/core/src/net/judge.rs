//! Whether an answer is one to what was asked for.

use reqwest::{Response, StatusCode};
use url::Url;

use super::answer::{encoding_of, is_multipart, length_of, range_of, says_html};
use super::body::{Body, Need};
use super::request::{Attempt, Trouble, fault, shown};
use crate::error::Error;

/// Check what the headers say against what was asked for, and return the size of the whole if it is known.
///
/// `pages`: whether a page to be looked at is what is wanted.
pub fn judge(url: &Url, response: &Response, body: &mut Body, pages: bool) -> Attempt<Option<u64>> {
    let (headers, status) = (response.headers(), response.status());
    if status == StatusCode::PRECONDITION_FAILED {
        return Err(Error::stale(&shown(url), "the server says that it was changed").into());
    }
    if is_multipart(headers) {
        return Err(fault(url, "the server sent several parts where one was asked for", None).into());
    }
    let Some((offset, length)) = body.wanted() else {
        return judge_whole(url, response, body, pages);
    };
    if let Some(name) = encoding_of(headers) {
        let message = format!("the server sends it compressed ({name}), so that ranges of it mean nothing");
        return Err(fault(url, message, None).into());
    }
    let said = range_of(headers).map_err(|text| fault(url, format!("Content-Range {text:?} makes no sense"), None))?;
    match (status.as_u16(), said.and_then(|said| said.part)) {
        (206, Some((first, n))) => {
            let size = said.and_then(|said| said.size);
            let most = size.map_or(length, |size| length.min(size.saturating_sub(offset)));
            if first != offset || n > length || n < most {
                let message = format!("asked for {length} bytes from {offset} on, the server sent {n} from {first} on");
                return Err(fault(url, message, None).into());
            }
            if length_of(headers).is_some_and(|said| said != n) {
                return Err(fault(url, "Content-Length contradicts Content-Range", None).into());
            }
            if n < length && body.need == Need::All {
                return Err(past(url, offset, length, size).into());
            }
            body.expect(n);
            Ok(size)
        }
        (206, None) => Err(fault(url, "the server sent a part without saying which (Content-Range)", None).into()),
        (416, _) => match said.and_then(|said| said.size) {
            Some(0) if offset == 0 && body.need == Need::WhatThereIs => {
                body.expect(0);
                Ok(Some(0))
            }
            size => Err(past(url, offset, length, size).into()),
        },
        (200, _) => judge_unasked(url, response, body, (offset, length)),
        _ => Err(fault(url, format!("the server answered {status} to a request for a range"), None).into()),
    }
}

/// All of the source, though a range was asked for: good only if that is the same.
fn judge_unasked(
    url: &Url,
    response: &Response,
    body: &mut Body,
    (offset, length): (u64, u64),
) -> Attempt<Option<u64>> {
    if says_html(response.headers()) {
        return Err(html(url));
    }
    let size = length_of(response.headers());
    let fits = size.is_some_and(|size| size == length || (size < length && body.need == Need::WhatThereIs));
    if offset != 0 || !fits {
        let message = "the server does not send parts of files (it ignores Range): copy the file here first";
        return Err(fault(url, message, None).into());
    }
    body.expect(size.unwrap_or_default());
    Ok(size)
}

fn judge_whole(url: &Url, response: &Response, body: &mut Body, pages: bool) -> Attempt<Option<u64>> {
    let size = length_of(response.headers());
    if response.status() != StatusCode::OK {
        return Err(fault(url, format!("the server answered {}", response.status()), None).into());
    }
    if says_html(response.headers()) && !pages {
        return Err(html(url));
    }
    if size.is_some_and(|size| size > body.limit) {
        return Err(Error::Limit(format!("{} has more than {} bytes", shown(url), body.limit)).into());
    }
    body.restart(size);
    Ok(size.filter(|_| encoding_of(response.headers()).is_none()))
}

/// The error for a range of which not all is there.
pub fn past(url: &Url, offset: u64, length: u64, size: Option<u64>) -> Error {
    let end = size.map(|size| format!(", at {size}")).unwrap_or_default();
    Error::stale(&shown(url), format!("{length} bytes from {offset} on lie past its end{end}"))
}

/// The error for a page in place of data: of a portal, a proxy, a list of files.
pub fn html(url: &Url) -> Trouble {
    fault(url, "the server sent an HTML page in place of the data", None).into()
}
