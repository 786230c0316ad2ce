//! Traces and pictures of a run, simulated or real.

use crate::output::{self, Output};
use crate::parse;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::{Path, PathBuf};
use synod_draw::shiviz::Shiviz;
use synod_draw::svg::Spread;
use synod_draw::{Scene, mermaid, svg, terminal};
use synod_sim::trace::{Digest, Event, Jsonl, Sink, Window};

/// The default number of events in a picture.
const USUAL_WINDOW: u64 = 400;
/// The default number of events in the terminal.
const USUALLY_DRAWN: u64 = 120;
/// A reader cannot take in a picture of more events than this.
const LARGEST_WINDOW: u64 = 20_000;
/// The number of events before the window that are kept: they show what each process was doing.
const BEFORE_WINDOW: u64 = 10_000;
/// Every event of a trace carries a vector time, with a number for each process.
const LARGEST_TRACED_GROUP: usize = 1_000;

/// The flags for traces and pictures.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Traces and pictures")]
pub(crate) struct Export {
    /// Write every event as a line of JSON
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw a space-time diagram as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Draw it in rows of this many steps at most, one below the other
    #[arg(long, value_name = "STEPS", requires = "svg", value_parser = clap::value_parser!(u16).range(2..))]
    rows: Option<u16>,
    /// Write a log for the ShiViz visualizer
    #[arg(long, value_name = "FILE")]
    shiviz: Option<PathBuf>,
    /// Draw a Mermaid sequence diagram; without a file, to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    mermaid: Option<Option<PathBuf>>,
    /// The events in the pictures [default: the first 400]
    #[arg(long, value_name = "FROM..TO", value_parser = parse::window)]
    window: Option<Range<u64>>,
}

impl Export {
    /// Whether any file or picture is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.trace.is_some() || self.shiviz.is_some() || self.has_pictures()
    }

    fn has_pictures(&self) -> bool {
        self.svg.is_some() || self.mermaid.is_some()
    }

    /// The files that would be written.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let mermaid = self.mermaid.as_ref().and_then(Option::as_ref);
        [self.trace.as_ref(), self.svg.as_ref(), self.shiviz.as_ref(), mermaid]
            .into_iter()
            .flatten()
    }

    /// Opens the files. Fails early: before a run that takes long, not after.
    pub(crate) fn open(&self, scene: &Scene, output: &Output, also: Also) -> Result<Sinks> {
        if matches!(self.mermaid, Some(None)) && output.is_json() {
            bail!(
                "--mermaid without a file writes to standard output, where -o json writes too; \
                 name a file: --mermaid run.mmd"
            );
        }
        let window = self.window.clone().unwrap_or(0..USUAL_WINDOW);
        ensure!(
            window.end - window.start <= LARGEST_WINDOW,
            "a window of {} events cannot be looked at; show {LARGEST_WINDOW} at most",
            window.end - window.start
        );
        let sinks = Sinks {
            trace: self.trace.as_deref().map(open).transpose()?.map(Jsonl::new),
            shiviz: self.shiviz_sink(scene)?,
            window: (self.has_pictures() || also.draw).then(|| {
                let from = window.start.saturating_sub(BEFORE_WINDOW);
                Window::new(from, (window.end - from) as usize)
            }),
            digest: (also.digest || self.trace.is_some()).then(Digest::default),
            draws: also.draw,
        };
        // Pictures are written after the run, but a file that cannot be created is refused now.
        for path in [self.svg.as_deref(), self.mermaid_file()].into_iter().flatten() {
            reserve(path)?;
        }
        ensure!(
            scene.n() <= LARGEST_TRACED_GROUP || !sinks.are_used(),
            "every event of a trace carries a vector time with one number for each process; trace \
             a group of {LARGEST_TRACED_GROUP} at most"
        );
        Ok(sinks)
    }

    fn mermaid_file(&self) -> Option<&Path> {
        self.mermaid.as_ref().and_then(Option::as_deref)
    }

    fn shiviz_sink(&self, scene: &Scene) -> Result<Option<Shiviz<BufWriter<File>>>> {
        let file = self.shiviz.as_deref().map(open).transpose()?;
        Ok(file.map(|file| Shiviz::new(file, scene.clone())))
    }

    /// The run is over: draws the pictures.
    pub(crate) fn draw(&self, scene: Scene, sinks: &Sinks, output: &Output) -> Result<()> {
        let Some(kept) = &sinks.window else { return Ok(()) };
        let scene = scene.with_beyond(kept.beyond);
        let window = self.window.clone();
        if sinks.draws {
            let shown = scene.clone().with_window(window.clone().unwrap_or(0..USUALLY_DRAWN));
            output
                .print(&format!("\n{}", terminal::draw(&shown, &kept.events, output::width())))?;
        }
        let scene = scene.with_window(window.unwrap_or(0..USUAL_WINDOW));
        if let Some(path) = &self.svg {
            let drawn = match self.rows {
                None => svg::draw(&scene, &kept.events, Spread::Automatic),
                Some(steps) => svg::draw_in_rows(&scene, &kept.events, steps.into()),
            };
            write(path, &drawn)?;
        }
        match (&self.mermaid, self.mermaid_file()) {
            (Some(_), Some(path)) => write(path, &mermaid::draw(&scene, &kept.events)),
            (Some(_), None) => output.print(&mermaid::draw(&scene, &kept.events)),
            (None, _) => Ok(()),
        }
    }

    /// Writes and draws events that exist already.
    pub(crate) fn events(&self, scene: Scene, events: &[Event], output: &Output) -> Result<()> {
        let mut sinks = self.open(&scene, output, Also::default())?;
        for sink in sinks.all() {
            events.iter().try_for_each(|event| sink.take(event)).context(UNWRITTEN)?;
            sink.finish().context(UNWRITTEN)?;
        }
        self.draw(scene, &sinks, output)
    }
}

