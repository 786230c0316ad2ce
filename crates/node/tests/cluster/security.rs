//! Certificates: nodes that have them form a cluster, and no other process gets in.

use crate::support::{Cluster, wait_until};
use std::path::{Path, PathBuf};
use std::time::Duration;
use synod_client::api::Mode;
use synod_node::{Certificates, Config, Node, PoolSpec, StartError, make_certificates};

fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("synod-tls-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn of(directory: &Path, node: &str) -> Certificates {
    Certificates {
        authority: directory.join("ca.pem"),
        certificate: directory.join(format!("{node}.pem")),
        key: directory.join(format!("{node}.key")),
    }
}

#[test]
fn nodes_with_certificates_form_a_cluster_and_others_are_left_out() {
    let (ours, theirs) = (directory("ours"), directory("theirs"));
    make_certificates(&ours, &["n1", "n2", "n3"]).expect("they are made");
    make_certificates(&theirs, &["n3"]).expect("they are made");
    let mut cluster = Cluster::configured("tls", 3, |config: &mut Config| {
        let authority = if config.name == "n3" { &theirs } else { &ours };
        config.certificates = Some(of(authority, &config.name));
    });
    let missing = |cluster: &Cluster, node: usize| match cluster.node(node).status().mode {
        Mode::Partitioned(missing) => missing,
        _ => Vec::new(),
    };
    wait_until("two nodes are together", || (0..2).all(|node| missing(&cluster, node) == ["n3"]));
    cluster.node(0).create_pool("ports", PoolSpec::range(0, 8)).expect("two of three are there");
    // Plenty of time for the third to get in.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(missing(&cluster, 2), ["n1", "n2"]);
    cluster.crash(2);
    // With the right certificate it belongs to the cluster.
    let mut config = cluster.config(2);
    config.certificates = Some(of(&ours, "n3"));
    cluster.nodes[2] = Some(Node::start(config).expect("it starts"));
    cluster.wait_for_view(3);
    for directory in [ours, theirs] {
        std::fs::remove_dir_all(directory).expect("it is there");
    }
}

#[test]
fn certificates_that_cannot_be_used_are_refused_at_the_start_with_what_to_do() {
    let directory = directory("wrong");
    make_certificates(&directory, &["n1", "n2"]).expect("they are made");
    let again = make_certificates(&directory, &["n1"]).expect_err("it is there");
    assert!(again.to_string().contains("is not overwritten"), "{again}");
    let cluster = Cluster::start("wrong", 1);
    let start = |certificates| {
        let mut config = cluster.config(0);
        config.data = directory.join("data");
        config.certificates = Some(certificates);
        match Node::start(config) {
            Err(StartError::Certificates(error)) => error.to_string(),
            _ => panic!("the certificates cannot be used"),
        }
    };
    assert!(start(of(&directory, "n2")).contains("it is not for the node 'n1'"));
    assert!(start(of(&directory, "n9")).contains("'synod cert' makes certificates"));
    let mut swapped = of(&directory, "n1");
    swapped.key = directory.join("n2.key");
    assert!(start(swapped).contains("n2.key"));
    std::fs::remove_dir_all(directory).expect("it is there");
}
