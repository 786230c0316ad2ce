use super::*;
use crate::sample::{self, Script};
use roxmltree::{Document, Node};
use synod_core::Sight;

fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
}

fn count(document: &Document<'_>, class: &str) -> usize {
    document.descendants().filter(|node| has_class(node, class)).count()
}

/// The texts of a class, as one.
fn words(document: &Document<'_>, class: &str) -> String {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let texts = texts.filter(|node| has_class(node, class)).filter_map(|node| node.text());
    texts.collect::<Vec<_>>().join(" ")
}

fn number(node: &Node<'_, '_>, attribute: &str) -> f64 {
    node.attribute(attribute).and_then(|value| value.parse().ok()).expect("a number")
}

fn samples() -> [(usize, Vec<Event>); 3] {
    [(3, sample::two_requests()), (4, sample::troubles()), (7, sample::crowd(7))]
}

#[test]
fn every_picture_is_well_formed_and_says_what_it_shows() {
    for (n, events) in samples() {
        for spread in [Spread::Automatic, Spread::Time, Spread::Order] {
            let drawn = draw(&Scene::new("A & B < C", n), &events, spread);
            let document = Document::parse(&drawn).expect("the picture is XML");
            let root = document.root_element();
            assert_eq!(root.attribute("role"), Some("img"));
            let titles: Vec<_> = root.children().filter_map(|child| child.text()).collect();
            assert!(titles.contains(&"A & B < C"), "{titles:?}");
            assert!(drawn.contains(&format!("{n} processes with {} events", events.len())));
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"));
        }
    }
}

#[test]
fn every_arrow_goes_from_a_send_to_a_receipt_of_the_same_message() {
    for (n, events) in samples() {
        let drawn = draw(&Scene::new("", n), &events, Spread::Automatic);
        let document = Document::parse(&drawn).expect("the picture is XML");
        let of = |what| events.iter().filter(|event| event.what == what).count();
        assert_eq!(count(&document, "head"), of(What::Receive));
        for message in document.descendants().filter(|node| has_class(node, "message")) {
            let tip = message.children().find_map(|child| child.text()).expect("a title");
            let line = message.children().find(|child| child.has_tag_name("line")).expect("a line");
            if has_class(&line, "arrow") {
                assert!(tip.contains(" sends ") && tip.contains("Lamport"), "{tip}");
                assert!(tip.contains(" receives ") || tip.contains(" never gets "), "{tip}");
                assert!(number(&line, "x1") < number(&line, "x2"), "time goes to the right");
            }
        }
    }
}

#[test]
fn every_fault_is_drawn() {
    let drawn = draw(&Scene::new("", 4), &sample::troubles(), Spread::Automatic);
    let document = Document::parse(&drawn).expect("the picture is XML");
    assert_eq!(count(&document, "ring"), 1);
    let reason = "ME1 violated: p2 enters while p0 is inside";
    assert!(words(&document, "wrong").ends_with(reason));
    // One line for the crashed lane and one in the legend; the same for the paused one.
    assert_eq!(count(&document, "down"), 2);
    assert_eq!(count(&document, "paused"), 2);
    // Two changes of the network, but only the first one cuts it; and the legend.
    assert_eq!(count(&document, "cut"), 2);
    // Each side has a band; and the legend. Between them, nothing passes.
    assert_eq!(["side0", "side1", "tear"].map(|class| count(&document, class)), [2, 2, 1]);
    // p0 holds, then p2; and the legend.
    assert_eq!(count(&document, "holding"), 3);
    // The message that never arrives is a stub.
    assert_eq!(count(&document, "stub"), 1);
}

#[test]
fn the_words_in_the_picture_never_cover_each_other() {
    for (n, events) in samples() {
        for spread in [Spread::Time, Spread::Order] {
            let drawn = draw(&Scene::new("", n), &events, spread);
            let document = Document::parse(&drawn).expect("the picture is XML");
            let areas: Vec<crate::paper::Area> = document
                .descendants()
                .filter(|node| has_class(node, "halo") && has_class(node, "middle"))
                .map(|node| {
                    let (x, y) = (number(&node, "x"), number(&node, "y"));
                    crate::paper::Area::of_text(node.text().unwrap_or_default(), x, y)
                })
                .collect();
            assert!(areas.len() > 5);
            for (index, area) in areas.iter().enumerate() {
                // The places are rounded to a tenth of a pixel.
                let inner = crate::paper::Area { left: area.left + 0.2, ..*area };
                let inner = crate::paper::Area { top: area.top + 0.2, ..inner };
                assert!(!areas[..index].iter().any(|other| other.overlaps(&inner)));
            }
        }
    }
}