/// The error if the disk is full, for instance.
pub(crate) const UNWRITTEN: &str = "the trace cannot be written to the end";

/// The wishes of a command beside the files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Also {
    /// The digest of the trace.
    pub(crate) digest: bool,
    /// A picture in the terminal.
    pub(crate) draw: bool,
}

/// The receivers of a run's events.
pub(crate) struct Sinks {
    trace: Option<Jsonl<BufWriter<File>>>,
    shiviz: Option<Shiviz<BufWriter<File>>>,
    window: Option<Window>,
    digest: Option<Digest>,
    draws: bool,
}

impl Sinks {
    fn are_used(&self) -> bool {
        let (trace, shiviz) = (self.trace.is_some(), self.shiviz.is_some());
        trace || shiviz || self.window.is_some() || self.digest.is_some()
    }

    /// The wanted sinks, for a tracer.
    pub(crate) fn all(&mut self) -> Vec<&mut dyn Sink> {
        let mut sinks: Vec<&mut dyn Sink> = Vec::new();
        sinks.extend(self.trace.as_mut().map(|sink| sink as &mut dyn Sink));
        sinks.extend(self.shiviz.as_mut().map(|sink| sink as &mut dyn Sink));
        sinks.extend(self.window.as_mut().map(|sink| sink as &mut dyn Sink));
        sinks.extend(self.digest.as_mut().map(|sink| sink as &mut dyn Sink));
        sinks
    }

    /// The digest of the trace, if it was wanted.
    pub(crate) fn digest(&self) -> Option<String> {
        self.digest.as_ref().map(|digest| format!("{:016x}", digest.value()))
    }
}

fn open(path: &Path) -> Result<BufWriter<File>> {
    File::create(path).map(BufWriter::new).with_context(|| unwritable(path))
}

/// Creates a file, to be written later. Fails early: before the work that fills it.
pub(crate) fn reserve(path: &Path) -> Result<()> {
    open(path).map(drop)
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| unwritable(path))
}

/// The error for a file that cannot be written.
pub(crate) fn unwritable(path: &Path) -> String {
    format!("cannot write {}; name a file that can be written", path.display())
}
