//! The nodes that a member knows.

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
