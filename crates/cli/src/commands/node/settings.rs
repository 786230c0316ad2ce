//! The settings of a node: flags before the environment before a file.

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::BoolishValueParser;
use serde::Deserialize;
use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use synod_node::{Certificates, Config, Peer};

/// The settings that a user gives.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[command(next_help_heading = "Settings")]
pub(super) struct Settings {
    /// A file with settings
    #[arg(long, env = "SYNOD_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
    /// The name of this node
    #[arg(long, env = "SYNOD_NAME")]
    name: Option<String>,
    /// The name of the cluster [default: synod]
    #[arg(long, env = "SYNOD_CLUSTER", value_name = "NAME")]
    cluster: Option<String>,
    /// A node with which the cluster begins, and where the others reach it; once for each
    #[arg(long, env = "SYNOD_PEER", value_name = "NAME=ADDRESS", value_delimiter = ',')]
    #[serde(default)]
    peer: Vec<String>,
    /// The directory of this node
    #[arg(long, env = "SYNOD_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// The socket for clients [default: api.sock in the directory]
    #[arg(long, env = "SYNOD_SOCKET", value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Where clients with tokens reach the node by HTTP, for example 127.0.0.1:7480
    #[arg(long, env = "SYNOD_HTTP", value_name = "ADDRESS")]
    http: Option<SocketAddr>,
    /// The file of these tokens: in each line a role (read, use or admin) and a token
    #[arg(long, env = "SYNOD_TOKENS", value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Clients may cut the network on purpose
    #[arg(long, env = "SYNOD_ALLOW_FAULTS", value_name = "BOOL", num_args = 0..=1)]
    #[arg(default_missing_value = "true", require_equals = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    allow_faults: Option<bool>,
    /// Plain TCP to addresses that are not loopback
    #[arg(long, env = "SYNOD_INSECURE", value_name = "BOOL", num_args = 0..=1)]
    #[arg(default_missing_value = "true", require_equals = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    insecure: Option<bool>,
    /// The certificate of the cluster's authority; with it, connections are encrypted
    #[arg(long, env = "SYNOD_AUTHORITY", value_name = "FILE")]
    authority: Option<PathBuf>,
    /// The certificate of this node, for its name
    #[arg(long, env = "SYNOD_CERTIFICATE", value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, env = "SYNOD_KEY", value_name = "FILE")]
    key: Option<PathBuf>,
    /// Give up items that an earlier life of this node held, because their users are gone
    #[arg(long, env = "SYNOD_ABANDON_HELD", value_name = "BOOL", num_args = 0..=1)]
    #[arg(default_missing_value = "true", require_equals = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    abandon_held: Option<bool>,
    /// The time between two signs of life [default: 50]
    #[arg(long, env = "SYNOD_PERIOD_MS", value_name = "MS")]
    period_ms: Option<u64>,
    /// The silence after which a node is taken out of the view [default: 400]
    #[arg(long, env = "SYNOD_TIMEOUT_MS", value_name = "MS")]
    timeout_ms: Option<u64>,
    /// The longest TTL of a session that needs no majority, the same at all nodes; items of a
    /// forgotten node go to others after this time [default: 10000]
    #[arg(long, env = "SYNOD_PROMISE_MS", value_name = "MS")]
    promise_ms: Option<u64>,
}

impl Settings {
    /// The settings of the node, those of the file included.
    pub(super) fn config(&self) -> Result<Config> {
        let all = match &self.config {
            None => self.clone(),
            Some(path) => {
                let text = fs::read_to_string(path)
                    .with_context(|| format!("cannot read the settings in {}", path.display()))?;
                let file = parse(&text)
                    .with_context(|| format!("the settings in {} are wrong", path.display()))?;
                self.clone().or(file)
            }
        };
        all.complete()
    }

    /// These settings, and those of another source where there is none here.
    fn or(self, other: Settings) -> Settings {
        Settings {
            config: self.config,
            name: self.name.or(other.name),
            cluster: self.cluster.or(other.cluster),
            peer: if self.peer.is_empty() { other.peer } else { self.peer },
            data: self.data.or(other.data),
            socket: self.socket.or(other.socket),
            http: self.http.or(other.http),
            tokens: self.tokens.or(other.tokens),
            allow_faults: self.allow_faults.or(other.allow_faults),
            insecure: self.insecure.or(other.insecure),
            authority: self.authority.or(other.authority),
            certificate: self.certificate.or(other.certificate),
            key: self.key.or(other.key),
            abandon_held: self.abandon_held.or(other.abandon_held),
            period_ms: self.period_ms.or(other.period_ms),
            timeout_ms: self.timeout_ms.or(other.timeout_ms),
            promise_ms: self.promise_ms.or(other.promise_ms),
        }
    }

