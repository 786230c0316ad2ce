//! Messages that no honest process sends: the engine reports them and goes on.

use synod_core::family::multicast::Payload;
use synod_core::group::{Ask, Event, Level, Member, Part, ViewId};
use synod_core::{Cx, Effect, ProcessId, ProcessSet, Protocol, Setup, step};
use synod_protocols::group::Embedded;
use synod_protocols::group::embedded::{Accept, Beat, Entry, Hello, Message, Numbered, Prepare};

const N: usize = 3;
const LIAR: ProcessId = ProcessId(2);

type Engine = Embedded<Payload>;

/// Three processes whose messages arrive at once, and their outputs.
struct Group {
    processes: Vec<Engine>,
    told: Vec<Vec<Event<Payload>>>,
    accused: usize,
}

impl Group {
    /// All three are in one view.
    fn merged() -> Self {
        let setup = Setup::new(N);
        let process = |me| Embedded::from_setup(me, &setup).expect("the usual parameters");
        let processes = ProcessId::all(N).map(process).collect();
        let mut group = Group { processes, told: vec![Vec::new(); N], accused: 0 };
        ProcessId::all(N).for_each(|at| group.steps(at, |engine, cx| engine.on_start(cx)));
        for _ in 0..5 {
            ProcessId::all(N)
                .for_each(|at| group.steps(at, |engine, cx| engine.on_timer(Beat, cx)));
        }
        assert!(group.processes.iter().all(|engine| engine.view().1.len() == N));
        group
    }

