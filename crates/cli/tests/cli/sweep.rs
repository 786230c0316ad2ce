//! `synod sweep`: measured costs against formulas.

use crate::synod::{json, scratch, synod, with_words};

#[test]
fn the_formulas_agree_with_what_is_measured() {
    for name in ["central-server", "ricart-agrawala", "token-ring"] {
        let ran = synod(&format!("sweep {name} --n 3..11:4 --seeds 2 -o json"));
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.out);
        let told = ran.json();
        let points = told["points"].as_array().expect("it is an array");
        let costs = json(&format!("show {name}"))["costs"].as_array().map(Vec::len);
        assert_eq!(Some(points.len()), costs.map(|costs| 3 * costs), "{name} at three sizes");
        for point in points {
            assert_eq!(point["agrees"], true, "{name}: {point}");
            assert!(point["min"].as_f64() <= point["mean"].as_f64());
            assert!(point["mean"].as_f64() <= point["max"].as_f64());
        }
    }
}

#[test]
fn a_sweep_is_told_in_tables() {
    let ran = synod("sweep central-server --n 2,4");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    for words in ["messages per entry: 3", "relay, in hops: 2", "under saturated load", "✓ all"] {
        assert!(ran.out.contains(words), "'{words}' is missing in {}", ran.out);
    }
}

#[test]
fn a_load_can_be_chosen() {
    let told = json("sweep central-server --n 3 --load saturated");
    let points = told["points"].as_array().expect("it is an array");
    assert!(points.iter().all(|point| point["load"] == "saturated"));
    assert!(points.iter().any(|point| point["cost"] == "relay, in hops"));
    assert!(points.iter().all(|point| point["cost"] != "entry, in hops"));
}

#[test]
fn points_are_kept_as_values_and_as_a_picture() {
    let directory = scratch("sweep-files");
    let (csv, svg) = (directory.join("a.csv"), directory.join("a.svg"));
    let mut words = vec!["sweep", "ricart-agrawala", "--n", "2..8:2", "--seeds", "1"];
    words.extend(["--csv", csv.to_str().expect("it is UTF-8")]);
    words.extend(["--svg", svg.to_str().expect("it is UTF-8")]);
    assert_eq!(with_words(words).code, Some(0));
    let csv = std::fs::read_to_string(csv).expect("it was written");
    assert_eq!(csv.lines().count(), 1 + 4 * 4);
    assert!(csv.contains("8,random,\"messages per entry\",14,14,14,14,14,true"), "{csv}");
    let svg = std::fs::read_to_string(svg).expect("it was written");
    assert!(svg.contains("<svg") && svg.contains("messages per entry"));
}

#[test]
fn the_same_sweep_says_the_same_on_any_number_of_threads() {
    let sweep =
        |threads: u32| synod(&format!("sweep maekawa --n 2..6:2 --seeds 2 --threads {threads}"));
    let (first, second) = (sweep(1), sweep(3));
    assert_eq!((first.code, first.out), (second.code, second.out.clone()));
    assert!(second.out.contains("messages per entry"), "{}", second.error);
}
