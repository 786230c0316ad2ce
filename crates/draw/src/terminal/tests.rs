use super::*;
use crate::sample::{self, Script};

/// The picture without its styles, as it is printed where there are no colours.
fn plain(scene: &Scene, events: &[Event], width: usize) -> String {
    let mut text = String::new();
    let drawn = draw(scene, events, width);
    let mut parts = drawn.split('\u{1b}');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        text.push_str(part.split_once('m').expect("a style ends with m").1);
    }
    text
}

#[test]
fn crossing_messages_keep_their_numbers_and_the_critical_section_is_shaded() {
    let drawn = plain(&Scene::new("Two requests", 3), &sample::two_requests(), 96);
    let expected = "\
Two requests

          p0                          p1                          p2
0.000 ms  ┬                           ┬                           ┬
1.000 ms  ○ requests                  │                           │
          ● #1–2 Request(1@p0) → all  │                           │
1.400 ms  ┆                           │                           ○ requests
          ┆                           │                           ● #3–4 Request(1@p2) → all
2.100 ms  ├──── #1 Request(1@p0) ────▶●                           ┆
          ┆                           ● #5 Reply(3) → p0          ┆
2.600 ms  ┆                           ●◀─── #4 Request(1@p2) ─────┤
          ┆                           ● #6 Reply(5) → p2          ┆
2.900 ms  ├──── #2 Request(1@p0) ─────┼──────────────────────────▶●
          ┆                           │                           ● #7 Reply(4) → p0
3.200 ms  ●◀──────────────────────────┼──── #3 Request(1@p2) ─────┤
3.800 ms  ●◀────── #5 Reply(3) ───────┤                           ┆
4.200 ms  ●◀──────────────────────────┼─────── #7 Reply(4) ───────┤
          ◆ enters                    │                           ┆
4.700 ms  █                           ├─────── #6 Reply(5) ──────▶●
6.200 ms  ○ leaves                    │                           ┆
7.100 ms  ●─────── #8 Reply(9) ───────┼──────────────────────────▶●
          │                           │                           ◆ enters
8.300 ms  │                           │                           ○ leaves

          ┆ waits   █ holds   ○ asks   ◆ is told   ● sends, receives
          #1 names a message; its arrow is drawn where it arrives
";
    assert_eq!(drawn, expected, "\n{drawn}");
}

#[test]
fn every_fault_has_its_sign() {
    let drawn = plain(&Scene::new("", 4), &sample::troubles(), 100);
    let has = |line: &str| assert!(drawn.contains(line), "{line} is missing in\n{drawn}");
    has("1.050 ms  ├──── #2 Request ─────┼────────────────────✗│                     │\n");
    has("0.700 ms  ╌╌╌ partition p0 p1 | p2 p3 ╌╌╌");
    has("† crashes             ╎\n");
    // The lane of a crashed process is empty, so arrows pass freely.
    has("├─ #3 Request(1@p0) ──┼──────────────────────────────────────────▶●\n");
    has("▌ VIOLATION of ME1 at p2: p2 enters while p0 is inside  ");
    has("still under way: #7 Reply p2 → p3\n");
}

#[test]
fn every_arrow_has_a_tail_and_a_head() {
    for n in [4, 8, 16] {
        let events = sample::troubles();
        let drawn = plain(&Scene::new("", n), &events, 100);
        let heads = drawn.lines().filter(|line| line.contains(['▶', '◀', '✗'])).count() - 1;
        let ends = |event: &&Event| matches!(event.what, What::Receive | What::Lose);
        assert_eq!(heads, events.iter().filter(ends).count(), "\n{drawn}");
        for line in drawn.lines().filter(|line| line.contains(['▶', '◀'])) {
            let tail = line.contains(['├', '┤', '█']) || line.matches('●').count() == 2;
            assert!(tail, "{line}");
        }
    }
}

#[test]
fn lines_keep_to_the_width_as_long_as_lanes_can_be_narrow_enough() {
    for (n, width) in [(4, 60), (4, 100), (8, 100), (20, 100)] {
        let drawn = plain(&Scene::new("", n), &sample::troubles(), width);
        let lanes = drawn.lines().take_while(|line| !line.is_empty());
        let longest = lanes.map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= width, "{longest} columns\n{drawn}");
    }
}

#[test]
fn a_window_says_what_it_leaves_out_and_knows_who_was_waiting() {
    let scene = Scene::new("", 3).with_window(9..12);
    let drawn = plain(&scene, &sample::two_requests(), 60);
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!(lines[1].trim(), "⋮ 9 events before are left out");
    assert!(lines[2].contains("├") && lines[2].ends_with('┆'), "{drawn}");
    assert!(drawn.contains("⋮ 13 events after are left out"), "{drawn}");
}

#[test]
fn where_time_stands_still_events_are_counted() {
    let mut script = Script::new(2);
    script.asks(0, "requests").send(1, 0, 1, "Request", "Request").receive(1);
    let drawn = plain(&Scene::new("", 2), &script.events(), 60);
    assert!(drawn.contains("\n0  ○ requests"), "{drawn}");
    assert!(drawn.contains("\n2  ●───"), "{drawn}");
}

#[test]
fn a_message_to_oneself_and_words_of_any_length_do_no_harm() {
    let mut script = Script::new(2);
    let long = "word ".repeat(60);
    script.send(1, 0, 0, "Note", "Note").asks(1, &long).receive(1).violation(0, "X", &long);
    let drawn = plain(&Scene::new(long.clone(), 2), &script.events(), 60);
    assert!(drawn.contains("● #1 Note"), "{drawn}");
    assert!(drawn.matches("▌").count() > 4, "{drawn}");
    assert_eq!(plain(&Scene::new("", 0), &[], 80).trim(), "");
}

#[test]
fn a_lane_that_waits_for_ever_ends_with_a_cross() {
    let mut script = Script::new(2);
    script.asks(0, "requests").begins(1, "enters");
    let scene = Scene::new("", 2).with_ending("ME2 violated: p0 waits");
    let drawn = plain(&scene, &script.events(), 60);
    assert!(drawn.contains("╳") && drawn.contains("╳ waits for ever"), "{drawn}");
    assert!(!plain(&Scene::new("", 2), &script.events(), 60).contains("╳"));
}
