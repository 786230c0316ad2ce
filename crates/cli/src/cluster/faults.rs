//! The faults that `synod chaos` made. A node takes all its faults at once and does not tell them
//! again, so they are remembered beside the cluster: another fault is added to those before.

use super::directory::{List, replace};
use super::reach::Cluster;
use super::trouble::Trouble;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use synod_client::Request;
use synod_client::api::Faults;

/// The file with the faults.
const FILE: &str = "faults.json";

/// The faults at each node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AllFaults(pub(crate) BTreeMap<String, Faults>);

impl AllFaults {
    /// Reads the faults of the cluster in this directory.
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let hint =
                    || format!("{} is damaged: 'synod chaos heal' repairs it", path.display());
                serde_json::from_str(&text).map(AllFaults).with_context(hint)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(AllFaults::default()),
            Err(error) => Err(error).context(format!("cannot read {}", path.display())),
        }
    }

    /// Remembers the faults.
    pub(crate) fn write(&self, directory: &Path) -> Result<()> {
        replace(&directory.join(FILE), &serde_json::to_string_pretty(&self.0)?)
    }

    /// The faults of one node, to change.
    pub(crate) fn at(&mut self, node: &str) -> &mut Faults {
        self.0.entry(node.to_owned()).or_default()
    }

    /// No message passes from one node to the other. Each end sees to it, so the cut lasts when one
    /// of them is started again.
    pub(crate) fn cut(&mut self, from: &str, to: &str) {
        let add = |nodes: &mut Vec<String>, node: &str| {
            let mut all: BTreeSet<String> = nodes.drain(..).collect();
            all.insert(node.to_owned());
            nodes.extend(all);
        };
        add(&mut self.at(from).deaf, to);
        add(&mut self.at(to).mute, from);
    }

    /// Cuts the groups of nodes from one another, in place of all cuts before.
    pub(crate) fn split(&mut self, groups: &[Vec<String>]) {
        for faults in self.0.values_mut() {
            faults.deaf.clear();
            faults.mute.clear();
        }
        for (index, group) in groups.iter().enumerate() {
            let others = groups.iter().enumerate().filter(|(other, _)| *other != index);
            for to in others.flat_map(|(_, other)| other) {
                group.iter().for_each(|from| self.cut(from, to));
            }
        }
    }

    /// Makes these faults at all nodes. Returns the nodes that could not be told.
    pub(crate) async fn make(
        &self,
        cluster: &Cluster,
        list: &List,
    ) -> Result<Vec<(String, Trouble)>> {
        let of = |name: &String| self.0.get(name).cloned().unwrap_or_default();
        let requests = list.names().into_iter().map(|name| {
            let faults = of(&name);
            (name, Request::Faults(faults))
        });
        let mut untold = Vec::new();
        for (target, answer) in cluster.ask_named(requests.collect()).await? {
            match answer {
                Ok(_) => {}
                // A node that is down or paused is told of nothing.
                Err(why) if why.failure().is_none() => untold.push((target.name, why)),
                Err(why) => return Err(why.into()),
            }
        }
        Ok(untold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn both_ends_of_a_cut_keep_it_and_a_new_split_replaces_the_old_one() {
        let mut faults = AllFaults::default();
        faults.at("n1").delay_ms = 50;
        faults.split(&[names("n1 n2"), names("n3")]);
        assert_eq!(faults.0["n1"].deaf, names("n3"));
        assert_eq!(faults.0["n1"].mute, names("n3"));
        assert_eq!(faults.0["n3"].deaf, names("n1 n2"));
        assert_eq!(faults.0["n3"].mute, names("n1 n2"));
        faults.split(&[names("n1"), names("n2 n3")]);
        assert_eq!(faults.0["n3"].deaf, names("n1"));
        assert_eq!(faults.0["n1"].delay_ms, 50);
    }

    #[test]
    fn a_one_way_cut_has_one_way() {
        let mut faults = AllFaults::default();
        faults.cut("n1", "n2");
        faults.cut("n1", "n2");
        assert_eq!((&faults.0["n1"].deaf, &faults.0["n1"].mute), (&names("n2"), &names("")));
        assert_eq!((&faults.0["n2"].deaf, &faults.0["n2"].mute), (&names(""), &names("n1")));
    }
}
