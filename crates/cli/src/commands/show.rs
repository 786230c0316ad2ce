//! `synod show`: the card of one algorithm.

use crate::about::{About, Claim};
use crate::catalogue::entries;
use crate::output::{self, BOLD, DIM, Output};
use crate::parse;
use crate::words;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use synod_core::card::{
    Cost, Counterexample, Larger, Mutant, OtherCosts, Parameter, Rule, Scope, Settings, Size,
    Source, Tolerance, Trigger, Variant,
};
use synod_core::{Card, Setup, Verdict};

const EXAMPLES: &str = "\
Examples:
  synod show ricart-agrawala           idea, rules, promises, costs, counterexamples
  synod show ra-no-tie-break           a mutant: its change, and the property it breaks
  synod show maekawa -o json           the same for programs";

/// Formulas are evaluated for groups of these sizes.
const SIZES: [usize; 3] = [3, 5, 9];

/// Show the card of an algorithm
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The algorithm
    #[arg(value_name = "NAME", value_parser = parse::Name, hide_possible_values = true)]
    name: String,
}

#[derive(Serialize)]
struct CardJson {
    name: &'static str,
    aliases: &'static [&'static str],
    family: &'static str,
    title: &'static str,
    source: Source,
    idea: &'static str,
    rules: Vec<&'static str>,
    rule_triggers: Vec<&'static [Trigger<'static>]>,
    assumes: &'static [&'static str],
    tolerates: Tolerance,
    promises: Vec<Promise>,
    variants: &'static [Variant],
    proved: Vec<Scope>,
    worlds: Vec<World>,
    larger: Vec<LargerJson>,
    /// The flags of a run in which a mutant fails.
    fails_with: Option<&'static str>,
    costs: Vec<CostJson>,
    other_costs: Vec<OtherCostsJson>,
    parameters: &'static [Parameter],
    layers: &'static [&'static str],
    smallest: usize,
    counterexamples: Vec<Known>,
    mutant: Option<Mutant>,
    mutants: Vec<&'static str>,
}

#[derive(Serialize)]
struct Promise {
    property: &'static str,
    name: &'static str,
    statement: &'static str,
}

#[derive(Serialize)]
struct CostJson {
    name: &'static str,
    load: &'static str,
    formula: &'static str,
    values: Vec<Value>,
}

/// Costs in another setting than the usual one.
#[derive(Serialize)]
struct OtherCostsJson {
    set: Settings,
    multicast: bool,
    costs: Vec<CostJson>,
}

#[derive(Serialize)]
struct Value {
    n: usize,
    min: f64,
    max: Option<f64>,
}

/// A small world that was explored to the end, and the command that does it again.
#[derive(Serialize)]
struct World {
    scope: Scope,
    command: String,
}

/// A larger world, the command that explores it, and what that took once.
#[derive(Serialize)]
struct LargerJson {
    command: String,
    #[serde(flatten)]
    larger: Larger,
}

#[derive(Serialize)]
struct Known {
    property: &'static str,
    scope: Scope,
    steps: usize,
    story: &'static str,
    command: String,
}

impl Show {
    /// Shows the card.
    pub(crate) fn perform(self, output: &Output) -> Result<Verdict> {
        let about = About::find(&self.name)?;
        let sizes = about.sizes(&SIZES);
        let card = card(&about, &sizes);
        output.answer(&card, || in_words(&card, &about, &sizes))?;
        Ok(Verdict::Holds)
    }
}

