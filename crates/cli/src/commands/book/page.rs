//! The page of one algorithm.

use crate::about::About;
use crate::catalogue::{entries, which};
use crate::commands::sweep;
use crate::simulate::simulate;
use crate::words;
use anyhow::{Result, anyhow};
use std::fmt::Write as _;
use synod_core::Setup;
use synod_core::card::{Bounds, Counterexample, Rounds, Scope, Source};
use synod_draw::svg;
use synod_sim::network::Delay;
use synod_sim::scenario::Scenario;
use synod_sim::trace::{Event, Tracer, Window};
use synod_sim::{Options, Plan};

/// The number of events in a picture: a reader cannot follow more.
const SHOWN: usize = 80;
/// The number of steps in a row of a picture: wider pictures are too small on a page.
const ROW: usize = 20;
/// The directory of the pictures, beside the pages.
pub(super) const PICTURES: &str = "img";
/// Costs are measured in groups of these sizes.
const SIZES: [usize; 3] = [3, 5, 9];
/// The latency of every message in the shown run.
const HOP_US: u64 = 1_000;

/// A page.
pub(super) struct Page {
    /// Its text.
    pub(super) text: String,
    /// Its pictures, by the names of their files.
    pub(super) pictures: Vec<(String, String)>,
}

/// A scenario, as a page shows it.
pub(super) struct Scene {
    name: String,
    story: String,
    picture: String,
}

impl Scene {
    /// Plays the scenario in a file and draws it. `name` is that of its picture.
    pub(super) fn read(name: String, file: &str, text: &str) -> Result<Self> {
        let wrong = |error: synod_sim::scenario::ParseError| anyhow!("{}", error.in_file(file));
        let scenario = Scenario::parse(text).map_err(wrong)?;
        let unknown = || scenario.unknown_algorithm([]);
        let played = synod_drivers::play(which, &scenario).unwrap_or_else(|| Err(unknown()));
        let comments = text.lines().map_while(|line| line.strip_prefix('#'));
        let story: Vec<&str> = comments.map(str::trim).collect();
        let scene = synod_draw::Scene::new("", scenario.processes());
        let picture = drawn(scene, &played.map_err(wrong)?.events);
        Ok(Scene { name, story: story.join(" "), picture })
    }
}

