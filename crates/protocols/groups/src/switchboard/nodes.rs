//! The nodes that a member knows, while nodes are added on one side of a partition.
//!
//! Absent slots return only when every node is accounted for: here, or dead (step 7 of the argument
//! of [`slots`](crate::slots)). A registry adds nodes at any time, and a node that is cut off hears
//! of it later. So *every node* means every node that some member of the view knows. Each
//! announcement carries the nodes that its sender knows. When all are delivered, all members of the
//! view go by the union, in each pool, before the pool enters the view. So they agree on when slots
//! return. A node that the registry adds while the view stands counts from the next view on; it is
//! in no view before.
//!
//! A *certificate* takes a dead node off the list, in all pools at once. It carries the nodes that
//! the registry knew when it gave the certificate. Members of one view take it in at one place of
//! the order, and later views begin with it. It is never void: the node has no next life.
//!
//! # Why no slot has two owners
//! Say that a part of the group gives absent slots out: all nodes of its union U are accounted for.
//! Say that a life of a node Z outside the part owns one of these slots, s. A slot moves only
//! between members of one view. So s came to Z along a chain of nodes, each of which was in a view
//! with the next one.
//! 1. A node has the members of all its views in its list, on its disk: it connects only to nodes
//!    that its disk names. It announces that list in each of its lives. So if Z is not in U, the
//!    node before Z in the chain is no member of the part.
//! 2. If that node is not in U either, the same holds for the node before it. So some node X of the
//!    chain is in U and no member of the part, or the chain begins outside U.
//! 3. X is accounted for, so it is dead. If the registry certified it, the next node of the chain
//!    is on the list of the certificate: it met X before, and the registry had named it by then. If
//!    X's life ended in a view of this part, X had announced the next node in that view, and the
//!    part still has what was announced: a member that forgets it has forgotten, too, who is dead.
//!    So the next node is in U after all.
//! 4. The chain begins where s got its first owner. That is the founder, whose node is on the list
//!    of each member that knows the pool; or it is in a view in which all nodes were accounted for.
//!    The registry's lists grow, so one of two lists has the other. If that view's list has U, then
//!    each node of U was a member of the view, or had died in a view before it. The last of these
//!    to die had the survivors on its disk. So a node of U names a node outside U, which cannot be.
//! 5. So Z is in U, and accounted for: here, and then it has said what it owns; or dead.
//!
//! - Assumes of the registry: a node is in a view only with nodes that its durable list names; of
//!   two lists one has the other; a node that is certified dead is in no view with another node
//!   from then on.

use serde::{Deserialize, Serialize};
use synod_core::{ProcessId, ProcessSet};

/// The nodes that the registry named, as far as a member knows. Both sets only grow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Nodes {
    /// All nodes.
    pub known: ProcessSet,
    /// Those that the registry certified dead.
    pub forgotten: ProcessSet,
}

impl Nodes {
    /// These nodes, none of them dead.
    pub fn new(known: ProcessSet) -> Self {
        Nodes { known, forgotten: ProcessSet::EMPTY }
    }

    /// The certificate that a node is dead, with the nodes that the registry knew when it gave the
    /// certificate. One of these may have slots that it got from the dead node.
    pub fn certificate(dead: ProcessId, known: ProcessSet) -> Self {
        Nodes { known, forgotten: [dead].into_iter().collect() }
    }

    /// Learns what another member knows.
    pub fn absorb(&mut self, other: &Nodes) {
        self.known.extend(other.known.iter());
        self.forgotten.extend(other.forgotten.iter());
    }

    /// The nodes that must be accounted for before absent slots return.
    pub fn accountable(&self) -> ProcessSet {
        self.known.iter().filter(|node| !self.forgotten.contains(*node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(nodes: &[u32]) -> ProcessSet {
        nodes.iter().copied().map(ProcessId).collect()
    }

    #[test]
    fn a_certificate_takes_one_node_off_the_list_and_may_put_others_on_it() {
        let mut nodes = Nodes::new(set(&[1, 2]));
        nodes.absorb(&Nodes::certificate(ProcessId(2), set(&[1, 2, 3])));
        assert_eq!(nodes.accountable(), set(&[1, 3]));
        nodes.absorb(&Nodes::new(set(&[2])));
        assert_eq!(nodes.accountable(), set(&[1, 3]), "it stays dead");
    }
}
