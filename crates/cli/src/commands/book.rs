//! `synod book`: one page for every algorithm, from its card, its scenarios and its runs.

mod page;

use crate::about::About;
use crate::catalogue::entries;
use crate::export;
use crate::output::Output;
use crate::parallel::{in_order, threads};
use crate::progress::Progress;
use anyhow::{Context, Result, ensure};
use clap::Args;
use page::{Page, Scene};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use synod_core::Verdict;
use synod_protocols::Entry;

const EXAMPLES: &str = "\
Examples:
  synod book pages                     a page for every algorithm, and an index, in pages/
  synod book pages paxos raft          only these two
  synod book pages --scenarios crates/protocols/tests/scenarios
                                       with the scenarios of each, drawn

Pages are Markdown; their pictures are SVG files in a directory img beside them.";

/// Write a page for every algorithm: idea, rules, a run, how it fails, counts against formulas
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Book {
    /// The directory of the pages
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
    /// The algorithms [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// A directory with scenarios, in a directory for each algorithm
    #[arg(long, value_name = "DIRECTORY")]
    scenarios: Option<PathBuf>,
}

#[derive(Serialize)]
struct Told {
    directory: String,
    pages: Vec<&'static str>,
}

impl Book {
    /// Writes them.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let abouts = self.chosen()?;
        let pictures = self.directory.join(page::PICTURES);
        fs::create_dir_all(&pictures).with_context(|| {
            format!("cannot make {}; name a directory that can be", self.directory.display())
        })?;
        let mut progress = Progress::of(abouts.len() as u64, "pages");
        let begun = |begun| progress.at(begun, String::new);
        let pages = in_order(abouts.len() as u64, threads(None), begun, |index| {
            let about = &abouts[index as usize];
            Page::of(about, &|name: &str| self.scenes(name))
        });
        for (about, page) in abouts.iter().zip(pages) {
            let page = page?;
            export::write(&self.directory.join(format!("{}.md", about.card.name)), &page.text)?;
            for (file, picture) in &page.pictures {
                export::write(&pictures.join(file), picture)?;
            }
        }
        if self.names.is_empty() {
            export::write(&self.directory.join("README.md"), &index(&abouts))?;
        }
        progress.finish();
        let told = Told {
            directory: self.directory.display().to_string(),
            pages: abouts.iter().map(|about| about.card.name).collect(),
        };
        output.answer(&told, || format!("{} pages in {}\n", told.pages.len(), told.directory))?;
        Ok(Verdict::Holds)
    }

    /// The named algorithms, or all but the mutants, which are on the pages of the others.
    fn chosen(&self) -> Result<Vec<About>> {
        if !self.names.is_empty() {
            return self.names.iter().map(|name| About::find(name)).collect();
        }
        let sound = |entry: &Entry| entry.card.mutant.is_none();
        entries().iter().filter(|entry| sound(entry)).map(|e| About::find(e.card.name)).collect()
    }

    /// The scenarios of one algorithm, by the names of their files.
    fn scenes(&self, algorithm: &str) -> Result<Vec<Scene>> {
        let Some(root) = &self.scenarios else { return Ok(Vec::new()) };
        ensure!(root.is_dir(), "{} is no directory with scenarios", root.display());
        let Ok(files) = fs::read_dir(root.join(algorithm)) else { return Ok(Vec::new()) };
        let mut files: Vec<PathBuf> = files.map(|file| Ok(file?.path())).collect::<Result<_>>()?;
        files.sort();
        files.iter().map(|path| read(algorithm, path)).collect()
    }
}

fn read(algorithm: &str, path: &Path) -> Result<Scene> {
    let file = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {file}"))?;
    let scene = path.file_stem().unwrap_or_default().to_string_lossy();
    Scene::read(format!("{algorithm}-{scene}"), &file, &text)
}

/// The first page: every algorithm, family by family.
fn index(abouts: &[About]) -> String {
    let mut text =
        "# Every algorithm, a page each\n\nMade by `synod book` from cards, scenarios and \
                    runs: nothing here is written by hand.\n\nIn pictures a message has a short \
                    label. Those of replicated logs: `t2` is term 2, `1:4` the entry 4 of term 1, `+3` \
                    three entries, `c5` the place up to which all is committed.\n"
            .to_owned();
    let mut family = "";
    for about in abouts {
        if about.family != family {
            family = about.family;
            let _ = write!(text, "\n## {}\n\n", page::capitalised(family));
        }
        let card = &about.card;
        let _ = writeln!(text, "- [{}]({}.md): {}", card.name, card.name, card.idea);
    }
    text
}
