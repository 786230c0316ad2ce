//! `synod compare`: families side by side.

use crate::synod::{json, scratch, synod, with_words};
use serde_json::Value;
use std::path::Path;

fn rows<'t>(told: &'t Value, table: &str) -> &'t [Value] {
    let tables = told["tables"].as_array().expect("it is an array");
    let table = tables.iter().find(|found| found["title"] == table).expect("it is there");
    table["rows"].as_array().expect("it is an array")
}

fn cell<'t>(told: &'t Value, table: &str, algorithm: &str, column: &str) -> &'t Value {
    let is_row = |row: &&Value| row["algorithm"] == algorithm && row["setting"] == "";
    let row = rows(told, table).iter().find(is_row).expect("it is compared");
    let cells = row["cells"].as_array().expect("it is an array");
    cells.iter().find(|cell| cell["column"] == column).expect("it has this column")
}

fn costs(told: &Value, algorithm: &str, column: &str) -> [f64; 2] {
    let cell = cell(told, "Costs", algorithm, column);
    ["min", "max"].map(|key| cell[key].as_f64().unwrap_or(f64::NAN))
}

#[test]
fn mutual_exclusion_is_compared_as_the_textbooks_do() {
    let told = json("compare mutex -n 4 --seeds 1");
    let costs = |algorithm, column| costs(&told, algorithm, column);
    for (algorithm, busy, entry, hops, exit, relay_hops) in
        [("central-server", 3.0, 2.0, 2.0, 1.0, 2.0), ("ricart-agrawala", 6.0, 6.0, 2.0, 0.0, 1.0)]
    {
        assert_eq!(costs(algorithm, "busy"), [busy; 2], "{algorithm}");
        assert_eq!(costs(algorithm, "entry"), [entry; 2], "{algorithm}");
        assert_eq!(costs(algorithm, "entry, hops"), [hops; 2], "{algorithm}");
        assert_eq!(costs(algorithm, "exit"), [exit; 2], "{algorithm}");
        assert_eq!(costs(algorithm, "relay, hops"), [relay_hops; 2], "{algorithm}");
        assert_eq!(costs(algorithm, "idle"), [0.0; 2], "{algorithm}");
    }
    assert!(costs("token-ring", "idle")[0] > 0.9, "its token never rests");
    let busiest = |algorithm| costs(algorithm, "busiest")[0];
    assert!((busiest("central-server") - 50.0).abs() < 1.0, "all goes through the server");
    assert!(busiest("ricart-agrawala") < 30.0, "all have the same share");
}

#[test]
fn each_cell_of_the_table_of_faults_is_an_exploration_that_can_be_repeated() {
    let told = json("compare mutex -n 3 --seeds 1");
    let fault = |algorithm, column| cell(&told, "Faults", algorithm, column);
    let crash = fault("ricart-agrawala", "a crash");
    assert_eq!((&crash["holds"], &crash["violated"]), (&false.into(), &"ME2".into()));
    for cell in [crash, fault("central-server", "a loss")] {
        let command = cell["command"].as_str().and_then(|words| words.strip_prefix("synod "));
        let ran = synod(command.expect("it is a command of this program"));
        assert_eq!(ran.code, Some(1), "{command:?}: {}", ran.error);
    }
}

#[test]
fn a_comparison_fits_the_terminal_and_is_written_as_values_as_a_page_and_as_a_plot() {
    let directory = scratch("compare");
    let path = |name: &str| directory.join(name).to_string_lossy().into_owned();
    let (csv, page, svg) = (path("a.csv"), path("a.md"), path("a.svg"));
    let words = "compare election -n 3 --seeds 1 --csv".split(' ').map(str::to_owned);
    let files = [csv.clone(), "--page".into(), page.clone(), "--svg".into(), svg.clone()];
    let ran = with_words(words.chain(files));
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    let header = "table,algorithm,setting,column,min,mean,max,holds,violated,steps,states,command";
    assert_eq!(read(&csv).lines().next(), Some(header));
    let page = read(&page);
    for words in ["| bully |", "## Faults", "(a.svg)", "synod check bully"] {
        assert!(page.contains(words), "'{words}' is missing in {page}");
    }
    let svg = read(&svg);
    assert!(svg.contains("<svg") && svg.contains("chang-roberts"));
}

#[test]
fn the_pages_of_the_documentation_are_those_of_this_program() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compared");
    let directory = scratch("compared");
    for family in ["mutex", "election", "multicast", "consensus"] {
        let names = ["md", "svg"].map(|ending| format!("{family}.{ending}"));
        let paths =
            names.each_ref().map(|name| directory.join(name).to_string_lossy().into_owned());
        let [page, svg] = paths.each_ref().map(String::as_str);
        let ran = with_words(["compare", family, "--page", page, "--svg", svg]);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        for (name, path) in names.iter().zip(&paths) {
            let made = std::fs::read_to_string(path).expect("it was written");
            let kept = docs.join(name);
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&kept, &made).expect("the documentation can be written");
            }
            let kept = std::fs::read_to_string(kept).unwrap_or_default();
            let hint = "UPDATE=1 cargo test -p synod-cli --test cli compare writes it anew";
            assert!(kept == made, "docs/compared/{name} is old; {hint}");
        }
    }
}

#[test]
fn consensus_is_compared_by_rounds_as_the_papers_count_them() {
    let told = json("compare consensus -n 4 --seeds 1 --states 1");
    for (algorithm, rounds) in [
        ("naive-consensus", 1.0),
        // f + 1, with the one fault that four processes bear.
        ("sync-consensus", 2.0),
        ("fast-paxos", 2.0),
        ("paxos", 4.0),
    ] {
        assert_eq!(costs(&told, algorithm, "rounds"), [rounds; 2], "{algorithm}");
    }
}

#[test]
fn algorithms_that_survive_crashes_are_compared_with_their_detector() {
    let told = json("compare mutex -n 3 --seeds 1");
    for survivor in ["token-ring-crash", "ricart-agrawala-crash", "maekawa-sanders-crash"] {
        let crash = cell(&told, "Faults", survivor, "a crash");
        assert_eq!(crash["holds"], true, "{survivor}: {crash}");
    }
}
