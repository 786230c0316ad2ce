//! Traces made by hand, for tests: a script that keeps Lamport and vector time as a tracer does.

use std::collections::BTreeMap;
use synod_core::ProcessId;
use synod_core::family::Mark;
use synod_sim::trace::{Event, What};

/// Writes a trace line by line.
pub(crate) struct Script {
    events: Vec<Event>,
    now_us: u64,
    lamport: Vec<u64>,
    vectors: Vec<Vec<u32>>,
    /// The text of each message, and the times that it carries.
    sent: BTreeMap<u64, Sent>,
}

struct Sent {
    from: u32,
    to: u32,
    kind: &'static str,
    text: String,
    lamport: u64,
    vector: Vec<u32>,
}

impl Script {
    pub(crate) fn new(n: usize) -> Self {
        Script {
            events: Vec::new(),
            now_us: 0,
            lamport: vec![0; n],
            vectors: vec![vec![0; n]; n],
            sent: BTreeMap::new(),
        }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.clone()
    }

    /// Time passes.
    pub(crate) fn after(&mut self, us: u64) -> &mut Self {
        self.now_us += us;
        self
    }

    fn add(&mut self, what: What, at: Option<u32>, kind: &'static str, text: &str, mark: Mark) {
        let still = matches!(
            what,
            What::Lose
                | What::Duplicate
                | What::Violation
                | What::Network
                | What::Pause
                | What::Resume
        );
        if let (Some(at), false) = (at, still) {
            self.lamport[at as usize] += 1;
            self.vectors[at as usize][at as usize] += 1;
        }
        self.events.push(Event {
            index: self.events.len() as u64,
            time_us: self.now_us,
            process: at.map(ProcessId),
            lamport: at.map_or(0, |at| self.lamport[at as usize]),
            vector: at.map_or_else(Vec::new, |at| self.vectors[at as usize].clone()),
            what,
            message: None,
            peer: None,
            kind,
            input: "",
            text: text.to_owned(),
            mark,
            label: String::new(),
            sights: Vec::new(),
        });
    }

    fn last(&mut self) -> &mut Event {
        self.events.last_mut().expect("an event was just added")
    }

    pub(crate) fn starts(&mut self) -> &mut Self {
        (0..self.lamport.len() as u32).for_each(|at| {
            self.add(What::Start, Some(at), "", "", Mark::None);
        });
        self
    }

    pub(crate) fn asks(&mut self, at: u32, words: &str) -> &mut Self {
        self.add(What::Input, Some(at), "", words, Mark::Ask);
        self
    }

    pub(crate) fn begins(&mut self, at: u32, words: &str) -> &mut Self {
        self.add(What::Output, Some(at), "", words, Mark::Begin);
        self
    }

    pub(crate) fn ends(&mut self, at: u32, words: &str) -> &mut Self {
        self.add(What::Input, Some(at), "", words, Mark::End);
        self
    }

    /// Sends message `number`.
    pub(crate) fn send(
        &mut self,
        number: u64,
        from: u32,
        to: u32,
        kind: &'static str,
        text: &str,
    ) -> &mut Self {
        self.add(What::Send, Some(from), kind, text, Mark::None);
        let event = self.last();
        event.message = Some(number);
        event.peer = Some(ProcessId(to));
        let (lamport, vector) = (event.lamport, event.vector.clone());
        self.sent.insert(number, Sent { from, to, kind, text: text.to_owned(), lamport, vector });
        self
    }

    fn arrives(&mut self, what: What, number: u64) -> &mut Self {
        let Sent { from, to, kind, text, lamport, vector } = &self.sent[&number];
        let (from, to, kind, text) = (*from, *to, *kind, text.clone());
        if what == What::Receive {
            let at = to as usize;
            self.lamport[at] = self.lamport[at].max(*lamport);
            for (mine, theirs) in self.vectors[at].iter_mut().zip(vector) {
                *mine = (*mine).max(*theirs);
            }
        }
        self.add(what, Some(to), kind, &text, Mark::None);
        self.last().message = Some(number);
        self.last().peer = Some(ProcessId(from));
        self
    }

    pub(crate) fn receive(&mut self, number: u64) -> &mut Self {
        self.arrives(What::Receive, number)
    }

    pub(crate) fn lose(&mut self, number: u64, why: &str) -> &mut Self {
        self.arrives(What::Lose, number);
        let event = self.last();
        event.text = format!("{}: {why}", event.text);
        self
    }

    pub(crate) fn duplicate(&mut self, number: u64) -> &mut Self {
        self.arrives(What::Duplicate, number)
    }

