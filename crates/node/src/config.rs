//! The settings of a node.

use crate::links::Certificates;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The most nodes of a cluster, those that are forgotten included.
pub const MOST_NODES: usize = 64;
/// The most nodes that vote in the registry.
pub const MOST_VOTERS: usize = 7;

/// A node of the cluster, as all nodes know it at the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Where its peers reach it.
    pub address: SocketAddr,
}

/// The settings of a node.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of this node.
    pub name: String,
    /// The name of the cluster.
    pub cluster: String,
    /// All nodes with which the cluster begins, this one included, in the same order at all nodes.
    pub peers: Vec<Peer>,
    /// The directory of this node. Nothing else may use it.
    pub data: PathBuf,
    /// The socket for clients; none: `api.sock` in the directory of the node.
    pub socket: Option<PathBuf>,
    /// Where clients with tokens reach the node by HTTP; none: on the socket only.
    pub http: Option<SocketAddr>,
    /// The file of these tokens: a role (read, use or admin) and a token in each line.
    pub tokens: Option<PathBuf>,
    /// Whether items that an earlier life of this node held are given up, because their users are
    /// gone.
    pub abandon_held: bool,
    /// Whether clients may cut the network on purpose.
    pub allow_faults: bool,
    /// The time between two signs of life, in milliseconds.
    pub period_ms: u64,
    /// The time of silence after which a node is out of the view, in milliseconds.
    pub timeout_ms: u64,
    /// The certificate by which the node proves its name to the others, and they to it; none: plain
    /// TCP.
    pub certificates: Option<Certificates>,
    /// The longest TTL that a node promises its sessions without asking the registry, in
    /// milliseconds. The items of a node that is certified dead go to others after this time: until
    /// then the users of its sessions may be alive. All nodes have the same.
    pub promise_ms: u64,
    /// Whether plain TCP is allowed to addresses that are not loopback.
    pub insecure: bool,
}

/// Why a node cannot work with its settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadConfig(pub String);

impl Config {
    /// A node of this name with a directory, in a cluster of these nodes.
    pub fn new(name: &str, peers: Vec<Peer>, data: impl Into<PathBuf>) -> Self {
        Config {
            name: name.to_owned(),
            cluster: "synod".to_owned(),
            peers,
            data: data.into(),
            socket: None,
            http: None,
            tokens: None,
            abandon_held: false,
            allow_faults: false,
            period_ms: 50,
            timeout_ms: 400,
            promise_ms: 10_000,
            certificates: None,
            insecure: false,
        }
    }

    /// The socket for clients.
    pub fn socket(&self) -> PathBuf {
        self.socket.clone().unwrap_or_else(|| self.data.join("api.sock"))
    }

    /// The place of this node among the nodes of the beginning.
    pub(crate) fn place(&self) -> Option<usize> {
        self.peers.iter().position(|peer| peer.name == self.name)
    }

    /// The first setting that makes no sense.
    pub fn check(&self) -> Result<(), BadConfig> {
        let bad = |why: String| Err(BadConfig(why));
        let names = || self.peers.iter().map(|peer| peer.name.as_str());
        if self.place().is_none() {
            let names: Vec<_> = names().collect();
            return bad(format!(
                "node '{}' is not among the nodes of the cluster ({}): every node needs the same \
                 list, itself included",
                self.name,
                names.join(", ")
            ));
        }
        if self.peers.len() > MOST_VOTERS {
            return bad(format!(
                "a cluster begins with at most {MOST_VOTERS} nodes, because all of them vote; {} \
                 are given",
                self.peers.len()
            ));
        }
        for (place, peer) in self.peers.iter().enumerate() {
            if let Some(why) = wrong_name(&peer.name) {
                return bad(format!("'{}' is no name of a node: {why}", peer.name));
            }
            let before = &self.peers[..place];
            if before.iter().any(|other| other.name == peer.name || other.address == peer.address) {
                return bad(format!("two nodes have the name or the address of {}", peer.name));
            }
            let is_secure = self.certificates.is_some() || self.insecure;
            if !peer.address.ip().is_loopback() && !is_secure {
                return bad(format!(
                    "{} is at {}, which is not loopback: give the nodes certificates ('synod \
                     cert' makes them), or say --insecure if nobody else can reach this network",
                    peer.name, peer.address
                ));
            }
        }
        match (self.http, &self.tokens) {
            (Some(_), None) => {
                return bad("HTTP on TCP needs a file of tokens (--tokens)".to_owned());
            }
            (Some(http), _) if !http.ip().is_loopback() && !self.insecure => {
                return bad(format!(
                    "HTTP at {http} would send tokens unencrypted over a network: use an address \
                     of loopback, with a proxy before it, or say --insecure"
                ));
            }
            _ => {}
        }
        if self.period_ms == 0 || self.timeout_ms < 2 * self.period_ms {
            return bad(format!(
                "a node must be able to miss a sign of life: the time-out ({} ms) is at least \
                 twice the period ({} ms)",
                self.timeout_ms, self.period_ms
            ));
        }
        Ok(())
    }
}

/// The rule that the name of a node, a pool or a group breaks; none if it can be used.
pub(crate) fn wrong_name(name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 {
        Some("a name has 1 to 64 characters")
    } else if !name.chars().all(allowed) {
        Some("a name has letters, digits, '-', '_' and '.' only")
    } else if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Some("a name begins with a letter or a digit")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(count: u16) -> Vec<Peer> {
        let peer = |number| Peer {
            name: format!("n{number}"),
            address: SocketAddr::from(([127, 0, 0, 1], 7000 + number)),
        };
        (1..=count).map(peer).collect()
    }

    fn complaint(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::new("n1", peers(3), "/nowhere");
        assert_eq!(config.check(), Ok(()));
        change(&mut config);
        config.check().expect_err("the change makes no sense").0
    }

    #[test]
    fn settings_that_make_no_sense_are_refused_with_what_to_do() {
        assert!(complaint(|c| c.name = "n9".into()).contains("the same list, itself included"));
        assert!(complaint(|c| c.peers = peers(8)).contains("at most 7 nodes"));
        assert!(complaint(|c| c.peers[1].address = c.peers[0].address).contains("two nodes"));
        assert!(complaint(|c| c.peers[1].name = "a b".into()).contains("letters, digits"));
        assert!(
            complaint(|c| c.peers[2].address.set_ip([10, 0, 0, 1].into())).contains("--insecure")
        );
        let http = |address: [u8; 4]| Some(SocketAddr::from((address, 80)));
        assert!(complaint(|c| c.http = http([127, 0, 0, 1])).contains("--tokens"));
        let open = complaint(|c| (c.http, c.tokens) = (http([10, 0, 0, 1]), Some("t".into())));
        assert!(open.contains("unencrypted"));
        assert!(complaint(|c| c.timeout_ms = 60).contains("at least twice the period"));
    }
}
