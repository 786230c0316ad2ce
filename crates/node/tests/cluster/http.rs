//! HTTP on the same socket.

use crate::support::{Cluster, free_address};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Sends a request, and returns the status and the body of the response.
fn http(socket: &Path, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = UnixStream::connect(socket).expect("the node listens");
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("the node reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("the node answers");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head ends");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), body.to_owned())
}

fn json(body: &str) -> serde_json::Value {
    serde_json::from_str(body).expect("the body is JSON")
}

#[test]
fn the_same_services_are_there_in_json() {
    let cluster = Cluster::start("http", 1);
    let socket = cluster.node(0).socket();
    assert_eq!(http(socket, "GET", "/livez", ""), (200, "alive\n".to_owned()));
    assert_eq!(http(socket, "GET", "/readyz", ""), (200, "whole\n".to_owned()));
    let (status, body) = http(socket, "PUT", "/v1/pools/ports", r#"{"first": 100, "size": 2}"#);
    assert_eq!((status, json(&body)["node"].as_str()), (200, Some("n1")), "{body}");
    cluster.wait_for_pool("ports");
    let claim = || http(socket, "POST", "/v1/pools/ports/claims", r#"{"label": "web"}"#);
    let (status, body) = claim();
    assert_eq!(status, 200, "{body}");
    let reply = json(&body)["reply"].clone();
    let (item, token) = (reply["item"].as_u64(), reply["token"].as_str());
    assert_eq!(item, Some(100));
    assert_eq!(claim().0, 200);
    let (status, body) = claim();
    assert_eq!((status, json(&body)["error"]["code"].as_str()), (503, Some("exhausted")), "{body}");
    let path = format!("/v1/pools/ports/claims/100?token={}", token.expect("a token"));
    assert_eq!(http(socket, "DELETE", &path, "").0, 200);
    // The same release again does no harm.
    let (status, body) = http(socket, "DELETE", &path, "");
    assert_eq!((status, json(&body)["error"]["code"].as_str()), (409, Some("stale")), "{body}");
    let (_, metrics) = http(socket, "GET", "/metrics", "");
    assert!(metrics.contains("synod_pool_slots{pool=\"ports\",state=\"used\"} 1\n"), "{metrics}");
    let (status, body) = http(socket, "GET", "/v1/pools/prots", "");
    assert_eq!(status, 404);
    assert!(body.contains("there is ports"), "{body}");
    let (_, body) = http(socket, "GET", "/openapi.json", "");
    assert!(json(&body)["paths"]["/v1/pools/{pool}"]["put"].is_object());
}

/// Sends a request over TCP with a token, and returns the status.
fn over_tcp(address: SocketAddr, method: &str, path: &str, token: &str) -> u16 {
    let mut stream = TcpStream::connect(address).expect("the node listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("the node reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("the node answers");
    response.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

#[test]
fn on_tcp_a_client_may_do_what_its_token_says() {
    let address = free_address();
    let tokens = std::env::temp_dir().join(format!("synod-http-tokens-{}", std::process::id()));
    std::fs::write(&tokens, "read 0123456789abcdef\nadmin fedcba9876543210\n").expect("a file");
    let cluster = Cluster::configured("tokens", 1, |config| {
        (config.http, config.tokens) = (Some(address), Some(tokens.clone()));
    });
    cluster.wait_for_view(1);
    let ask = |method, path, token| over_tcp(address, method, path, token);
    assert_eq!(ask("GET", "/livez", "none"), 200);
    for path in ["/readyz", "/metrics", "/v1/status", "/openapi.json"] {
        assert_eq!(ask("GET", path, "none"), 401, "{path}");
        assert_eq!(ask("GET", path, "0123456789abcdef"), 200, "{path}");
    }
    assert_eq!(ask("PUT", "/v1/groups/chat", "0123456789abcdef"), 403);
    assert_eq!(ask("PUT", "/v1/groups/chat", "fedcba9876543210"), 200);
    std::fs::remove_file(tokens).expect("it is there");
}

#[test]
fn what_is_no_request_is_refused_and_others_are_served() {
    let cluster = Cluster::start("garbage", 1);
    let socket = cluster.node(0).socket();
    for garbage in
        [&b"\0\0\0\0\0\0\0\0\0\0"[..], b"GET / HT\r\n\r\n", b"synodc\0\x09 another version"]
    {
        let mut stream = UnixStream::connect(socket).expect("the node listens");
        stream.write_all(garbage).expect("the node reads");
        stream.shutdown(std::net::Shutdown::Write).expect("it is open");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
    }
    // A frame of four gigabytes, and one that cannot be read.
    for frame in [&[0xff; 4][..], &[2, 0, 0, 0, 0xff, 0xff]] {
        let mut stream = UnixStream::connect(socket).expect("the node listens");
        stream.write_all(&synod_client::wire::CLIENT_GREETING).expect("the node reads");
        stream.write_all(frame).expect("the node reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        assert_eq!(answer, synod_client::wire::NODE_GREETING);
    }
    assert_eq!(http(socket, "GET", "/livez", "").0, 200);
}