impl Page {
    /// Writes the page. `scenes` are the scenarios of an algorithm by name.
    pub(super) fn of(about: &About, scenes: &dyn Fn(&str) -> Result<Vec<Scene>>) -> Result<Self> {
        let card = &about.card;
        let mut page = Page { text: String::new(), pictures: Vec::new() };
        let Source { author, year, work } = card.source;
        page.line(&format!("# {}\n", capitalised(card.title)));
        page.line(&format!("`{}` · {} · {author}: {work} ({year})", card.name, about.family));
        page.section("Idea", &[card.idea.to_owned()]);
        let rules: Vec<&str> = card.rules.iter().map(|rule| rule.text).collect();
        page.numbered("Rules", &rules);
        page.bullets("Assumes", card.assumes.iter().map(|&line| line.to_owned()));
        let promises = about.claims.iter().filter(|claim| claim.promised);
        page.bullets(
            "Promises",
            promises.map(|claim| {
                let title = claim.title();
                let name = match title.strip_prefix(claim.id) {
                    Some(rest) => rest.to_owned(),
                    None => format!(" ({title})"),
                };
                format!("**{}**{name}: {}", claim.id, claim.statement)
            }),
        );
        page.bullets("Tolerates", [words::tolerance(&card.tolerates)].into_iter());
        let proved = |scope: &Scope| format!("in every state of {}", words::scope(scope));
        page.bullets("Proved", card.proved().iter().map(proved));
        let parameters = card.parameters.iter();
        page.bullets("Parameters", parameters.map(|p| format!("`{}`: {}", p.name, p.meaning)));
        page.run(about)?;
        page.scenes(scenes(card.name)?);
        page.costs(about)?;
        page.failures(about);
        page.mutants(card.name, scenes)?;
        Ok(page)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn section(&mut self, title: &str, lines: &[String]) {
        let _ = write!(self.text, "\n## {title}\n\n");
        for line in lines {
            self.line(line);
        }
    }

    fn numbered(&mut self, title: &str, lines: &[&str]) {
        let numbered = |(index, line): (usize, &&str)| format!("{}. {line}", index + 1);
        let lines: Vec<String> = lines.iter().enumerate().map(numbered).collect();
        if !lines.is_empty() {
            self.section(title, &lines);
        }
    }

    fn bullets(&mut self, title: &str, lines: impl Iterator<Item = String>) {
        let lines: Vec<String> = lines.map(|line| format!("- {line}")).collect();
        if !lines.is_empty() {
            self.section(title, &lines);
        }
    }

    fn picture(&mut self, name: &str, words: &str, picture: String) {
        let _ = write!(self.text, "\n![{words}]({PICTURES}/{name}.svg)\n");
        self.pictures.push((format!("{name}.svg"), picture));
    }

    /// A small group that asks once each, without faults.
    fn run(&mut self, about: &About) -> Result<()> {
        let n = about.card.smallest.max(3);
        let plan = Plan { multicast: about.card.multicast, ..Plan::new(n, Rounds::Times(1)) };
        let mut options = Options::new(plan, 1);
        options.network.latency = Delay::Constant(HOP_US);
        let mut seen = Window::new(0, SHOWN);
        simulate(about, options, Some(Tracer::new(n, vec![&mut seen])), &mut |_, _| ())?;
        let requests = about.takers(&Setup::new(n))?.iter().filter(|takes| **takes).count();
        let flags = format!("-n {n} -r {requests} --latency 1ms --seed 1");
        let name = about.card.name;
        let drawing = format!("--svg {name}.svg --rows {ROW} --window 0..{SHOWN}");
        self.section("A run", &[format!("`synod run {name} {flags} {drawing}`:")]);
        let scene = synod_draw::Scene::new(format!("{name}, seed 1"), n).with_beyond(seen.beyond);
        self.picture(name, &format!("A run of {name}"), drawn(scene, &seen.events));
        Ok(())
    }

    fn scenes(&mut self, scenes: Vec<Scene>) {
        if scenes.is_empty() {
            return;
        }
        self.section("Scenes", &[]);
        for Scene { name, story, picture } in scenes {
            self.line(&story);
            self.picture(&name, "The scene, drawn", picture);
            self.line("");
        }
        self.text.truncate(self.text.trim_end().len());
        self.line("");
    }

    fn costs(&mut self, about: &About) -> Result<()> {
        let points = sweep::measured(about, &SIZES)?;
        if points.is_empty() {
            return Ok(());
        }
        let mut rows = vec![
            "| what | load | formula | N | says | measured |".to_owned(),
            "|---|---|---|---|---|---|".to_owned(),
        ];
        for point in points {
            let says = words::bounds(point.expected());
            let measured = words::bounds(Bounds { min: point.min, max: Some(point.max) });
            let (load, formula) = (point.load, point.formula);
            let cost = match point.setting.as_str() {
                "" => point.cost.to_owned(),
                setting => format!("{}, with {setting}", point.cost),
            };
            rows.push(format!(
                "| {cost} | {load} | {formula} | {} | {says} | {measured} |",
                point.n
            ));
        }
        self.section("Counts against the formula", &rows);
        Ok(())
    }

    fn failures(&mut self, about: &About) {
        let card = &about.card;
        let told = |shown: &Counterexample| {
            let Counterexample { property, scope, steps, story } = *shown;
            let steps = words::count(steps as u64, "step", "steps");
            let command = words::check_command(card, &scope, &[property]);
            format!("**{property}** fails in {steps}: {story}\n  `{command}`")
        };
        self.bullets("How it fails", card.counterexamples.iter().map(told));
        for claim in about.unexplained() {
            self.line(&format!("\n*{}*: {}.", claim.title(), claim.statement));
        }
    }

    /// The same with a rule broken, each with its counterexamples and its scenarios.
    fn mutants(&mut self, name: &str, scenes: &dyn Fn(&str) -> Result<Vec<Scene>>) -> Result<()> {
        for entry in entries() {
            let card = entry.card;
            let Some(mutant) = card.mutant.filter(|mutant| mutant.of == name) else { continue };
            let change = capitalised(mutant.change);
            let told = format!("{change}. It breaks {}.", mutant.breaks);
            self.section(&format!("Broken on purpose: `{}`", card.name), &[told]);
            self.line("");
            for shown in card.counterexamples {
                let steps = words::count(shown.steps as u64, "step", "steps");
                self.line(&format!("- **{}** fails in {steps}: {}", shown.property, shown.story));
            }
            for Scene { name, story, picture } in scenes(card.name)? {
                self.line(&format!("\n{story}"));
                self.picture(&name, "The scene, drawn", picture);
            }
        }
        Ok(())
    }
}

/// The first events, as a diagram.
fn drawn(scene: synod_draw::Scene, events: &[Event]) -> String {
    svg::draw_in_rows(&scene.with_window(0..SHOWN as u64), events, ROW)
}

/// With a capital letter in front.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
