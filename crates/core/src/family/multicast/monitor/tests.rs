//! Hand-made runs, some of them from the textbooks, and the violations in each.

use super::super::Payload;
use super::*;

const NOW: Moment<'static> = Moment { now_us: 0, clocks: &[] };

/// A hand-made run.
struct Run(Scribe, Vec<Violation>);

impl Run {
    fn of(n: usize) -> Self {
        Run::in_groups(&Setup::new(n))
    }

    fn in_groups(setup: &Setup) -> Self {
        Run(Scribe::new(setup, &|_| true), Vec::new())
    }

    /// The process multicasts its next message.
    fn multicasts_to(&mut self, group: u32, at: u32) -> Message {
        let (group, sender) = (GroupId(group), ProcessId(at));
        let number = self.0.logs[group.index()].sent[sender.index()].count() + 1;
        let input = Input::Multicast { group, payload: Payload::numbered(number) };
        self.0.on_input(sender, &input, NOW, &mut self.1);
        (sender, number)
    }

    fn multicasts(&mut self, at: u32) -> Message {
        self.multicasts_to(0, at)
    }

    fn delivers_in(&mut self, group: u32, at: u32, (sender, number): Message) {
        let payload = Payload::numbered(number);
        let output = Output::Deliver { group: GroupId(group), sender, payload };
        self.0.on_output(ProcessId(at), &output, NOW, &mut self.1);
    }

    fn delivers(&mut self, at: u32, messages: &[Message]) {
        messages.iter().for_each(|message| self.delivers_in(0, at, *message));
    }

