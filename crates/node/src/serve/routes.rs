//! What each path and method does.

use super::metrics;
use super::tokens::{Role, needed};
use crate::inner::Inner;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use synod_client::api::{
    Answer, Event, Failure, Holder, Level, PoolSpec, Reply, Request, SessionId, Topic,
};
use tokio::sync::mpsc;

/// A path, a method, and what they do: for the description of the API. A test compares it with
/// the service.
pub(super) const ROUTES: &[(&str, &str, &str)] = &[
    ("get", "/livez", "whether the node runs"),
    ("get", "/readyz", "whether the node serves pools and groups, whole or partitioned"),
    ("get", "/metrics", "numbers for Prometheus"),
    ("get", "/openapi.json", "this description"),
    ("get", "/v1/status", "everything about the node, in short"),
    ("get", "/v1/sessions", "the sessions of this node"),
    ("post", "/v1/sessions", "open a session: {ttl_ms, label}"),
    ("put", "/v1/sessions/{session}", "the session lives"),
    ("delete", "/v1/sessions/{session}", "end a session, and give its items back"),
    ("get", "/v1/pools/{pool}", "one pool, as this node sees it"),
    ("put", "/v1/pools/{pool}", "create a pool: {first, size, cooldown_ms, cap}"),
    ("delete", "/v1/pools/{pool}", "delete a pool"),
    ("get", "/v1/pools/{pool}/claims", "the items in use at this node"),
    ("post", "/v1/pools/{pool}/claims", "claim an item: {session or label, item, wait_ms}"),
    ("delete", "/v1/pools/{pool}/claims/{item}", "give an item back: ?token=EPOCH.COUNT"),
    ("get", "/v1/pools/{pool}/events", "a stream of events of a pool"),
    ("put", "/v1/groups/{group}", "create a group"),
    ("delete", "/v1/groups/{group}", "delete a group"),
    ("post", "/v1/groups/{group}/messages", "send the body to all members: ?level=agreed|safe"),
    ("get", "/v1/groups/{group}/events", "a stream of views and messages of a group"),
    ("get", "/v1/events", "a stream of views"),
    ("post", "/v1/members/{member}/forget", "certify that a node is dead for good"),
    ("post", "/v1/leave", "hand all items over, and leave the cluster"),
];

