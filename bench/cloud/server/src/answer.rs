//! What each request of S3 is answered.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Response};

use crate::Reply;
use crate::list::{asked, decoded, list};
use crate::objects::{Condition, Object, Objects};

fn reply(status: u16, headers: &[(&str, &str)], body: Bytes) -> (Reply, usize) {
    let size = body.len();
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    (builder.body(Full::new(body)).unwrap_or_default(), size)
}

fn xml(status: u16, text: String) -> (Reply, usize) {
    reply(status, &[("Content-Type", "application/xml")], Bytes::from(text))
}

fn error(status: u16, code: &str) -> (Reply, usize) {
    xml(
        status,
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{code}</Message></Error>"
        ),
    )
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn condition(headers: &HeaderMap) -> Condition {
    match (header(headers, "if-match"), header(headers, "if-none-match")) {
        // Some clients leave the quotes out.
        (Some(tag), _) => Condition::Tagged(format!("\"{}\"", tag.trim_matches('"'))),
        (_, Some(_)) => Condition::Absent,
        _ => Condition::Always,
    }
}

/// Takes the frames of `aws-chunked` away.
fn unframed(headers: &HeaderMap, body: Bytes) -> Bytes {
    if !header(headers, "x-amz-content-sha256").unwrap_or("").starts_with("STREAMING") {
        return body;
    }
    let (mut out, mut rest) = (Vec::with_capacity(body.len()), body.as_ref());
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let line = String::from_utf8_lossy(rest.get(..end).unwrap_or(b"")).into_owned();
        let size = usize::from_str_radix(line.split(';').next().unwrap_or(""), 16).unwrap_or(0);
        let Some(data) = rest.get(end + 2..end + 2 + size).filter(|_| size > 0) else { break };
        out.extend_from_slice(data);
        rest = rest.get(end + 4 + size..).unwrap_or(b"");
    }
    Bytes::from(out)
}

fn get(one: &Object, head: &Parts) -> (Reply, usize) {
    let tag = one.tag.as_str();
    if header(&head.headers, "if-match").is_some_and(|wanted| wanted.trim_matches('"') != tag.trim_matches('"')) {
        return error(412, "PreconditionFailed");
    }
    if header(&head.headers, "if-none-match") == Some(tag) {
        return reply(304, &[("ETag", tag)], Bytes::new());
    }
    let size = one.data.len();
    let range = header(&head.headers, "range").and_then(|said| said.strip_prefix("bytes=")?.split_once('-'));
    let when = httpdate::fmt_http_date(one.modified);
    let usual = [("ETag", tag), ("Last-Modified", when.as_str()), ("Accept-Ranges", "bytes")];
    let Some((from, to)) = range else {
        return if head.method == "HEAD" {
            let length = size.to_string();
            reply(200, &[&usual[..], &[("Content-Length", length.as_str())]].concat(), Bytes::new())
        } else {
            reply(200, &usual, one.data.clone())
        };
    };
    let (start, stop) = match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, to.saturating_add(1).min(size)),
        (Ok(from), _) => (from, size),
        (_, Ok(last)) => (size.saturating_sub(last), size),
        _ => (size, size),
    };
    if start >= stop {
        return error(416, "InvalidRange");
    }
    let said = format!("bytes {start}-{}/{size}", stop - 1);
    reply(206, &[&usual[..], &[("Content-Range", said.as_str())]].concat(), one.data.slice(start..stop))
}

fn tagged(done: Option<String>) -> (Reply, usize) {
    match done {
        Some(tag) => reply(200, &[("ETag", tag.as_str())], Bytes::new()),
        None => error(412, "PreconditionFailed"),
    }
}

fn put(objects: &Objects, key: &str, head: &Parts, body: Bytes) -> (Reply, usize) {
    let query = head.uri.query().unwrap_or("");
    if let Some(source) = header(&head.headers, "x-amz-copy-source") {
        let Some(one) = objects.get(decoded(source, false).trim_start_matches('/')) else {
            return error(404, "NoSuchKey");
        };
        let tag = objects.put(key, one.data, &condition(&head.headers)).unwrap_or_default();
        return xml(200, format!("<CopyObjectResult><ETag>{tag}</ETag></CopyObjectResult>"));
    }
    let body = unframed(&head.headers, body);
    match (asked(query, "uploadId"), asked(query, "partNumber").and_then(|number| number.parse().ok())) {
        (Some(upload), Some(number)) => tagged(objects.part(&upload, number, body)),
        _ => tagged(objects.put(key, body, &condition(&head.headers))),
    }
}

fn post(objects: &Objects, key: &str, bucket: &str, head: &Parts, body: &Bytes) -> (Reply, usize) {
    let query = head.uri.query().unwrap_or("");
    if let Some(upload) = asked(query, "uploadId") {
        let Some(data) = objects.end(&upload) else { return error(404, "NoSuchUpload") };
        let tag = objects.put(key, data, &condition(&head.headers)).unwrap_or_default();
        return xml(200, format!("<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"));
    }
    if asked(query, "uploads").is_some() {
        let upload = objects.begin();
        let name = key.split_once('/').map_or("", |(_, name)| name);
        return xml(
            200,
            format!(
                "<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{name}</Key><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            ),
        );
    }
    let text = String::from_utf8_lossy(body);
    for part in text.split("<Key>").skip(1) {
        let name =
            part.split("</Key>").next().unwrap_or("").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        objects.delete(&format!("{bucket}/{name}"));
    }
    xml(200, "<DeleteResult></DeleteResult>".to_owned())
}

/// Answers a request; gives also how long the body is.
pub fn answer(objects: &Objects, head: &Parts, body: Bytes) -> (Reply, usize) {
    let path = decoded(head.uri.path(), false);
    let key = path.trim_start_matches('/').trim_end_matches('\0');
    let (bucket, name) = key.split_once('/').unwrap_or((key, ""));
    match head.method.as_str() {
        "GET" | "HEAD" if !name.is_empty() => match objects.get(key) {
            Some(one) => get(&one, head),
            None => error(404, "NoSuchKey"),
        },
        "GET" => xml(200, list(objects, bucket, head.uri.query().unwrap_or(""))),
        "PUT" if !name.is_empty() => put(objects, key, head, body),
        "POST" => post(objects, key, bucket, head, &body),
        "DELETE" => {
            objects.delete(key);
            reply(204, &[], Bytes::new())
        }
        _ => reply(200, &[], Bytes::new()),
    }
}
