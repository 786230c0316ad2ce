//! Hand-made runs: for each clause one in which it is violated, and one in which it nearly is.

mod deliveries;
mod views;

use super::super::{ENGINE, G1, G2, G5};
use super::*;
use crate::group::{Cause, Change, Part};

const NOW: Moment<'static> = Moment { now_us: 0, clocks: &[] };

/// A hand-made run.
struct Run(Historian, Vec<Violation>);

fn id(epoch: u64, by: u32) -> ViewId {
    ViewId::new(epoch, ProcessId(by))
}

fn set(processes: &[u32]) -> ProcessSet {
    processes.iter().map(|process| ProcessId(*process)).collect()
}

/// Members that come from one view.
type From<'a> = (Option<ViewId>, &'a [u32]);

const NEW: Option<ViewId> = None;

impl Run {
    fn of(n: usize) -> Self {
        Run(Historian::new(&Setup::new(n), &|_| true), Vec::new())
    }

    /// All processes are in the view v1.0.
    fn begun(n: u32) -> Self {
        let mut run = Run::of(n as usize);
        let all: Vec<u32> = (0..n).collect();
        all.iter().for_each(|at| run.enters(*at, id(1, 0), &[(NEW, &all)]));
        run
    }

    fn member(&self, node: u32) -> Member {
        let incarnation = self.0.nodes[node as usize].next_life();
        Member { node: ProcessId(node), incarnation }
    }

    /// The correct view at this process, if all absent members are only unreachable.
    fn view(&self, at: u32, id: ViewId, from: &[From<'_>]) -> View {
        let part = |(from, members): &From<'_>| Part { from: *from, members: set(members) };
        let came_with: Vec<Part> = from.iter().map(part).collect();
        let mut nodes: Vec<u32> = from.iter().flat_map(|(_, members)| members.to_vec()).collect();
        nodes.sort_unstable();
        let members: Vec<Member> = nodes.iter().map(|node| self.member(*node)).collect();
        let last = self.0.nodes[at as usize].view;
        let before = last.map_or(Vec::new(), |last| self.0.views[&last].members.clone());
        let cause =
            |member: &Member| match came_with.iter().find(|p| p.members.contains(member.node)) {
                Some(Part { from: None, .. }) => Cause::Join,
                Some(Part { from: Some(last), .. })
                    if self.0.views.get(last).is_some_and(Record::is_first_and_alone) =>
                {
                    Cause::Join
                }
                _ => Cause::Merge,
            };
        let new = members.iter().filter(|member| !before.contains(member));
        let joined = new.map(|member| Change { member: *member, cause: cause(member) }).collect();
        let gone = before.iter().filter(|member| !members.contains(member));
        let left = gone.map(|member| Change { member: *member, cause: Cause::Partition }).collect();
        View { id, members, joined, left, came_with: Some(came_with) }
    }

    fn outputs(&mut self, at: u32, event: Event<Payload>) {
        self.0.on_output(ProcessId(at), &event, NOW, &mut self.1);
    }

    /// The process learns that its view is over.
    fn goes_on(&mut self, at: u32, with: &[u32]) {
        self.outputs(at, Event::Transitional(set(with)));
    }

    /// The process learns a view, and before that, if it has not yet, that the last is over.
    fn enters(&mut self, at: u32, id: ViewId, from: &[From<'_>]) {
        let view = self.view(at, id, from);
        self.is_told(at, view);
    }

    fn is_told(&mut self, at: u32, view: View) {
        let node = &self.0.nodes[at as usize];
        if node.view.is_some() && node.view != Some(view.id) && node.transition.is_none() {
            self.outputs(at, Event::Transitional(view.companions(ProcessId(at))));
        }
        self.outputs(at, Event::View(view));
    }

    fn multicasts(&mut self, at: u32, number: u32) -> Delivery<Payload> {
        self.asks(at, number, Level::Agreed)
    }

    fn asks(&mut self, at: u32, number: u32, level: Level) -> Delivery<Payload> {
        let message = Payload::numbered(number);
        let ask = Ask::Multicast { level, message: message.clone() };
        let sent_in = self.0.nodes[at as usize].view.expect("it is in a view");
        self.0.on_input(ProcessId(at), &ask, NOW, &mut self.1);
        Delivery { sender: self.member(at), sent_in, level, message }
    }

    fn delivers(&mut self, at: u32, messages: &[&Delivery<Payload>]) {
        messages.iter().for_each(|message| self.outputs(at, Event::Deliver((*message).clone())));
    }

    fn leaves(&mut self, at: u32) {
        self.0.on_input(ProcessId(at), &Ask::Leave, NOW, &mut self.1);
    }

    /// The properties violated so far, each once.
    fn violated(&self) -> Vec<&'static str> {
        let mut ids: Vec<_> = self.1.iter().map(|violation| violation.property).collect();
        ids.dedup();
        ids
    }

    fn waiting(&self, property: &str) -> Vec<u32> {
        self.0.waiting(property).iter().map(|process| process.0).collect()
    }
}

const V1: Option<ViewId> = Some(ViewId::new(1, ProcessId(0)));