    fn crashes(&mut self, at: u32) {
        self.0.on_crash(ProcessId(at));
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

    fn complaint(&self, property: &str, at: u32) -> String {
        self.0.complaint(property, ProcessId(at))
    }
}

#[test]
fn a_message_that_was_not_multicast_must_not_be_delivered() {
    let mut run = Run::of(2);
    let forged = [(ProcessId(0), 1), (ProcessId(0), 0), (ProcessId(9), 1)];
    run.delivers(1, &forged);
    assert_eq!(run.1.len(), 3);
    assert_eq!(run.violated(), [INTEGRITY]);
    assert_eq!(run.1[0].because, "p1 delivers 1 of p0, which p0 has not multicast");
}

#[test]
fn no_message_is_delivered_twice_not_even_when_all_members_have_it() {
    let mut run = Run::of(2);
    let m = run.multicasts(0);
    run.delivers(1, &[m, m]);
    assert_eq!(run.1.len(), 1);
    run.delivers(0, &[m, m]);
    assert_eq!(run.1.len(), 2);
    assert_eq!(run.violated(), [INTEGRITY]);
    assert_eq!(run.1[1].because, "p0 delivers 1 of p0 again");
}

#[test]
fn only_members_deliver_and_the_groups_are_counted_apart() {
    let mut run = Run::in_groups(&Setup::new(3).with("groups", "p0 p1; p1 p2"));
    let first = run.multicasts_to(0, 1);
    let second = run.multicasts_to(1, 1);
    assert_eq!(first, second, "each group has its own numbers");
    run.delivers_in(1, 2, second);
    run.delivers_in(1, 1, second);
    run.delivers_in(0, 1, first);
    run.delivers_in(0, 0, first);
    assert_eq!(run.violated(), [""; 0]);
    run.delivers_in(0, 2, first);
    run.delivers_in(7, 2, first);
    assert_eq!(run.1[0].because, "p2 delivers 1 of p1, but it is no member of g0");
    assert_eq!(run.1[1].because, "p2 delivers 1 of p1 in g7, but it is no member of g7");
}

#[test]
fn a_sender_that_is_up_must_deliver_its_own() {
    let mut run = Run::of(2);
    let m = run.multicasts(0);
    assert_eq!(run.waiting(VALIDITY), [0]);
    assert_eq!(run.complaint(VALIDITY, 0), "has not delivered 1 of p0");
    run.delivers(1, &[m]);
    assert_eq!(run.waiting(VALIDITY), [0]);
    run.crashes(0);
    assert_eq!(run.waiting(VALIDITY), [0; 0]);
}

#[test]
fn what_one_delivers_all_must_deliver() {
    let mut run = Run::of(3);
    let m = run.multicasts(0);
    assert_eq!(run.waiting(AGREEMENT), [0; 0], "nobody has delivered it yet");
    run.delivers(1, &[m]);
    assert_eq!(run.waiting(AGREEMENT), [0, 2]);
    assert_eq!(run.complaint(AGREEMENT, 2), "has not delivered 1 of p0, which p1 has delivered");
    run.crashes(0);
    assert_eq!(run.waiting(AGREEMENT), [2]);
    run.delivers(2, &[m]);
    assert_eq!(run.waiting(AGREEMENT), [0; 0]);
}

#[test]
fn what_a_process_delivers_before_it_crashes_counts_for_uniform_agreement_only() {
    let mut run = Run::of(3);
    let m = run.multicasts(0);
    run.delivers(0, &[m]);
    run.crashes(0);
    assert_eq!(run.waiting(AGREEMENT), [0; 0]);
    assert_eq!(run.waiting(UNIFORM), [1, 2]);
    assert_eq!(
        run.complaint(UNIFORM, 1),
        "has not delivered 1 of p0, which one that crashed has delivered"
    );
    run.delivers(1, &[m]);
    assert_eq!((run.waiting(AGREEMENT), run.waiting(UNIFORM)), (vec![2], vec![2]));
}

/// P1 multicasts F1, then F2; another process multicasts F3.
#[test]
fn fifo_orders_the_messages_of_one_sender_and_no_others() {
    let mut run = Run::of(4);
    let (f1, f2, f3) = (run.multicasts(1), run.multicasts(1), run.multicasts(2));
    run.delivers(0, &[f1, f2, f3]);
    run.delivers(1, &[f1, f3, f2]);
    run.delivers(2, &[f3, f1, f2]);
    assert_eq!(run.violated(), [TOTAL], "neither FIFO nor causal order cares about F3");
    let mut run = Run::of(2);
    let (_, f2) = (run.multicasts(1), run.multicasts(1));
    run.delivers(0, &[f2]);
    assert_eq!(run.violated(), [FIFO, CAUSAL]);
    assert_eq!(run.1[0].because, "p0 delivers 2 of p1 before 1 of p1");
}

/// C1 → C2 and C1 → C3, which are concurrent.
#[test]
fn causal_order_puts_the_cause_first_and_leaves_concurrent_messages_free() {
    let run = |deliveries: &[usize]| {
        let mut run = Run::of(4);
        let c1 = run.multicasts(0);
        run.delivers(1, &[c1]);
        run.delivers(2, &[c1]);
        let (c2, c3) = (run.multicasts(1), run.multicasts(2));
        let order: Vec<_> = deliveries.iter().map(|index| [c1, c2, c3][*index]).collect();
        run.delivers(3, &order);
        run.violated()
    };
    assert_eq!(run(&[0, 1, 2]), [""; 0]);
    assert_eq!(run(&[0, 2, 1]), [""; 0]);
    assert_eq!(run(&[0, 2]), [""; 0]);
    assert_eq!(run(&[1, 0, 2]), [CAUSAL, TOTAL], "others deliver C1 first of all");
    assert_eq!(run(&[2]), [CAUSAL]);
}

#[test]
fn a_cause_of_a_cause_is_a_cause() {
    let mut run = Run::of(4);
    let a = run.multicasts(0);
    run.delivers(1, &[a]);
    let b = run.multicasts(1);
    // p2 has only b, whose sender had a. So a happened before c.
    run.delivers(2, &[b]);
    assert_eq!(run.violated(), [CAUSAL]);
    let c = run.multicasts(2);
    run.1.clear();
    run.delivers(3, &[c]);
    assert_eq!(run.1[0].because, "p3 delivers 1 of p2 before 1 of p0");
}

/// T2 comes before T1 at one process, so it does at all, though T1 was sent earlier.
#[test]
fn total_order_need_not_be_the_order_of_sending() {
    let mut run = Run::of(3);
    let (t1, t2) = (run.multicasts(0), run.multicasts(1));
    for at in 0..3 {
        run.delivers(at, &[t2, t1]);
    }
    assert_eq!(run.violated(), [""; 0]);
}

#[test]
fn one_process_that_delivers_in_another_order_violates_total_order_first_or_last() {
    for (first, second) in [([0, 1], [1, 0]), ([1, 0], [0, 1])] {
        let mut run = Run::of(3);
        let t = [run.multicasts(0), run.multicasts(1)];
        run.delivers(0, &first.map(|index: usize| t[index]));
        run.delivers(1, &second.map(|index: usize| t[index]));
        assert_eq!(run.violated(), [TOTAL]);
    }
}

#[test]
fn who_delivers_the_second_without_the_first_violates_total_order() {
    let mut run = Run::of(3);
    let (t1, t2) = (run.multicasts(0), run.multicasts(1));
    run.delivers(0, &[t1, t2]);
    run.delivers(1, &[t2]);
    assert_eq!(run.violated(), [TOTAL]);
    assert_eq!(run.1[0].because, "p1 delivers 1 of p1 first of all, others after 1 of p0");
}

#[test]
fn deliveries_without_a_common_message_are_in_order() {
    let mut run = Run::of(3);
    let (t1, t2) = (run.multicasts(0), run.multicasts(1));
    run.delivers(0, &[t1]);
    run.delivers(1, &[t2]);
    assert_eq!(run.violated(), [""; 0], "neither has both");
    run.delivers(0, &[t2]);
    assert_eq!(run.violated(), [TOTAL], "p0 has t1 before t2, and p1 has t2 alone");
}

#[test]
fn the_order_of_a_process_that_crashed_binds_no_other() {
    let mut run = Run::of(3);
    let (t1, t2) = (run.multicasts(0), run.multicasts(1));
    run.delivers(0, &[t1, t2]);
    run.crashes(0);
    run.delivers(1, &[t2, t1]);
    run.delivers(2, &[t2, t1]);
    assert_eq!(run.violated(), [""; 0]);
}

/// P1 multicasts F1 and F2, and all deliver F2 first.
#[test]
fn total_order_accepts_a_run_that_fifo_and_causal_order_reject() {
    let mut run = Run::of(3);
    let (f1, f2) = (run.multicasts(1), run.multicasts(1));
    for at in 0..3 {
        run.delivers(at, &[f2, f1]);
    }
    let rejecting: Vec<_> = run.1.iter().map(|violation| violation.property).collect();
    assert_eq!(rejecting, [FIFO, CAUSAL, FIFO, CAUSAL, FIFO, CAUSAL]);
}

#[test]
fn causal_order_accepts_a_run_that_total_order_rejects() {
    let mut run = Run::of(3);
    let (a, b) = (run.multicasts(0), run.multicasts(1));
    run.delivers(0, &[a, b]);
    run.delivers(1, &[b, a]);
    assert_eq!(run.violated(), [TOTAL]);
}

#[test]
fn fifo_order_accepts_a_run_that_causal_order_rejects() {
    let mut run = Run::of(3);
    let a = run.multicasts(0);
    run.delivers(1, &[a]);
    let b = run.multicasts(1);
    run.delivers(2, &[b, a]);
    assert_eq!(run.violated(), [CAUSAL, TOTAL]);
}

#[test]
fn a_process_that_starts_again_is_judged_by_the_origin_of_what_it_delivers_only() {
    let mut run = Run::of(2);
    let m = run.multicasts(0);
    run.delivers(1, &[m]);
    run.crashes(1);
    run.delivers(1, &[m]);
    assert_eq!(run.violated(), [""; 0]);
    run.delivers(1, &[(ProcessId(0), 2)]);
    assert_eq!(run.violated(), [INTEGRITY]);
}

/// The definition: an earlier message of the past, or of another log before a common message, is
/// missing. The monitor says the same of every short run, up to the first violation of each order.
#[test]
fn every_short_run_is_judged_as_the_definitions_say() {
    let mut draw = 1u64;
    let mut random = |below: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (draw >> 33) % below
    };
    let mut kinds = std::collections::BTreeSet::new();
    for _ in 0..2_000 {
        let mut run = Run::of(3);
        let mut pasts: Vec<(Message, Vec<Message>)> = Vec::new();
        let mut known: Vec<Vec<Message>> = vec![Vec::new(); 3];
        let mut logs: Vec<Vec<Message>> = vec![Vec::new(); 3];
        let mut expected = [false; 3];
        for _ in 0..random(10) + 2 {
            let at = random(3) as usize;
            let open: Vec<_> = pasts.iter().filter(|(m, _)| !logs[at].contains(m)).collect();
            if open.is_empty() || random(3) == 0 {
                let message = run.multicasts(at as u32);
                pasts.push((message, known[at].clone()));
                known[at].push(message);
                continue;
            }
            let (message, past) = open[random(open.len() as u64) as usize].clone();
            run.delivers(at as u32, &[message]);
            let lacks = |m: &Message| !logs[at].contains(m);
            expected[0] |= past.iter().any(|m| m.0 == message.0 && lacks(m));
            expected[1] |= past.iter().any(lacks);
            logs[at].push(message);
            known[at].extend(past.iter().chain([&message]));
            expected[2] |= logs.iter().any(|one| logs.iter().any(|two| disagree(one, two)));
        }
        let judged = [FIFO, CAUSAL, TOTAL].map(|id| run.1.iter().any(|v| v.property == id));
        assert_eq!(judged, expected, "{logs:?}");
        kinds.insert(expected);
    }
    // Causal order implies FIFO order; all other combinations occur.
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

/// Whether one member delivers a message before a common one that the other does not.
fn disagree(one: &[Message], two: &[Message]) -> bool {
    one.iter().enumerate().any(|(place, common)| {
        let other = two.iter().position(|m| m == common);
        other.is_some_and(|other| one[..place].iter().any(|m| !two[..other].contains(m)))
    })
}
