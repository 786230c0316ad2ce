//! The algorithms that this program knows: the catalogue's, and the program's own.
//!
//! A crate outside this repository brings its algorithms to [`run`](crate::run), and each command
//! then treats them as it treats the catalogue's. [`run`](crate::run) adds them once, before it
//! parses the command line; from then on the list stays as it is.

use std::sync::OnceLock;
use synod_core::boxed::Which;
use synod_protocols::{Entry, algorithms};

static OWN: OnceLock<Vec<Which>> = OnceLock::new();

/// Adds the program's own algorithms. The error names one whose name is taken.
pub(crate) fn add(own: &[Which]) -> Result<(), String> {
    for (index, which) in own.iter().enumerate() {
        let card = which.card();
        let mut others = algorithms().chain(own[..index].iter().copied()).map(|other| other.card());
        let mut names = card.aliases.iter().chain([&card.name]);
        if let Some(name) = names.find(|name| others.any(|other| other.answers_to(name))) {
            return Err(format!(
                "'{name}', a name of the algorithm '{}', is taken; write another name on its card",
                card.name
            ));
        }
    }
    OWN.set(own.to_vec()).map_err(|_| "the algorithms were added before".to_owned())
}

fn all() -> impl Iterator<Item = Which> {
    let own = OWN.get().map_or(&[][..], Vec::as_slice);
    algorithms().chain(own.iter().copied())
}

/// The algorithm of that name or alias.
pub(crate) fn which(name: &str) -> Option<Which> {
    all().find(|which| which.card().answers_to(name))
}

/// Every algorithm, in the order of the course; the program's own come last.
pub(crate) fn entries() -> Vec<Entry> {
    all().map(Entry::from).collect()
}