#[test]
fn messages_that_cross_the_edge_of_a_window_are_stubs() {
    let events = sample::two_requests();
    let scene = Scene::new("", 3).with_window(7..15);
    let drawn = draw(&scene, &events, Spread::Automatic);
    let document = Document::parse(&drawn).expect("the picture is XML");
    let shown = scene.cut(&events).events;
    let numbers = |what| -> Vec<Option<u64>> {
        shown.iter().filter(|event| event.what == what).map(|event| event.message).collect()
    };
    let (sent, received) = (numbers(What::Send), numbers(What::Receive));
    let whole = sent.iter().filter(|number| received.contains(number)).count();
    assert_eq!(count(&document, "stub"), sent.len() + received.len() - 2 * whole);
    assert!(whole > 0 && drawn.contains("7 events before and 10 after are left out"));
}

#[test]
fn nothing_and_messages_to_oneself_can_be_drawn() {
    let mut script = Script::new(1);
    script.send(1, 0, 0, "Note", "<&>").after(10).receive(1);
    for (n, events) in [(0, Vec::new()), (1, script.events())] {
        let drawn = draw(&Scene::new("", n), &events, Spread::Automatic);
        Document::parse(&drawn).expect("the picture is XML");
    }
}

#[test]
fn a_run_that_ends_although_processes_wait_has_a_bar_at_each_and_says_why() {
    let mut script = Script::new(3);
    script.starts().asks(0, "requests").asks(1, "requests").begins(1, "enters").asks(2, "requests");
    let scene = Scene::new("", 3).with_ending("ME2 violated: p0 waits, and nothing can happen");
    let drawn = draw(&scene, &script.events(), Spread::Order);
    let document = Document::parse(&drawn).expect("the picture is XML");
    // Two lines for p0, two for p2, and one in the legend.
    assert_eq!(count(&document, "stuck"), 5);
    assert_eq!(words(&document, "wrong"), "ME2 violated: p0 waits, and nothing can happen");
    let whole = draw(&Scene::new("", 3), &script.events(), Spread::Order);
    assert!(!whole.contains("class=\"stuck\""));
}

#[test]
fn what_a_process_has_is_written_where_it_changes_and_parts_of_a_group_are_torn_apart() {
    let mut script = Script::new(3);
    script.starts().timer(0, "Pass").timer(0, "Partition").timer(0, "Pass");
    let mut events = script.events();
    let part = |members: &[u32]| members.iter().copied().map(ProcessId).collect();
    let owns = |has: &str| Sight { has: has.to_owned(), ..Sight::default() };
    let split = Sight { parts: vec![part(&[2]), part(&[1])], ..Sight::default() };
    events[3].sights = vec![(ProcessId(1), owns("owns s0")), (ProcessId(2), owns(""))];
    events[4].sights = vec![(ProcessId(0), split)];
    events[5].sights = vec![(ProcessId(1), owns("owns s0")), (ProcessId(1), owns(""))];
    let drawn = draw(&Scene::new("", 3), &events, Spread::Order);
    let document = Document::parse(&drawn).expect("the picture is XML");
    assert_eq!(words(&document, "has"), "owns s0 has nothing");
    assert_eq!(["side0", "side1", "tear"].map(|class| count(&document, class)), [2, 2, 1]);
}

#[test]
fn rows_show_every_event_once_and_have_no_tips() {
    let events = sample::two_requests();
    let drawn = draw_in_rows(&Scene::new("Rows", 3), &events, 4);
    let document = Document::parse(&drawn).expect("the picture is XML");
    let rows = document.descendants().filter(|node| node.attribute("transform").is_some());
    assert!(rows.count() > 2);
    // The title and the description of the file have ids; no other node has a title.
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("title")).count(), 1);
    let received = events.iter().filter(|event| event.what == What::Receive).count();
    assert_eq!(count(&document, "head"), received);
    assert_eq!(words(&document, "label"), "p0 p1 p2 ".repeat(drawn.matches("<g t").count()).trim());
}