    /// Runs a step, and all steps that follow from it.
    fn steps(&mut self, at: ProcessId, run: impl FnOnce(&mut Engine, &mut Cx<'_, Engine>)) {
        let mut arriving = self.step(at, run);
        while !arriving.is_empty() {
            let (from, to, message) = arriving.remove(0);
            let more = self.step(to, |engine, cx| engine.on_message(from, message, cx));
            arriving.extend(more);
        }
    }

    /// Runs one step, and returns the messages that it sends.
    fn step(
        &mut self,
        at: ProcessId,
        run: impl FnOnce(&mut Engine, &mut Cx<'_, Engine>),
    ) -> Vec<(ProcessId, ProcessId, Message<Payload>)> {
        let mut sent = Vec::new();
        for effect in step(at, N, |cx| run(&mut self.processes[at.index()], cx)) {
            match effect {
                Effect::Send { to, message } => sent.push((at, to, message)),
                Effect::Multicast { to, message } => {
                    sent.extend(to.iter().map(|to| (at, to, message.clone())));
                }
                Effect::Output(event) => self.told[at.index()].push(event),
                Effect::Accuse { .. } => self.accused += 1,
                _ => {}
            }
        }
        sent
    }

    fn multicast(&mut self, at: ProcessId, number: u32) {
        let message = Payload::numbered(number);
        let ask = Ask::Multicast { level: Level::Agreed, message };
        self.steps(at, |engine, cx| engine.on_input(ask, cx));
    }

    fn delivered(&self, at: ProcessId) -> usize {
        let told = self.told[at.index()].iter();
        told.filter(|event| matches!(event, Event::Deliver(_))).count()
    }
}

fn entries(count: usize) -> Vec<Entry<Payload>> {
    let message = Payload::numbered(99);
    let sent_in = ViewId::new(7, ProcessId(7));
    vec![Entry { sent_in, level: Level::Safe, message }; count]
}

fn member(node: u32, incarnation: u32) -> Member {
    Member { node: ProcessId(node), incarnation }
}

fn hello(view: ViewId) -> Hello {
    let everybody = ProcessSet::all(100);
    Hello {
        incarnation: 1,
        epoch: 2,
        view,
        frozen: false,
        have: u64::MAX,
        hears: everybody.clone(),
        follows: ProcessId(99),
        wants: everybody,
    }
}

/// The lies that a process may send in a view, and about others.
fn lies(view: ViewId) -> Vec<Message<Payload>> {
    let high = ViewId { epoch: 1 << 40, by: member(LIAR.0, 1) };
    let most = u64::MAX;
    let odd = vec![member(2, 1), member(0, 1), member(99, 0)];
    let numbered = |number| Numbered { number, sender: member(9, 9), entry: entries(1).remove(0) };
    let accept = |attempt| Accept {
        attempt,
        view,
        fresh: true,
        gone: Vec::new(),
        delivered: most,
        log: vec![numbered(most), numbered(1)],
    };
    let part = Part { from: None, members: ProcessSet::all(100) };
    let prepare = |attempt| Prepare {
        attempt,
        members: odd.clone(),
        parts: vec![part.clone(), part.clone()],
        fresh: ProcessSet::all(100),
        gone: Vec::new(),
        delivered: most,
        log: vec![numbered(most), numbered(0)],
    };
    let mut lies = vec![
        Message::Hello(hello(view)),
        Message::Hello(Hello { incarnation: 0, ..hello(view) }),
        Message::Hello(Hello { epoch: most, ..hello(high) }),
        Message::Bye { member: member(0, 1), view: high },
        Message::Bye { member: member(9, 1), view },
        Message::Have { view, number: most },
        Message::Stable { view, number: most },
        Message::Propose { attempt: high, members: odd.clone() },
        Message::Propose { attempt: ViewId { epoch: most, ..high }, members: Vec::new() },
        Message::Propose { attempt: ViewId::new(9, ProcessId(0)), members: odd.clone() },
        Message::Ready { attempt: high },
        Message::Commit { attempt: high },
    ];
    for number in [0, most - 1, most] {
        lies.push(Message::Request { view, index: number });
        lies.push(Message::Grant { view, index: number, number, count: most });
        lies.push(Message::Grant { view, index: 1, number, count: 1 });
        lies.push(Message::Data { view, number, entries: entries(3) });
    }
    for attempt in [view, high, ViewId::new(9, ProcessId(0))] {
        lies.push(Message::Accept(Box::new(accept(attempt))));
        lies.push(Message::Prepare(Box::new(prepare(attempt))));
    }
    lies
}

#[test]
fn no_lie_stops_the_others_or_gets_anything_delivered() {
    let mut group = Group::merged();
    let view = group.processes[0].view().0;
    for lie in lies(view) {
        for at in [ProcessId(0), ProcessId(1)] {
            let lie = lie.clone();
            group.step(at, |engine, cx| engine.on_message(LIAR, lie, cx));
        }
    }
    assert!(group.accused > 10, "only {} accusations", group.accused);
    assert_eq!(group.delivered(ProcessId(0)) + group.delivered(ProcessId(1)), 0);
    group.multicast(ProcessId(0), 1);
    assert_eq!(group.delivered(ProcessId(1)), 1);
}

#[test]
fn whoever_does_not_belong_to_the_group_is_not_heard() {
    let mut group = Group::merged();
    let view = group.processes[0].view().0;
    for from in [ProcessId(0), ProcessId(99)] {
        for lie in lies(view) {
            group.step(ProcessId(0), |engine, cx| engine.on_message(from, lie, cx));
        }
    }
    assert_eq!(group.accused, 2 * lies(view).len());
}

/// A process accepts a proposal only from a process that it would follow, and no forged preparation
/// of it.
#[test]
fn a_view_that_cannot_be_is_not_prepared() {
    let mut group = Group::merged();
    let attempt = ViewId::new(50, ProcessId(0));
    let members: Vec<_> = (0..3).map(|node| member(node, 1)).collect();
    let proposal = Message::Propose { attempt, members };
    let p1 = ProcessId(1);
    let sent = group.step(p1, |engine, cx| engine.on_message(ProcessId(0), proposal, cx));
    assert!(matches!(sent[..], [(_, _, Message::Accept(_))]));
    let lie = lies(attempt).into_iter().filter_map(|lie| match lie {
        Message::Prepare(prepare) if prepare.attempt != attempt => None,
        Message::Prepare(mut prepare) => {
            prepare.attempt = attempt;
            Some(Message::Prepare(prepare))
        }
        _ => None,
    });
    for lie in lie.collect::<Vec<_>>() {
        let sent = group.step(p1, |engine, cx| engine.on_message(ProcessId(0), lie, cx));
        assert!(sent.is_empty());
    }
    assert_eq!(group.accused, 1);
    assert_eq!(group.processes[1].view().0.epoch, 2);
}
