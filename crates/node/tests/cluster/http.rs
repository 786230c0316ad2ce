//! HTTP on the same socket.

use crate::support::Cluster;
use std::io::{Read, Write};
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