    pub(crate) fn timer(&mut self, at: u32, name: &str) -> &mut Self {
        self.add(What::Timer, Some(at), "", name, Mark::None);
        self
    }

    pub(crate) fn crash(&mut self, at: u32) -> &mut Self {
        self.add(What::Crash, Some(at), "", "", Mark::None);
        self
    }

    pub(crate) fn restart(&mut self, at: u32) -> &mut Self {
        self.add(What::Restart, Some(at), "", "without its disk", Mark::None);
        self
    }

    pub(crate) fn pause(&mut self, at: u32) -> &mut Self {
        self.add(What::Pause, Some(at), "", "", Mark::None);
        self
    }

    pub(crate) fn resume(&mut self, at: u32) -> &mut Self {
        self.add(What::Resume, Some(at), "", "", Mark::None);
        self
    }

    pub(crate) fn network(&mut self, text: &str) -> &mut Self {
        self.add(What::Network, None, "", text, Mark::None);
        self
    }

    pub(crate) fn violation(&mut self, at: u32, id: &'static str, why: &str) -> &mut Self {
        self.add(What::Violation, Some(at), id, why, Mark::None);
        self
    }
}

/// Ricart and Agrawala with three processes, two of which want in at the same time.
pub(crate) fn two_requests() -> Vec<Event> {
    let mut script = Script::new(3);
    script.starts().after(1_000).asks(0, "requests");
    script.send(1, 0, 1, "Request", "Request(1@p0)").send(2, 0, 2, "Request", "Request(1@p0)");
    script.after(400).asks(2, "requests");
    script.send(3, 2, 0, "Request", "Request(1@p2)").send(4, 2, 1, "Request", "Request(1@p2)");
    script.after(700).receive(1).send(5, 1, 0, "Reply", "Reply(3)");
    script.after(500).receive(4).send(6, 1, 2, "Reply", "Reply(5)");
    script.after(300).receive(2).send(7, 2, 0, "Reply", "Reply(4)");
    script.after(300).receive(3).after(600).receive(5).after(400).receive(7).begins(0, "enters");
    script.after(500).receive(6).after(1_500).ends(0, "leaves");
    script.send(8, 0, 2, "Reply", "Reply(9)").after(900).receive(8).begins(2, "enters");
    script.after(1_200).ends(2, "leaves");
    script.events()
}

/// Every kind of fault, once.
pub(crate) fn troubles() -> Vec<Event> {
    let mut script = Script::new(4);
    script.starts().after(500).asks(0, "requests");
    for (number, to) in [(1, 1), (2, 2), (3, 3)] {
        script.send(number, 0, to, "Request", "Request(1@p0)");
    }
    script.after(200).network("partition p0 p1 | p2 p3");
    script.after(200).receive(1).send(4, 1, 0, "Reply", "Reply(3)");
    script.after(150).lose(2, "the link is cut").after(150).pause(3).after(300).receive(4);
    script.after(300).crash(2).after(400).network("heal").after(100).duplicate(3);
    script.after(200).resume(3).after(200).receive(3).send(5, 3, 0, "Reply", "Reply(4)");
    script.after(300).receive(3).after(100).timer(0, "Resend");
    script.send(6, 0, 2, "Request", "Request(1@p0)").after(300).restart(2);
    script.after(400).receive(5).begins(0, "enters").after(300).receive(6);
    script.begins(2, "enters").violation(2, "ME1", "p2 enters while p0 is inside");
    script.send(7, 2, 3, "Reply", "Reply(7)").after(300).ends(0, "leaves");
    script.events()
}

/// Every process asks all others, and message delays vary widely: a crowded picture.
pub(crate) fn crowd(n: u32) -> Vec<Event> {
    let mut script = Script::new(n as usize);
    script.starts();
    let mut under_way = Vec::new();
    let mut number = 0;
    for from in 0..n {
        script.after(300 + u64::from(from * 7919 % 800)).asks(from, "requests");
        for to in (0..n).filter(|&to| to != from) {
            number += 1;
            script.send(number, from, to, "Request", &format!("Request(1@p{from})"));
            under_way.push((number, number * 7_919 % 1_009, from, to));
        }
    }
    under_way.sort_by_key(|&(_, chance, _, _)| chance);
    for (request, chance, from, to) in under_way {
        script.after(100 + chance % 500).receive(request);
        number += 1;
        script.send(number, to, from, "Reply", &format!("Reply({chance})"));
        script.after(100 + chance % 300).receive(number);
    }
    script.events()
}
