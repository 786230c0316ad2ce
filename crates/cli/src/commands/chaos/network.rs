//! Faults of the network.

use crate::cluster::faults::AllFaults;
use crate::cluster::picture::time;
use crate::cluster::reach::{Cluster, Reach};
use crate::cluster::wait_for;
use crate::output::{self, GOOD, Output};
use anyhow::{Result, bail};
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// `synod chaos cut`.
pub(super) fn cut(words: &[String], reach: Reach, output: &Output) -> Result<ExitCode> {
    let cluster = reach.cluster()?;
    let sides = sides(words, &cluster)?;
    let told = sides.iter().map(|side| side.join(" ")).collect::<Vec<_>>().join(" : ");
    change(&cluster, &format!("the network is cut: {told}"), output, |faults| {
        faults.split(&sides);
    })
}

/// The sides of a cut. The nodes that are not named are one more.
fn sides(words: &[String], cluster: &Cluster) -> Result<Vec<Vec<String>>> {
    let text = words.join(" ").replace(['/', ':'], " : ");
    let mut sides: Vec<Vec<String>> =
        text.split(':').map(|side| side.split_whitespace().map(str::to_owned).collect()).collect();
    sides.retain(|side: &Vec<String>| !side.is_empty());
    let mut named: Vec<&String> = sides.iter().flatten().collect();
    for name in &named {
        cluster.target(name)?;
    }
    let count = named.len();
    named.sort();
    named.dedup();
    if named.len() < count {
        bail!("a node is on one side only: write it once");
    }
    let names = cluster.names();
    let rest: Vec<String> = names.into_iter().filter(|name| !named.contains(&name)).collect();
    if !rest.is_empty() {
        sides.push(rest);
    }
    if sides.len() < 2 {
        bail!("all nodes are on one side: put ':' between the sides, as in n1 n2 : n3 n4 n5");
    }
    Ok(sides)
}

/// `synod chaos heal`.
pub(super) fn heal(reach: Reach, output: &Output) -> Result<ExitCode> {
    let cluster = reach.cluster()?;
    // A list of faults that cannot be read is healed, too.
    let (directory, _) = cluster.of_up()?;
    AllFaults::default().write(directory)?;
    change(&cluster, "the network is whole again", output, |_| {})
}

/// `synod chaos one-way`.
pub(super) fn one_way(from: &str, to: &str, reach: Reach, output: &Output) -> Result<ExitCode> {
    let cluster = reach.cluster()?;
    cluster.target(from)?;
    cluster.target(to)?;
    if from == to {
        bail!("a node always reaches itself: name two nodes");
    }
    change(&cluster, &format!("{from} no longer reaches {to}"), output, |faults| {
        faults.cut(from, to);
    })
}

/// `synod chaos slow`.
pub(super) fn slow(node: &str, by: Duration, reach: Reach, output: &Output) -> Result<ExitCode> {
    let cluster = reach.cluster()?;
    cluster.target(node)?;
    change(&cluster, &format!("what {node} sends waits for {}", time(by)), output, |faults| {
        faults.at(node).delay_ms = by.as_millis() as u64;
    })
}

/// `synod chaos lose`.
pub(super) fn lose(node: &str, share: u32, reach: Reach, output: &Output) -> Result<ExitCode> {
    let cluster = reach.cluster()?;
    cluster.target(node)?;
    let percent = f64::from(share) / 10.0;
    change(&cluster, &format!("{percent}% of what {node} sends is lost"), output, |faults| {
        faults.at(node).loss_permille = share;
    })
}

/// Changes the faults, at all nodes.
fn change(
    cluster: &Cluster,
    done: &str,
    output: &Output,
    change: impl FnOnce(&mut AllFaults),
) -> Result<ExitCode> {
    let (directory, list) = cluster.of_up()?;
    let mut faults = AllFaults::read(directory)?;
    change(&mut faults);
    faults.write(directory)?;
    wait_for(async {
        let untold = faults.make(cluster, list).await?;
        let names: Vec<&String> = untold.iter().map(|(node, _)| node).collect();
        output.answer(&json!({ "faults": faults.0, "not_told": names }), || {
            format!("{GOOD}✓{GOOD:#} {done}\n")
        })?;
        for (node, _) in &untold {
            output::note(&format!(
                "{node} does not answer; the others do their part of the fault without it\n"
            ));
        }
        Ok(ExitCode::SUCCESS)
    })
}
