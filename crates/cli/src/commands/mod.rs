//! The sub-commands, one file each.

mod bench;
mod book;
mod check;
mod compare;
mod completions;
mod implosion;
mod linear;
mod list;
mod member;
mod new;
mod play;
mod run;
mod show;
mod slots;
mod step;
mod sweep;
mod tour;

use crate::output::Output;
use anyhow::Result;
use clap::{ArgMatches, Subcommand};
use synod_core::Verdict;

/// The sub-commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    Tour(tour::Tour),
    List(list::List),
    Show(show::Show),
    Run(Box<run::Run>),
    Check(Box<check::Check>),
    Sweep(sweep::Sweep),
    Compare(compare::Compare),
    Implosion(implosion::Implosion),
    Bench(bench::Bench),
    Slots(slots::Slots),
    Linear(linear::Linear),
    Play(play::Play),
    Step(step::Step),
    Book(book::Book),
    New(new::New),
    Member(member::Member),
    Completions(completions::Completions),
}

impl Command {
    /// Performs the command. `matches` are its parsed flags, for commands that print how to repeat
    /// them.
    pub(crate) fn perform(self, matches: &ArgMatches, output: &Output) -> Result<Verdict> {
        match self {
            Command::Tour(tour) => tour.perform(output),
            Command::List(list) => list.perform(output),
            Command::Show(show) => show.perform(output),
            Command::Run(run) => run.perform(matches, output),
            Command::Check(check) => check.perform(output),
            Command::Sweep(sweep) => sweep.perform(output),
            Command::Compare(compare) => compare.perform(output),
            Command::Implosion(implosion) => implosion.perform(output),
            Command::Bench(bench) => bench.perform(output),
            Command::Slots(slots) => slots.perform(output),
            Command::Linear(linear) => linear.perform(output),
            Command::Play(play) => play.perform(output),
            Command::Step(step) => step.perform(output),
            Command::Book(book) => book.perform(output),
            Command::New(new) => new.perform(output),
            Command::Member(member) => member.perform(),
            Command::Completions(completions) => completions.perform(output),
        }
    }
}
