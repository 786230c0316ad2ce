//! `synod cert`: certificates for the nodes of a cluster.

use crate::output::{GOOD, Output};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use synod_node::make_certificates;

const EXAMPLES: &str = "\
Examples:
  synod cert n1 n2 n3 --dir certificates
  synod node --name n1 --authority certificates/ca.pem --certificate certificates/n1.pem \\
      --key certificates/n1.key --data n1 --peer n1=10.0.0.1:7401 --peer n2=10.0.0.2:7401

DIR gets an authority (ca.pem, ca.key) unless it has one, and NAME.pem and NAME.key for each node. A
node needs ca.pem and its own two files. Whoever has ca.key can make nodes: keep it elsewhere.";

/// Make certificates, by which the nodes of a cluster know each other
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cert {
    /// The names of the nodes
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The directory for the files
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

impl Cert {
    /// Makes the certificates.
    pub(crate) fn perform(self, output: &Output) -> Result<ExitCode> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        make_certificates(&self.dir, &names)?;
        output.answer(&json!({ "directory": self.dir, "nodes": names }), || {
            let dir = self.dir.display();
            format!(
                "{GOOD}✓{GOOD:#} {dir} has ca.pem, and NAME.pem and NAME.key of {}\n",
                names.join(" ")
            )
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