fn card(about: &About, sizes: &[Size]) -> CardJson {
    let card = &about.card;
    let promises = about.claims.iter().filter(|claim| claim.promised);
    let mutants = entries()
        .into_iter()
        .filter(|entry| entry.card.mutant.is_some_and(|mutant| card.answers_to(mutant.of)));
    let proved = if card.mutant.is_none() { card.proved() } else { Vec::new() };
    CardJson {
        name: card.name,
        aliases: card.aliases,
        family: about.family,
        title: card.title,
        source: card.source,
        idea: card.idea,
        rules: card.rules.iter().map(|rule| rule.text).collect(),
        rule_triggers: card.rules.iter().map(Rule::triggers).collect(),
        assumes: card.assumes,
        tolerates: card.tolerates,
        promises: promises
            .map(|claim| Promise {
                property: claim.id,
                name: claim.name,
                statement: claim.statement,
            })
            .collect(),
        variants: card.variants,
        worlds: proved.iter().map(|scope| world(card, scope)).collect(),
        larger: card.larger.iter().map(|larger| larger_json(card, larger)).collect(),
        fails_with: card.mutant.map(|_| card.fails_with),
        proved,
        costs: card.costs.iter().map(|cost| cost_json(cost, sizes)).collect(),
        other_costs: card.other_costs.iter().map(|other| other_costs_json(other, sizes)).collect(),
        parameters: card.parameters,
        layers: card.layers,
        smallest: card.smallest,
        counterexamples: card.counterexamples.iter().map(|shown| known(card, shown)).collect(),
        mutant: card.mutant,
        mutants: mutants.map(|entry| entry.card.name).collect(),
    }
}

fn other_costs_json(other: &OtherCosts, sizes: &[Size]) -> OtherCostsJson {
    let costs = other.costs.iter().map(|cost| cost_json(cost, sizes)).collect();
    OtherCostsJson { set: other.set, multicast: other.multicast, costs }
}

fn cost_json(cost: &Cost, sizes: &[Size]) -> CostJson {
    let value = |size: &Size| {
        let bounds = (cost.expected)(*size);
        Value { n: size.n, min: bounds.min, max: bounds.max }
    };
    CostJson {
        name: cost.name,
        load: words::load(cost.load),
        formula: cost.formula,
        values: sizes.iter().map(value).collect(),
    }
}

fn world(card: &Card, scope: &Scope) -> World {
    let promises = card.promises_with(&Setup::new(scope.n).with_all(scope.set));
    World { scope: *scope, command: words::check_command(card, scope, promises) }
}

fn larger_json(card: &Card, larger: &Larger) -> LargerJson {
    let command = words::check_command(card, &larger.scope, larger.holds);
    LargerJson { command, larger: *larger }
}

fn known(card: &Card, shown: &Counterexample) -> Known {
    let Counterexample { property, scope, steps, story } = *shown;
    let command = words::check_command(card, &scope, &[property]);
    Known { property, scope, steps, story, command }
}

fn in_words(card: &CardJson, about: &About, sizes: &[Size]) -> String {
    let mut text = format!("\n{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}\n", card.name, about.family);
    text += &output::paragraph("  ", card.title);
    let Source { author, year, work } = card.source;
    text += &output::paragraph("  ", &format!("{author}: {work} ({year})"));
    if !card.aliases.is_empty() {
        text += &output::paragraph("  ", &format!("also called {}", card.aliases.join(", ")));
    }
    if let Some(mutant) = card.mutant {
        text += &output::heading("Broken on purpose");
        let broken = format!("{} with a change: {}.", mutant.of, mutant.change);
        let claim = about.claim(mutant.breaks);
        let breaks = claim.map_or_else(|| mutant.breaks.to_owned(), Claim::sentence);
        text += &output::paragraph("  ", &format!("{broken} It breaks {breaks}."));
    }
    text += &output::heading("Idea");
    text += &output::paragraph("  ", card.idea);
    text += &numbered("Rules", &card.rules);
    text += &bulleted("Assumes", card.assumes.iter().map(|&line| line.to_owned()));
    let promised = about.claims.iter().filter(|claim| claim.promised);
    text += &bulleted("Promises", promised.map(Claim::sentence));
    if card.mutant.is_none() {
        text += &bulleted("Tolerates", [words::tolerance(&card.tolerates)].into_iter());
        text += &bulleted("Set otherwise", card.variants.iter().map(variant));
        text += &worlds(card, about.card.usual_world());
    }
    text += &costs("Costs", about.card.costs, sizes);
    for other in about.card.other_costs {
        text += &costs(&words::other_costs(other), other.costs, sizes);
    }
    let parameter = |p: &Parameter| format!("{}: {}", p.name, p.meaning);
    text += &bulleted("Parameters", card.parameters.iter().map(parameter));
    if !card.layers.is_empty() {
        text += &output::heading("Layers");
        text += &output::paragraph("  ", &card.layers.join(" over "));
    }
    text + &counterexamples(card, about) + &others(card)
}

