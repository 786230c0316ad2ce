//! HTTP with JSON, and streams of events.

use super::routes::{self, Handled};
use super::tokens::{Role, Tokens};
use crate::inner::Inner;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use synod_client::api::{Answer, Event, Failure, Mode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// The longest body of a request.
const LONGEST_BODY: usize = 2 << 20;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// How a client shows that it may ask.
#[derive(Clone)]
pub(super) enum Access {
    /// The file system has let it in.
    Socket,
    /// By a token in each request.
    Token(Arc<Tokens>),
}

impl Access {
    /// What the client of this request may do.
    fn role(&self, head: &Parts) -> Option<Role> {
        match self {
            Access::Socket => Some(Role::Admin),
            Access::Token(tokens) => tokens
                .role_of(head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok())),
        }
    }
}

/// A stream of which the first bytes were read already.
struct Prefixed<'f, S> {
    first: &'f [u8],
    stream: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefixed<'_, S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let (now, later) = self.first.split_at(self.first.len().min(buffer.remaining()));
            buffer.put_slice(now);
            self.first = later;
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefixed<'_, S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Serves a client that speaks HTTP, and has sent these bytes already.
pub(super) async fn serve(
    inner: &Arc<Inner>,
    first: &[u8],
    stream: impl AsyncRead + AsyncWrite + Unpin,
    access: &Access,
) -> io::Result<()> {
    let stream = Prefixed { first, stream };
    let service = service_fn(|request| respond(inner, request, access));
    let served = http1::Builder::new()
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    served.map_err(io::Error::other)
}

async fn respond(
    inner: &Arc<Inner>,
    request: Request<Incoming>,
    access: &Access,
) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    let body = match Limited::new(body, LONGEST_BODY).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let why = Failure::Bad(format!("a request has at most {LONGEST_BODY} bytes"));
            return Ok(answer(&inner.answer_of(Err(why)), Value::Null));
        }
        Err(_) => return Ok(text(StatusCode::BAD_REQUEST, "text/plain", String::new())),
    };
    Ok(match routes::handle(inner, &head, &body, access.role(&head)).await {
        Handled::Answer(answered, value) => answer(&answered, value),
        Handled::Text(status, kind, content) => text(status, kind, content),
        Handled::Events(events) => stream(events),
    })
}

fn full(content: Vec<u8>) -> Body {
    Full::new(Bytes::from(content)).boxed_unsync()
}

fn text(status: StatusCode, kind: &'static str, content: String) -> Response<Body> {
    let mut response = Response::new(full(content.into_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// An answer in JSON: who answers, and how whole the cluster is; then the reply, or the error.
fn answer(answer: &Answer, value: Value) -> Response<Body> {
    let (mode, missing) = match &answer.mode {
        Mode::Whole => ("whole", Vec::new()),
        Mode::Partitioned(missing) => ("partitioned", missing.clone()),
        Mode::Outside => ("outside", Vec::new()),
    };
    let mut content = json!({
        "node": answer.node, "view": answer.view, "mode": mode, "missing": missing,
    });
    let status = match &answer.result {
        Ok(_) => {
            content["reply"] = value;
            StatusCode::OK
        }
        Err(failure) => {
            content["error"] = json!({
                "code": failure.code(),
                "message": failure.to_string(),
                "temporary": failure.is_temporary(),
            });
            status(failure)
        }
    };
    text(status, "application/json", content.to_string())
}

fn status(failure: &Failure) -> StatusCode {
    match failure {
        Failure::Bad(_) | Failure::NoSuchItem { .. } => StatusCode::BAD_REQUEST,
        Failure::Forbidden(_) => StatusCode::FORBIDDEN,
        Failure::Unknown { .. } | Failure::NoSession => StatusCode::NOT_FOUND,
        Failure::Exists { .. } | Failure::Stale { .. } | Failure::NotHere { .. } => {
            StatusCode::CONFLICT
        }
        Failure::Full(_) | Failure::Denied { .. } => StatusCode::TOO_MANY_REQUESTS,
        Failure::Exhausted(_)
        | Failure::Starved { .. }
        | Failure::NotReady
        | Failure::NoMajority { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Server-sent events, one for each event.
fn stream(events: mpsc::Receiver<Event>) -> Response<Body> {
    let frames = Frames(events);
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

struct Frames(mpsc::Receiver<Event>);

impl futures_core::Stream for Frames {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|event| {
            let line = format!("data: {}\n\n", routes::event(&event?));
            Some(Ok(Frame::data(Bytes::from(line))))
        })
    }
}
