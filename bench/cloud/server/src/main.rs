//! An S3 server in memory that costs as little as can be, so that a race measures the clients.
//!
//! `bench-s3 [--port P] [--delay-ms D] [--threads N] [--while-stdin]` prints its address. Signatures are not looked at.
//! Each request may wait a while before it is answered. `GET /_count` gives how many requests and bytes there were,
//! `POST /_forget` begins anew, `POST /_delay?20` sets the wait in milliseconds, `POST /_drop?bucket/prefix` deletes.

mod answer;
mod list;
mod objects;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use objects::Objects;

/// What all connections share.
#[derive(Default)]
struct Shared {
    objects: Objects,
    delay: AtomicU64,
    requests: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

type Reply = Response<Full<Bytes>>;

fn text(status: u16, words: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(words)));
    *reply.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    reply
}

fn control(shared: &Shared, method: &Method, path: &str, query: &str) -> Option<Reply> {
    match (method.as_str(), path) {
        ("GET", "/_count") => {
            let [requests, sent, received] =
                [&shared.requests, &shared.sent, &shared.received].map(|one| one.load(Ordering::Relaxed));
            Some(text(200, format!("{{\"requests\": {requests}, \"sent\": {sent}, \"received\": {received}}}")))
        }
        ("POST", "/_forget") => {
            for one in [&shared.requests, &shared.sent, &shared.received] {
                one.store(0, Ordering::Relaxed);
            }
            Some(text(200, String::new()))
        }
        ("POST", "/_delay") => {
            shared.delay.store(query.parse().unwrap_or(0), Ordering::Relaxed);
            Some(text(200, String::new()))
        }
        ("POST", "/_drop") => {
            shared.objects.drop_below(query);
            Some(text(200, String::new()))
        }
        _ => None,
    }
}

async fn serve(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|all| all.to_bytes()).unwrap_or_default();
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or(""));
    if let Some(reply) = control(&shared, &head.method, path, query) {
        return Ok(reply);
    }
    shared.requests.fetch_add(1, Ordering::Relaxed);
    shared.received.fetch_add(body.len() as u64, Ordering::Relaxed);
    let delay = shared.delay.load(Ordering::Relaxed);
    if delay > 0 {
        tokio::time::sleep(Duration::from_millis(delay)).await;
    }
    let (reply, size) = answer::answer(&shared.objects, &head, body);
    shared.sent.fetch_add(size as u64, Ordering::Relaxed);
    Ok(reply)
}

async fn run(port: u16, delay: u64) -> std::io::Result<()> {
    let shared = Arc::new(Shared::default());
    shared.delay.store(delay, Ordering::Relaxed);
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| serve(Arc::clone(&shared), request));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn option(name: &str, or: u64) -> u64 {
    let words: Vec<String> = std::env::args().collect();
    let at = words.iter().position(|word| word == name);
    at.and_then(|at| words.get(at + 1)).and_then(|word| word.parse().ok()).unwrap_or(or)
}

fn main() -> std::io::Result<()> {
    if std::env::args().any(|word| word == "--while-stdin") {
        // Whoever started it may be killed without having the time to end it.
        std::thread::spawn(|| {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            std::process::exit(0);
        });
    }
    let threads = option("--threads", 1).max(1) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(run(option("--port", 0) as u16, option("--delay-ms", 0)))
}
