//! Which node a command asks, and how long it waits. Every wait has a bound.

use super::directory::{self, List};
use super::trouble::Trouble;
use crate::parse;
use anyhow::Result;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use synod_client::api::{Answer, Topic};
use synod_client::{Client, Error, Events, Request};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// A node has this time to answer before the next one is tried.
const SHARE: Duration = Duration::from_millis(500);

/// Where all nodes are asked, a node that takes no request for this time is stopped.
const STOPPED: Duration = Duration::from_secs(2);
/// A node that gives up after the same time as the user says why: its answer is waited for.
const SLACK: Duration = Duration::from_millis(500);

/// Flags: where the cluster is.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The cluster")]
pub(crate) struct Reach {
    /// The socket of the node to ask (or SYNOD_SOCKET)
    #[arg(long, value_name = "PATH", conflicts_with = "dir")]
    socket: Option<PathBuf>,
    /// The directory of the cluster that 'synod up' started (or SYNOD_DIR)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The node to ask; without it, the first that answers
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// The longest time to wait for an answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse::duration)]
    timeout: Duration,
}

/// The directory that is meant: the flag, the environment, or the usual one.
pub(crate) fn directory(flag: Option<PathBuf>) -> PathBuf {
    flag.or_else(|| std::env::var_os("SYNOD_DIR").map(PathBuf::from))
        .unwrap_or_else(directory::usual)
}

impl Reach {
    /// The cluster that is meant.
    pub(crate) fn cluster(self) -> Result<Cluster> {
        let environment = || std::env::var_os("SYNOD_SOCKET").map(PathBuf::from);
        let socket = match (&self.socket, &self.dir) {
            (None, None) => environment(),
            (socket, _) => socket.clone(),
        };
        let (targets, directory, list) = match socket {
            Some(socket) => {
                let name = socket.display().to_string();
                (vec![Target { name, socket }], None, None)
            }
            None => {
                let directory = directory(self.dir);
                let list = List::read(&directory)?;
                let list = list.ok_or_else(|| Trouble::NoCluster(directory.clone()))?;
                (targets(&list), Some(directory), Some(list))
            }
        };
        let mut cluster =
            Cluster { targets, wanted: None, directory, list, patience: self.timeout };
        if let (Some(name), true) = (self.node, cluster.list.is_some()) {
            cluster.wanted = Some(cluster.target(&name)?.clone());
        }
        Ok(cluster)
    }
}

fn targets(list: &List) -> Vec<Target> {
    let target = |place: &directory::Place| Target {
        name: place.name.clone(),
        socket: place.socket.clone(),
    };
    list.nodes.iter().map(target).collect()
}

/// A node that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Its name; the path of its socket, if that alone is known.
    pub(crate) name: String,
    /// Where it listens.
    pub(crate) socket: PathBuf,
}

/// The nodes that can be asked.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// All of them.
    pub(crate) targets: Vec<Target>,
    /// The one to ask, if the user has named one.
    wanted: Option<Target>,
    directory: Option<PathBuf>,
    list: Option<List>,
    /// The longest time to wait for an answer.
    pub(crate) patience: Duration,
}

/// A node that answers.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its name.
    pub(crate) name: String,
    /// The connection.
    pub(crate) client: Client,
    patience: Duration,
}

impl Cluster {
    /// The nodes of this list.
    pub(crate) fn of_list(list: &List, patience: Duration) -> Self {
        Cluster { targets: targets(list), wanted: None, directory: None, list: None, patience }
    }

    /// The node of this name.
    pub(crate) fn target(&self, name: &str) -> Result<&Target, Trouble> {
        self.targets
            .iter()
            .find(|target| target.name == name)
            .ok_or_else(|| Trouble::NoNode { name: name.to_owned(), known: self.names() })
    }

