//! A node of a cluster: pools, groups and the registry, inside a program or as a daemon.
//!
//! A node has two planes, both of them protocols of the catalogue in their hosts:
//! - The **registry** is consistent: a Raft log among the voters. It says which nodes, pools and
//!   groups there are. A change needs a majority.
//! - The **group** is available: one engine with views and a total order among the nodes that reach
//!   each other, and a switchboard with all pools and groups on it. Each side of a partition goes
//!   on.
//!
//! ```no_run
//! use synod_node::{Config, Node, Peer, PoolSpec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let peers = vec![Peer { name: "n1".into(), address: "127.0.0.1:7400".parse()? }];
//! let node = Node::start(Config::new("n1", peers, "/var/lib/synod"))?;
//! node.create_pool("ports", PoolSpec::range(20_000, 10_000))?;
//! let port = node.pool("ports").claim()?;
//! println!("port {}, fencing token {}", port.item(), port.token());
//! // The port is given back when `port` is dropped.
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! - [`Node`] (`node`): a node inside a program; `local`: claims in process
//! - `inner`: requests carried out; `feed`: what the registry says, passed on to the group
//! - `cell`: one process of a protocol in its host, which any thread may step
//! - `registry`, `board`: what stands above the two processes
//! - `links`: connections to the other nodes
//! - `serve`: connections of clients
//! - `certificates`: an authority, and certificates for nodes
//! - `held`: items that outlive the node
//! - `data`, `config`, `clock`, `report`: directory, settings, time, lines for the operator
#![forbid(unsafe_code)]

mod board;
mod cell;
mod certificates;
mod clock;
mod config;
mod data;
mod feed;
mod held;
mod inner;
mod links;
mod local;
mod node;
mod registry;
mod report;
mod serve;

pub use certificates::{CertificateError, make_certificates};
pub use config::{BadConfig, Config, MOST_NODES, MOST_VOTERS, Peer};
pub use data::BadData;
pub use links::{BadCertificates, Certificates};
pub use local::{Claim, Pool};
pub use node::{Node, StartError};
pub use synod_client::api::{Failure, PoolSpec, Token};