fn variant(variant: &Variant) -> String {
    let settings = words::settings(variant.set);
    let promises = variant.promises.join(" ");
    format!("{settings}: {}; promises {promises}", words::tolerance(&variant.tolerates))
}

fn numbered(title: &str, lines: &[&str]) -> String {
    let rows = lines.iter().enumerate();
    let rows: Vec<_> =
        rows.map(|(index, line)| vec![format!("{}.", index + 1), (*line).to_owned()]).collect();
    if rows.is_empty() {
        return String::new();
    }
    output::heading(title) + &output::table(&["", ""], &[], rows)
}

fn bulleted(title: &str, lines: impl Iterator<Item = String>) -> String {
    let rows: Vec<_> = lines.map(|line| vec!["•".to_owned(), line]).collect();
    if rows.is_empty() {
        return String::new();
    }
    output::heading(title) + &output::table(&["", ""], &[], rows)
}

fn costs(heading: &str, costs: &[Cost], sizes: &[Size]) -> String {
    if costs.is_empty() {
        return String::new();
    }
    let columns: Vec<String> = sizes.iter().map(|size| format!("N = {}", size.n)).collect();
    let mut header = vec!["", "load", "formula"];
    header.extend(columns.iter().map(String::as_str));
    let row = |cost: &Cost| {
        let mut row =
            vec![cost.name.to_owned(), words::load(cost.load).to_owned(), cost.formula.to_owned()];
        row.extend(sizes.iter().map(|size| words::bounds((cost.expected)(*size))));
        row
    };
    let right: Vec<&str> = columns.iter().map(String::as_str).collect();
    let rows = costs.iter().map(row).collect();
    output::heading(heading) + &output::table(&header, &right, rows)
}

fn worlds(card: &CardJson, usual: Option<Scope>) -> String {
    let world = |World { scope, command }: &World| {
        let is_usual = usual == Some(*scope);
        let note = if is_usual { format!("; synod check {}", card.name) } else { String::new() };
        let scope = format!("• in every state of {}{note}", words::scope(scope));
        output::paragraph("  ", &scope) + &format!("    {command}\n")
    };
    let larger = |LargerJson { command, larger }: &LargerJson| {
        let Larger { scope, holds, states, seconds, mebibytes } = larger;
        let states = words::count(*states, "state", "states");
        let line = format!(
            "• once, in every of {states} of {}: {} ({seconds} s on one thread, {mebibytes} MiB)",
            words::scope(scope),
            holds.join(" ")
        );
        output::paragraph("  ", &line) + &format!("    {command}\n")
    };
    output::heading("Proved")
        + &card.worlds.iter().map(world).collect::<String>()
        + &card.larger.iter().map(larger).collect::<String>()
}

fn counterexamples(card: &CardJson, about: &About) -> String {
    if card.counterexamples.is_empty() {
        return String::new();
    }
    let mut text = output::heading("Counterexamples");
    for (index, known) in card.counterexamples.iter().enumerate() {
        let steps = words::count(known.steps as u64, "step", "steps");
        let story = known.story.trim_end_matches('.');
        let story = format!("{}. {} fails in {steps}: {story}.", index + 1, known.property);
        text += &output::paragraph("  ", &story);
        text += &format!("    {}\n", known.command);
    }
    text + &output::legend(about.unexplained().map(Claim::sentence))
}

fn others(card: &CardJson) -> String {
    let mut text = String::new();
    if !card.mutants.is_empty() {
        text += &output::heading("Mutants");
        text += &output::paragraph("  ", &card.mutants.join(", "));
    }
    let name = card.name;
    text + &format!("\n{DIM}Try: synod run {name} -n 5, or synod check {name}{DIM:#}\n")
}
