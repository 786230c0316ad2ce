//! The API of a synod node, and a client that speaks it.
//!
//! A node listens on a Unix socket. A client sends [`Request`]s, each with a number, and gets an
//! [`Answer`] for each, with the same number; answers may come in another order. Every answer names
//! the node and its view, and says whether the cluster is whole.
//!
//! ```no_run
//! # async fn example() -> Result<(), synod_client::Error> {
//! use synod_client::{Client, Ttl};
//!
//! let client = Client::connect("/run/synod/n1/api.sock").await?;
//! let session = client.open_session(Ttl::from_secs(10), "web server").await?;
//! let port = session.claim("ports").await?;
//! println!("listening on {}, fencing token {}", port.item(), port.token());
//! // The port is given back when `port` is dropped.
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! - [`api`]: requests, answers, and the reasons why a node refuses
//! - [`wire`]: how they travel
//! - `connection`: requests under way on one socket
//! - `session`: sessions that are kept alive, and claims that are given back when they are dropped
#![forbid(unsafe_code)]

pub mod api;
mod connection;
mod session;
pub mod wire;

pub use api::{Answer, Failure, Mode, Reply, Request, Token};
pub use connection::{Client, Error, Events};
pub use session::{Claim, Lost, Session, Ttl};