    fn complete(self) -> Result<Config> {
        let missing = |flag: &str, example: &str| {
            format!(
                "--{flag} is missing: say --{flag} {example}, SYNOD_{}={example}, or write it into \
                 the file of --config",
                flag.to_uppercase()
            )
        };
        let name = self.name.with_context(|| missing("name", "n1"))?;
        let data = self.data.with_context(|| missing("data", "/var/lib/synod"))?;
        if self.peer.is_empty() {
            bail!("{}", missing("peer", "n1=127.0.0.1:7401"));
        }
        let peers: Result<Vec<Peer>> = self.peer.iter().map(|text| peer(text)).collect();
        let usual = Config::new(&name, peers?, data);
        let certificates = match (self.authority, self.certificate, self.key) {
            (None, None, None) => None,
            (Some(authority), Some(certificate), Some(key)) => {
                Some(Certificates { authority, certificate, key })
            }
            _ => bail!(
                "--authority, --certificate and --key belong together: say all three, or none. \
                 'synod cert' makes the files"
            ),
        };
        Ok(Config {
            cluster: self.cluster.unwrap_or(usual.cluster),
            socket: self.socket,
            http: self.http,
            tokens: self.tokens,
            allow_faults: self.allow_faults.unwrap_or(usual.allow_faults),
            insecure: self.insecure.unwrap_or(usual.insecure),
            certificates,
            abandon_held: self.abandon_held.unwrap_or(usual.abandon_held),
            period_ms: self.period_ms.unwrap_or(usual.period_ms),
            timeout_ms: self.timeout_ms.unwrap_or(usual.timeout_ms),
            promise_ms: self.promise_ms.unwrap_or(usual.promise_ms),
            ..usual
        })
    }
}

fn parse(text: &str) -> Result<Settings> {
    toml::from_str(text).map_err(|error| anyhow::anyhow!("{}", error.to_string().trim_end()))
}

/// `n1=127.0.0.1:7401`, or a name of a machine instead of its address.
fn peer(text: &str) -> Result<Peer> {
    let wrong = || format!("'{text}' is no peer: write it NAME=ADDRESS:PORT, as n1=127.0.0.1:7401");
    let (name, address) = text.split_once('=').with_context(wrong)?;
    let name = name.trim().to_owned();
    if let Ok(address) = address.trim().parse::<SocketAddr>() {
        return Ok(Peer { name, address });
    }
    let mut found = address.trim().to_socket_addrs().with_context(wrong)?;
    Ok(Peer { name, address: found.next().with_context(wrong)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }

    fn settings(line: &str) -> Settings {
        let words = ["node"].into_iter().chain(line.split_whitespace());
        Line::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).settings
    }

    const FILE: &str = "
        name = \"n1\"
        cluster = \"west\"
        peer = [\"n1=127.0.0.1:7401\", \"n2=127.0.0.1:7402\"]
        data = \"/var/lib/synod\"
        allow-faults = true
        period-ms = 20
    ";

    #[test]
    fn a_flag_counts_before_the_file_and_the_file_before_the_default() {
        let file = parse(FILE).expect("it is right");
        let flags = settings("--name n2 --allow-faults=false --timeout-ms 900");
        let config = flags.or(file).complete().expect("nothing is missing");
        assert_eq!((config.name.as_str(), config.cluster.as_str()), ("n2", "west"));
        assert_eq!((config.allow_faults, config.insecure), (false, false));
        assert_eq!((config.period_ms, config.timeout_ms), (20, 900));
        assert_eq!(config.peers.len(), 2);
    }

    #[test]
    fn what_is_missing_or_wrong_is_said_with_an_example() {
        let complaint = |settings: Settings| {
            settings.complete().map(|_| ()).expect_err("something is missing").to_string()
        };
        assert!(complaint(settings("")).contains("--name n1, SYNOD_NAME=n1"));
        assert!(complaint(settings("--name n1")).contains("--data /var/lib/synod"));
        assert!(complaint(settings("--name n1 --data d")).contains("--peer n1=127.0.0.1:7401"));
        let wrong = complaint(settings("--name n1 --data d --peer n1"));
        assert!(wrong.contains("NAME=ADDRESS:PORT"), "{wrong}");
        let peer = "--name n1 --data d --peer n1=127.0.0.1:1";
        let half = complaint(settings(&format!("{peer} --key n1.key")));
        assert!(half.contains("belong together"), "{half}");
        let unknown = parse("colour = \"red\"").expect_err("there is no such key").to_string();
        assert!(unknown.contains("colour") && unknown.contains("allow-faults"), "{unknown}");
    }

    #[test]
    fn a_flag_without_a_value_is_true() {
        assert_eq!(settings("--insecure").insecure, Some(true));
        assert_eq!(settings("--insecure=no").insecure, Some(false));
        assert_eq!(settings("").insecure, None);
    }
}
