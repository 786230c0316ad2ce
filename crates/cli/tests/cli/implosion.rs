//! `synod implosion`: acknowledgements that arrive all at once.

use crate::documents::text_of;
use crate::synod::{json, scratch, synod, with_words};

/// The points of an answer: G, lost, copies, messages.
fn points(command: &str) -> Vec<[u64; 4]> {
    let told = json(command);
    let number = |point: &serde_json::Value, name: &str| point[name].as_u64().expect("a number");
    let points = told["points"].as_array().expect("it is an array").iter();
    points.map(|p| ["n", "lost", "copies", "messages"].map(|name| number(p, name))).collect()
}

#[test]
fn of_each_round_as_many_are_lost_as_find_no_room() {
    for point in json("implosion --n 2..40 --buffer 5")["points"].as_array().expect("points") {
        let receivers = point["n"].as_u64().expect("a size") - 1;
        let lost: u64 = (1..=8).map(|round| receivers.saturating_sub(5 * round)).sum();
        assert_eq!(point["lost"], lost, "{point}");
        assert_eq!(point["expected"], lost, "{point}");
        assert_eq!(point["copies"], receivers + lost, "{point}");
        assert_eq!(point["agrees"], true, "{point}");
    }
}

#[test]
fn the_table_of_the_page_is_what_is_measured() {
    let page = text_of("docs/ack-implosion.md");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let number = |at: usize| cells.get(at)?.parse().ok();
        Some([number(0)?, number(1)?, number(2)?, number(3)?])
    });
    assert_eq!(rows.collect::<Vec<[u64; 4]>>(), points("implosion"));
    let times = json("implosion")["points"].as_array().expect("points").clone();
    for point in times {
        let ms = point["time_us"].as_u64().expect("a time") as f64 / 1_000.0;
        let row = format!("| {} |", point["n"]);
        let line = page.lines().find(|line| line.starts_with(&row)).expect("the page has it");
        assert!(line.ends_with(&format!("| {ms} ms |")), "{line}: {ms} ms");
    }
}

#[test]
fn receivers_that_wait_a_random_time_find_room() {
    assert_eq!(points("implosion --n 128 --spread 20"), [[128, 0, 127, 254]]);
}

#[test]
fn a_network_that_loses_messages_is_measured_without_a_formula() {
    let ran = synod("implosion --n 64 --loss 0.05 -o json");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    assert!(ran.json()["points"][0]["expected"].is_null());
    assert!(ran.json()["points"][0]["lost"].as_u64() > Some(0));
}

#[test]
fn it_is_told_in_a_table_and_drawn() {
    let directory = scratch("implosion");
    let (svg, csv) = (directory.join("lost.svg"), directory.join("lost.csv"));
    let (svg_name, csv_name) = (svg.display().to_string(), csv.display().to_string());
    let line = ["implosion", "--n", "8,64", "--svg", &svg_name, "--csv", &csv_name];
    let ran = with_words(line);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    for words in ["acknowledged-multicast", "room for 16, 50us each", "formula", "✓"] {
        assert!(ran.out.contains(words), "'{words}' is missing in {}", ran.out);
    }
    let drawn = std::fs::read_to_string(svg).expect("it was drawn");
    assert!(drawn.contains("Ack implosion, B = 16"), "{drawn}");
    let lines = std::fs::read_to_string(csv).expect("it was written");
    assert_eq!(lines.lines().nth(2), Some("64,93,93,156,312,302800"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (wrong, word) in [
        ("implosion --loss 1", "probability"),
        ("implosion --handling soon", "50us"),
        ("implosion --n 2001", "stay below"),
        ("implosion --buffer 0", "at least 1"),
    ] {
        let ran = synod(wrong);
        assert_eq!(ran.code, Some(2), "{wrong}");
        assert!(ran.error.contains(word), "{wrong}: {}", ran.error);
    }
}
