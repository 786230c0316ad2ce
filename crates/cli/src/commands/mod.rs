//! The sub-commands, one file each.

mod bench;
mod book;
mod cert;
mod chaos;
mod check;
mod compare;
mod completions;
mod group;
mod guard;
mod implosion;
mod linear;
mod list;
mod member;
mod new;
mod node;
mod play;
mod pool;
mod run;
mod run_member;
mod session;
mod show;
mod slots;
mod status;
mod step;
mod sweep;
mod tour;
mod up;

use crate::output::Output;
use anyhow::Result;
use clap::{ArgMatches, Subcommand};
use std::process::ExitCode;
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
    Up(up::Up),
    Status(status::Status),
    Pool(pool::Pool),
    Group(group::Group),
    Member(member::Member),
    Session(session::Session),
    Chaos(chaos::Chaos),
    Node(Box<node::Node>),
    Cert(cert::Cert),
    RunMember(run_member::RunMember),
    Guard(guard::Guard),
    Completions(completions::Completions),
}

impl Command {
    /// Performs the command. `matches` are its parsed flags, for commands that print how to repeat
    /// them.
    pub(crate) fn perform(self, matches: &ArgMatches, output: &Output) -> Result<ExitCode> {
        let verdict = match self {
            Command::Up(up) => return up.perform(output),
            Command::Status(status) => return status.perform(output),
            Command::Pool(pool) => return pool.perform(output),
            Command::Group(group) => return group.perform(output),
            Command::Member(member) => return member.perform(output),
            Command::Session(session) => return session.perform(output),
            Command::Chaos(chaos) => return chaos.perform(output),
            Command::Node(node) => return node.perform(output),
            Command::Cert(cert) => return cert.perform(output),
            Command::Guard(guard) => return guard.perform(),
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
            Command::RunMember(member) => member.perform(),
            Command::Completions(completions) => completions.perform(output),
        };
        Ok(match verdict? {
            Verdict::Holds => ExitCode::SUCCESS,
            Verdict::Violated => ExitCode::from(1),
            Verdict::Undecided => ExitCode::from(3),
        })
    }
}
