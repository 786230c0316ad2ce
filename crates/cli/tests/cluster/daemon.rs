//! `synod node` by itself, as a service manager runs it.

use crate::up::{PATIENCE, scratch, synod};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

#[test]
fn a_service_manager_learns_when_the_node_serves_and_ends_it_with_sigterm() {
    let directory = scratch();
    std::fs::create_dir_all(&directory).expect("it can be made");
    let notify = directory.join("notify.sock");
    let manager = UnixDatagram::bind(&notify).expect("the path is short");
    manager.set_read_timeout(Some(PATIENCE)).expect("it is not zero");
    // Below the ports of outgoing connections, so that none takes it before the node.
    let mut listeners =
        (30_000..32_000).filter_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let listener = listeners.next().expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let file = directory.join("synod.toml");
    let settings = format!("name = \"n1\"\npeer = [\"n1={address}\"]\ndata = \"/nowhere\"\n");
    std::fs::write(&file, settings).expect("it can be written");
    let mut command = synod();
    command.args(["node", "--systemd", "--config"]).arg(&file);
    // The environment counts before the file.
    command.env("SYNOD_DATA", directory.join("n1")).env("NOTIFY_SOCKET", &notify);
    let mut node = command.stdout(Stdio::null()).spawn().expect("it can be run");
    let heard = || {
        let mut bytes = [0; 500];
        let length = manager.recv(&mut bytes).expect("the node says so in time");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    assert!(heard().starts_with("READY=1\n"));
    let asked =
        synod().args(["member", "ls", "--socket"]).arg(directory.join("n1/api.sock")).status();
    assert!(asked.expect("it can be run").success());
    let sent = Command::new("kill").args(["-TERM", &node.id().to_string()]).status();
    assert!(sent.expect("there is a command 'kill'").success());
    assert_eq!(heard(), "STOPPING=1");
    assert_eq!(node.wait().expect("it is our child").code(), Some(0));
    std::fs::remove_dir_all(directory).expect("it is there");
}

#[test]
fn certificates_are_made_once_and_never_overwritten() {
    let directory = scratch();
    let make = || {
        let mut command = synod();
        let output = command.args(["cert", "n1", "n2", "--dir"]).arg(&directory).output();
        output.expect("it can be run")
    };
    assert!(make().status.success());
    for file in ["ca.pem", "ca.key", "n1.pem", "n1.key", "n2.pem", "n2.key"] {
        assert!(directory.join(file).exists(), "{file}");
    }
    let again = make();
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is not overwritten"));
    std::fs::remove_dir_all(directory).expect("it is there");
}
