//! The multicasts of members.

use super::announcement::Announcement;
use crate::slots::message as pool;
use serde::{Deserialize, Serialize};
use synod_core::family::services::{Definition, Tag};
use synod_core::reductions::Fleeting;
use synod_core::{ProcessId, ProcessSet, Wire};

/// A multicast.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// The services and nodes that the sender knows, as a view begins.
    Announce(Box<Announcement>),
    /// The service exists: all members open it.
    Open(Tag, Definition),
    /// The service is deleted: all members close it.
    Close(Tag),
    /// The registry certified that the first node is dead; these are the nodes that it knew then.
    Forget(ProcessId, ProcessSet),
    /// A multicast of a pool.
    Pool(Tag, pool::Message),
    /// A message of a group.
    Cast(Tag, Vec<u8>),
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Message::Announce(_) => "Announce",
            Message::Open(..) => "Open",
            Message::Close(_) => "Close",
            Message::Forget(..) => "Forget",
            Message::Pool(_, message) => message.kind(),
            Message::Cast(..) => "Cast",
        }
    }

    fn label(&self) -> String {
        match self {
            Message::Announce(announcement) => {
                let nodes = announcement.nodes.accountable().len();
                format!("Announce {} services, {nodes} nodes", announcement.known.len())
            }
            Message::Open(tag, _) => format!("Open {tag}"),
            Message::Close(tag) => format!("Close {tag}"),
            Message::Forget(node, _) => format!("Forget {node}"),
            Message::Pool(tag, message) => format!("{tag} {}", message.label()),
            Message::Cast(tag, bytes) => format!("{tag} Cast {} bytes", bytes.len()),
        }
    }
}

impl Fleeting for Message {
    /// A view of the engine may end before the services enter it.
    const REMEMBERS_VIEWS: bool = true;

    /// Services are opened, and enter a view, in a regular configuration only.
    fn is_void_between_views(&self) -> bool {
        match self {
            Message::Announce(_) | Message::Open(..) => true,
            Message::Close(_) | Message::Forget(..) | Message::Cast(..) => false,
            Message::Pool(_, message) => message.is_void_between_views(),
        }
    }

    fn ends_with_its_view(&self) -> bool {
        matches!(self, Message::Pool(_, message) if message.ends_with_its_view())
    }
}