    /// The names of all nodes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.name.clone()).collect()
    }

    /// Whether the user has named the node to ask.
    pub(crate) fn has_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// The directory and the list of a cluster of `synod up`, for commands that need it.
    pub(crate) fn of_up(&self) -> Result<(&Path, &List)> {
        let both = self.directory.as_deref().zip(self.list.as_ref());
        both.ok_or_else(|| {
            anyhow::anyhow!(
                "this command needs the directory of a cluster of 'synod up', and a socket is \
                 given: say --dir DIR, or unset SYNOD_SOCKET"
            )
        })
    }

    /// The node to ask: the one that the user named, or the first that answers.
    pub(crate) async fn any(&self) -> Result<Node, Trouble> {
        if let Some(wanted) = &self.wanted {
            return connect(wanted, self.patience, self.patience).await;
        }
        let share = match self.targets.len() {
            1 => self.patience,
            _ => SHARE.min(self.patience),
        };
        let mut last = None;
        for target in &self.targets {
            match connect(target, share, self.patience).await {
                Ok(node) => return Ok(node),
                Err(why) => last = Some(why),
            }
        }
        let why = last.map(|why| why.to_string()).unwrap_or_else(|| "there is no node".to_owned());
        Err(Trouble::NoneAnswers { nodes: self.names(), why })
    }

    /// Does the same with all nodes, or the one that the user named, all at once; the results are
    /// in the order of the nodes.
    async fn each<T, F>(
        &self,
        work: impl Fn(Node) -> F + Clone + Send + 'static,
    ) -> Vec<(Target, Result<T, Trouble>)>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Trouble>> + Send + 'static,
    {
        let targets =
            self.wanted.clone().map_or_else(|| self.targets.clone(), |wanted| vec![wanted]);
        let mut tasks = JoinSet::new();
        for (place, target) in targets.iter().cloned().enumerate() {
            let (work, patience) = (work.clone(), self.patience);
            // All others wait for a node that is stopped.
            let share = STOPPED.min(patience);
            tasks.spawn(async move {
                match connect(&target, share, patience).await {
                    Ok(node) => (place, work(node).await),
                    Err(trouble) => (place, Err(trouble)),
                }
            });
        }
        let mut results = tasks.join_all().await;
        results.sort_by_key(|(place, _)| *place);
        targets.into_iter().zip(results.into_iter().map(|(_, result)| result)).collect()
    }

    /// Asks all nodes the same, or the one that the user named.
    pub(crate) async fn ask_each(
        &self,
        request: &Request,
    ) -> Vec<(Target, Result<Answer, Trouble>)> {
        let request = request.clone();
        self.each(move |node| {
            let request = request.clone();
            async move { node.ask(&request).await }
        })
        .await
    }

    /// Watches all nodes, or the one that the user named.
    pub(crate) async fn watch_each(&self, topic: &Topic) -> Vec<(Target, Result<Events, Trouble>)> {
        let topic = topic.clone();
        self.each(move |node| {
            let topic = topic.clone();
            async move { node.watch(topic).await }
        })
        .await
    }

    /// Asks the nodes of these names, each its own request.
    pub(crate) async fn ask_named(
        &self,
        requests: Vec<(String, Request)>,
    ) -> Result<Vec<(Target, Result<Answer, Trouble>)>, Trouble> {
        let mut answers = Vec::new();
        for (name, request) in requests {
            let target = self.target(&name)?.clone();
            let answer = match connect(&target, SHARE.min(self.patience), self.patience).await {
                Ok(node) => node.ask(&request).await,
                Err(trouble) => Err(trouble),
            };
            answers.push((target, answer));
        }
        Ok(answers)
    }
}

/// Connects to a node within the first time, to ask it with the second one.
async fn connect(target: &Target, within: Duration, patience: Duration) -> Result<Node, Trouble> {
    let name = target.name.clone();
    match timeout(within, Client::connect(&target.socket)).await {
        Ok(Ok(client)) => Ok(Node { name, client, patience }),
        Ok(Err(why)) => Err(Trouble::Node { node: name, why }),
        Err(_) => Err(Trouble::Deaf { node: name, waited: within }),
    }
}

impl Node {
    /// Asks, and waits for the answer as long as the user wants to. A refusal is an error.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer, Trouble> {
        self.ask_within(request, Duration::ZERO).await
    }

    /// Asks for what may take so much longer.
    pub(crate) async fn ask_within(
        &self,
        request: &Request,
        longer: Duration,
    ) -> Result<Answer, Trouble> {
        let waited = self.patience.saturating_add(longer).saturating_add(SLACK);
        match timeout(waited, self.client.ask(request)).await {
            Err(_) => Err(Trouble::Silent { node: self.name.clone(), waited }),
            Ok(Err(why)) => Err(self.trouble(why)),
            Ok(Ok(answer)) if answer.result.is_err() => {
                Err(self.trouble(Error::Refused(Box::new(answer))))
            }
            Ok(Ok(answer)) => Ok(answer),
        }
    }

    async fn watch(&self, topic: Topic) -> Result<Events, Trouble> {
        match timeout(self.patience, self.client.watch(topic)).await {
            Err(_) => Err(Trouble::Silent { node: self.name.clone(), waited: self.patience }),
            Ok(watched) => watched.map_err(|why| self.trouble(why)),
        }
    }

    /// The same error, with the name of the node that it comes from.
    pub(crate) fn trouble(&self, why: Error) -> Trouble {
        let node = match &why {
            Error::Refused(answer) => answer.node.clone(),
            _ => self.name.clone(),
        };
        Trouble::Node { node, why }
    }
}
