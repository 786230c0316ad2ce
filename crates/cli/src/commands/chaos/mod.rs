//! `synod chaos`: faults, made on purpose in a cluster of `synod up`.

mod network;
mod process;

use crate::cluster::reach::Reach;
use crate::output::Output;
use crate::parse;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  synod chaos cut n1 n2 : n3 n4 n5   two sides that do not reach each other
  synod chaos cut n3                 n3 alone
  synod chaos heal                   the network is whole, fast and lossless again
  synod chaos one-way n1 n2          n1 no longer reaches n2; n2 still reaches n1
  synod chaos slow n1 50ms           what n1 sends waits for 50 ms
  synod chaos lose n1 10%            one in ten messages that n1 sends is lost
  synod chaos kill n3                as kill -9 does
  synod chaos start n3               start it again, with its directory
  synod chaos pause n3               stop its process; 'resume' lets it go on

These commands are for a cluster of 'synod up'. A fault is added to those before; a new cut replaces
the old one.";

/// Make faults in a cluster of 'synod up': cut the network, kill a node
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Chaos {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Cut the network into sides, with ':' or '/' between them
    Cut {
        /// The nodes of each side; the ones that are not named are one more
        #[arg(required = true, value_name = "NODE")]
        words: Vec<String>,
        #[command(flatten)]
        reach: Reach,
    },
    /// Take back all faults of the network
    Heal {
        #[command(flatten)]
        reach: Reach,
    },
    /// Lose all messages from one node to another
    OneWay {
        /// The sender
        from: String,
        /// The receiver
        to: String,
        #[command(flatten)]
        reach: Reach,
    },
    /// Delay the messages of a node
    Slow {
        /// The node
        #[arg(value_name = "NODE")]
        name: String,
        /// The delay of each message
        #[arg(value_name = "TIME", value_parser = parse::duration)]
        by: Duration,
        #[command(flatten)]
        reach: Reach,
    },
    /// Lose a share of the messages of a node
    Lose {
        /// The node
        #[arg(value_name = "NODE")]
        name: String,
        /// The share, such as 10%
        #[arg(value_name = "SHARE", value_parser = permille)]
        share: u32,
        #[command(flatten)]
        reach: Reach,
    },
    /// Kill the process of a node
    Kill(process::Which),
    /// Stop the process of a node
    Pause(process::Which),
    /// Let the process of a node go on
    Resume(process::Which),
    /// Start a node that was killed
    Start(process::Which),
}

/// `10%`, `0.5%` or `100%`, in thousandths.
fn permille(text: &str) -> Result<u32, String> {
    let share = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let share = share.filter(|share| (0.0..=100.0).contains(share));
    share
        .map(|share| (share * 10.0).round() as u32)
        .ok_or_else(|| "a share is written 10%, from 0% to 100%".to_owned())
}

impl Chaos {
    /// Makes the fault.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        match self.what {
            What::Cut { words, reach } => network::cut(&words, reach, output),
            What::Heal { reach } => network::heal(reach, output),
            What::OneWay { from, to, reach } => network::one_way(&from, &to, reach, output),
            What::Slow { name, by, reach } => network::slow(&name, by, reach, output),
            What::Lose { name, share, reach } => network::lose(&name, share, reach, output),
            What::Kill(which) => which.kill(output),
            What::Pause(which) => which.pause(output),
            What::Resume(which) => which.resume(output),
            What::Start(which) => which.start(output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage() {
        assert_eq!(permille("10%"), Ok(100));
        assert_eq!(permille("0.5%"), Ok(5));
        assert_eq!(permille("100%"), Ok(1_000));
        for text in ["", "10", "101%", "-1%", "NaN%", "some"] {
            assert!(permille(text).is_err(), "{text}");
        }
    }
}