/// What to send back.
pub(super) enum Handled {
    Answer(Answer, Value),
    Text(StatusCode, &'static str, String),
    Events(mpsc::Receiver<Event>),
}

/// A stream of events, or a request to the node.
enum Wanted {
    Request(Request),
    Watch(Topic),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSession {
    ttl_ms: u64,
    #[serde(default)]
    label: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPool {
    #[serde(default)]
    first: u64,
    size: u32,
    #[serde(default)]
    cooldown_ms: u64,
    #[serde(default)]
    cap: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewClaim {
    session: Option<u64>,
    label: Option<String>,
    item: Option<u64>,
    #[serde(default)]
    wait_ms: u64,
}

/// Handles a request of a client with this role.
pub(super) async fn handle(
    inner: &Arc<Inner>,
    head: &Parts,
    body: &[u8],
    role: Option<Role>,
) -> Handled {
    let path = head.uri.path();
    if (head.method.as_str(), path) == ("GET", "/livez") {
        return Handled::Text(StatusCode::OK, "text/plain", "alive\n".into());
    }
    let Some(role) = role else {
        let why = "a token is needed: send the header 'Authorization: Bearer TOKEN'\n".to_owned();
        return Handled::Text(StatusCode::UNAUTHORIZED, "text/plain", why);
    };
    match (head.method.as_str(), path) {
        ("GET", "/readyz") => return readiness(inner),
        ("GET", "/metrics") => {
            let kind = "text/plain; version=0.0.4";
            return Handled::Text(StatusCode::OK, kind, metrics::text(inner));
        }
        ("GET", "/openapi.json") => {
            return Handled::Text(StatusCode::OK, "application/json", openapi().to_string());
        }
        _ => {}
    }
    let wanted = wanted(&head.method, path, head.uri.query().unwrap_or(""), body);
    let answer = match wanted.and_then(|wanted| permitted(wanted, role)) {
        Ok(Wanted::Request(request)) => match inner.answer_at_once(request) {
            Ok(answer) => answer,
            Err(request) => inner.answer(request).await,
        },
        Ok(Wanted::Watch(topic)) => match inner.watch(&topic) {
            Ok(events) => return Handled::Events(events),
            Err(why) => inner.answer_of(Err(why)),
        },
        Err(why) => inner.answer_of(Err(why)),
    };
    let value = answer.result.as_ref().map(reply).unwrap_or_default();
    Handled::Answer(answer, value)
}

/// Lets a request pass if the client's role is high enough.
fn permitted(wanted: Wanted, role: Role) -> Result<Wanted, Failure> {
    let needs = match &wanted {
        Wanted::Request(request) => needed(request),
        Wanted::Watch(_) => Role::Read,
    };
    match role >= needs {
        true => Ok(wanted),
        false => Err(Failure::Forbidden(format!(
            "this needs a token with the role {needs:?}, and yours has {role:?}"
        ))),
    }
}

fn readiness(inner: &Inner) -> Handled {
    let status = inner.status();
    let (code, text) = match status.mode {
        synod_client::Mode::Outside => {
            (StatusCode::SERVICE_UNAVAILABLE, "outside of the group\n".to_owned())
        }
        synod_client::Mode::Whole => (StatusCode::OK, "whole\n".to_owned()),
        synod_client::Mode::Partitioned(missing) => {
            let missing = missing.join(", ");
            (StatusCode::OK, format!("partitioned from {missing}; pools and groups go on\n"))
        }
    };
    Handled::Text(code, "text/plain", text)
}

fn wanted(method: &Method, path: &str, query: &str, body: &[u8]) -> Result<Wanted, Failure> {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let request = match (method.as_str(), &parts[..]) {
        ("GET", ["v1", "status"]) => Request::Status,
        ("GET", ["v1", "sessions"]) => Request::Sessions,
        ("POST", ["v1", "sessions"]) => {
            let NewSession { ttl_ms, label } = json_body(body)?;
            Request::OpenSession { ttl_ms, label }
        }
        ("PUT", ["v1", "sessions", session]) => Request::KeepAlive(session_id(session)?),
        ("DELETE", ["v1", "sessions", session]) => Request::CloseSession(session_id(session)?),
        ("GET", ["v1", "pools", pool]) => Request::ShowPool((*pool).to_owned()),
        ("PUT", ["v1", "pools", pool]) => {
            let NewPool { first, size, cooldown_ms, cap } = json_body(body)?;
            Request::CreatePool((*pool).to_owned(), PoolSpec { first, size, cooldown_ms, cap })
        }
        ("DELETE", ["v1", "pools", pool]) => Request::DeletePool((*pool).to_owned()),
        ("GET", ["v1", "pools", pool, "claims"]) => Request::Uses((*pool).to_owned()),
        ("POST", ["v1", "pools", pool, "claims"]) => claim(pool, json_body(body)?)?,
        ("DELETE", ["v1", "pools", pool, "claims", item]) => release(pool, item, query)?,
        ("PUT", ["v1", "groups", group]) => Request::CreateGroup((*group).to_owned()),
        ("DELETE", ["v1", "groups", group]) => Request::DeleteGroup((*group).to_owned()),
        ("POST", ["v1", "groups", group, "messages"]) => {
            Request::Cast { group: (*group).to_owned(), level: level(query)?, body: body.to_vec() }
        }
        ("POST", ["v1", "members", member, "forget"]) => Request::Forget((*member).to_owned()),
        ("POST", ["v1", "leave"]) => Request::Leave,
        ("GET", ["v1", "events"]) => return Ok(Wanted::Watch(Topic::Views)),
        ("GET", ["v1", "pools", pool, "events"]) => {
            return Ok(Wanted::Watch(Topic::Pool((*pool).to_owned())));
        }
        ("GET", ["v1", "groups", group, "events"]) => {
            return Ok(Wanted::Watch(Topic::Group((*group).to_owned())));
        }
        _ => {
            return Err(Failure::Unknown {
                kind: "path".into(),
                name: format!("{method} {path}"),
                known: ROUTES.iter().map(|(m, p, _)| format!("{} {p}", m.to_uppercase())).collect(),
            });
        }
    };
    Ok(Wanted::Request(request))
}

fn json_body<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| Failure::Bad(format!("the body: {error}")))
}

fn session_id(text: &str) -> Result<SessionId, Failure> {
    text.parse().map(SessionId).map_err(|_| Failure::NoSession)
}

fn claim(pool: &str, new: NewClaim) -> Result<Request, Failure> {
    let NewClaim { session, label, item, wait_ms } = new;
    let holder = match (session, label) {
        (Some(session), None) => Holder::Session(SessionId(session)),
        (None, Some(label)) => Holder::Label(label),
        _ => return Err(Failure::Bad("a claim is for a session, or for a label".into())),
    };
    Ok(Request::Claim { pool: pool.to_owned(), item, holder, wait_ms })
}

fn release(pool: &str, item: &str, query: &str) -> Result<Request, Failure> {
    let item = item.parse().map_err(|_| Failure::Bad(format!("'{item}' is no item")))?;
    let token = query.strip_prefix("token=").unwrap_or_default().parse();
    let token = token.map_err(|error| Failure::Bad(format!("?token=…: {error}")))?;
    Ok(Request::Release { pool: pool.to_owned(), item, token })
}

fn level(query: &str) -> Result<Level, Failure> {
    match query.strip_prefix("level=").unwrap_or("agreed") {
        "agreed" => Ok(Level::Agreed),
        "safe" => Ok(Level::Safe),
        other => Err(Failure::Bad(format!("'{other}' is no level: say agreed or safe"))),
    }
}

fn reply(reply: &Reply) -> Value {
    let json = |value: serde_json::Result<Value>| value.unwrap_or_default();
    match reply {
        Reply::Done => Value::Null,
        Reply::Status(status) => json(serde_json::to_value(status)),
        Reply::Pool(pool) => json(serde_json::to_value(pool)),
        Reply::Uses(uses) => json(serde_json::to_value(uses)),
        Reply::Session(session) => json!({ "session": session.0 }),
        Reply::Sessions(sessions) => json(serde_json::to_value(sessions)),
        Reply::Claimed(claimed) => json!({
            "pool": claimed.pool, "item": claimed.item, "token": claimed.token.to_string(),
        }),
        Reply::Event(found) => event(found),
    }
}

/// An event in JSON.
pub(super) fn event(event: &Event) -> Value {
    match event {
        Event::View { view, members } => json!({"event": "view", "view": view, "members": members}),
        Event::Claimed(claimed) => json!({
            "event": "claimed", "pool": claimed.pool, "item": claimed.item,
            "token": claimed.token.to_string(),
        }),
        Event::Released { pool, item } => {
            json!({"event": "released", "pool": pool, "item": item})
        }
        Event::Settled { pool, owned, absent } => {
            json!({"event": "settled", "pool": pool, "owned": owned, "absent": absent})
        }
        Event::Alarm { pool, item } => json!({"event": "alarm", "pool": pool, "item": item}),
        Event::Message { group, from, body } => {
            let body = String::from_utf8_lossy(body);
            json!({"event": "message", "group": group, "from": from, "body": body})
        }
        Event::Missed(count) => json!({"event": "missed", "count": count}),
    }
}

/// The description of the API.
fn openapi() -> Value {
    let mut paths = json!({});
    for (method, path, summary) in ROUTES {
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let parameters: Vec<Value> = names
            .map(|name| {
                json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
            })
            .collect();
        paths[*path][*method] = json!({
            "summary": summary,
            "parameters": parameters,
            "responses": {"default": {"description": "node, view, mode, and a reply or an error"}},
        });
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": "synod node", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_described_path_is_served_and_no_other() {
        for (method, path, _) in ROUTES.iter().filter(|(_, path, _)| path.starts_with("/v1")) {
            let method = method.to_uppercase().parse::<Method>().expect("a method");
            let path = path.replace(['{', '}'], "");
            let wanted = wanted(&method, &path, "", b"");
            let unknown = matches!(wanted, Err(Failure::Unknown { .. }));
            assert!(!unknown, "{method} {path}");
        }
        for wrong in ["/", "/v1", "/v1/pool/x", "/v2/status"] {
            assert!(matches!(wanted(&Method::GET, wrong, "", b""), Err(Failure::Unknown { .. })));
        }
    }

    #[test]
    fn a_body_that_makes_no_sense_is_refused_with_what_is_wrong() {
        let post =
            |body: &str| match wanted(&Method::POST, "/v1/pools/p/claims", "", body.as_bytes()) {
                Err(Failure::Bad(why)) => why,
                _ => panic!("it makes no sense"),
            };
        assert!(post("{}").contains("for a session, or for a label"));
        assert!(post("{\"label\": 7}").contains("invalid type"));
        assert!(post("{\"lable\": \"x\"}").contains("unknown field `lable`"));
    }
}
