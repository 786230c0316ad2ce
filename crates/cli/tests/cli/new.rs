//! `synod new`: its files compile, run and are checked.

use crate::documents::{blocks, text_of};
use crate::synod::{scratch, with_words};
use std::path::{Path, PathBuf};
use synod_check::{Question, explore};
use synod_core::card::{Load, Rounds, Scope};
use synod_core::{Algorithm, Setup};
use synod_protocols::group::GroupEngine;
use synod_sim::network::Delay;
use synod_sim::scenario::Scenario;
use synod_sim::{Ended, Options, Plan, Simulator};
use template::MyAlgorithm;

/// The common module of the family, which the template expects above it.
#[allow(unreachable_pub)]
#[path = "../../../protocols/basics/src/mutex/cost.rs"]
mod cost;
/// The same for a replicated log.
#[allow(unreachable_pub)]
#[path = "../../templates/replication/algorithm.rs"]
mod log;
/// The same for a service in a group, which finds the engine above it.
#[allow(unreachable_pub)]
#[path = "../../templates/group/algorithm.rs"]
mod service;
/// The template itself, which is made for a library.
#[allow(unreachable_pub)]
#[path = "../../templates/mutex/algorithm.rs"]
mod template;

#[test]
fn the_template_runs_holds_and_costs_what_its_card_says() {
    for load in [Load::Any, Load::Sequential, Load::Saturated] {
        let mut options = Options::new(Plan::new(5, Rounds::Times(20)), 1);
        options.network.latency = Delay::Constant(1_000);
        options.load = load;
        let simulator = Simulator::of::<MyAlgorithm>(options, None).expect("it can be set up");
        let report = simulator.run(|_, _| ()).expect("nothing is written");
        assert_eq!(report.ended, Ended::Quiet);
        assert_eq!(report.violations, []);
        assert!(!report.costs.is_empty());
        for cost in report.costs {
            assert!(cost.agrees(), "{cost:?}");
        }
    }
}

#[test]
fn the_template_keeps_its_promises_in_every_schedule() {
    let scope = Scope { rounds: Rounds::Times(2), ..Scope::of(3) };
    let found = explore::<MyAlgorithm>(&Question::new(scope), |_| ()).expect("it can be set up");
    assert!(found.exhausted());
    for promised in MyAlgorithm::CARD.promises {
        assert!(found.refutation(promised).is_none(), "{promised}");
    }
}

#[test]
fn the_counterexample_on_the_card_of_the_template_is_right() {
    let known = MyAlgorithm::CARD.counterexamples[0];
    let question = Question::new(known.scope);
    let found = explore::<MyAlgorithm>(&question, |_| ()).expect("it can be set up");
    let refuted = found.refutation(known.property).expect("it is refuted");
    assert_eq!(refuted.history.steps.len(), known.steps);
}

fn passes_with_its_trace<A: Algorithm>(text: &str) {
    let scenario = Scenario::parse(text).expect("it is well written");
    let played = scenario.play::<A>().expect("it can be played");
    assert_eq!(played.unmet, [], "{}", played.blessed);
    assert!(scenario.has_trace(), "bless it: {}", played.blessed);
    assert_eq!(played.differences, [], "bless it: {}", played.blessed);
}

#[test]
fn the_scenario_of_each_template_passes_with_its_trace() {
    passes_with_its_trace::<MyAlgorithm>(include_str!("../../templates/mutex/scenario.txt"));
    let service = include_str!("../../templates/group/scenario.txt");
    passes_with_its_trace::<service::MyAlgorithm>(service);
    let log = include_str!("../../templates/replication/scenario.txt");
    passes_with_its_trace::<log::MyAlgorithm>(log);
}

/// What the card promises holds where it says so, in every state, and in a run of five.
fn keeps_its_promises<A: Algorithm>() -> usize {
    let mut states = 0;
    for scope in A::CARD.proved() {
        let found = explore::<A>(&Question::new(scope), |_| ()).expect("it can be set up");
        assert!(found.exhausted(), "{scope:?}");
        for promised in A::CARD.promises {
            assert!(found.refutation(promised).is_none(), "{promised} in {scope:?}");
        }
        states += found.progress.unique;
    }
    let options = Options::new(Plan::new(5, Rounds::Times(20)), 1);
    let simulator = Simulator::of::<A>(options, None).expect("it can be set up");
    let report = simulator.run(|_, _| ()).expect("nothing is written");
    assert_eq!(report.violations, []);
    states
}

#[test]
fn a_service_and_a_log_from_the_templates_keep_their_promises() {
    assert!(keeps_its_promises::<service::MyAlgorithm>() > 1_000);
    assert!(keeps_its_promises::<log::MyAlgorithm>() > 20);
}

/// As much of a repository as `synod new` looks at.
fn repository(name: &str) -> PathBuf {
    let root = scratch(name);
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = ["basics/src/mutex", "groups/src/table", "logs/src/replication"];
    let modules = modules.map(|module| format!("crates/protocols/{module}/mod.rs"));
    let others = ["Cargo.toml", "crates/protocols/src/catalogue.rs"].map(str::to_owned);
    for file in modules.iter().chain(&others) {
        let copy = root.join(file);
        std::fs::create_dir_all(copy.parent().expect("it is in a directory")).expect("it is made");
        std::fs::copy(real.join(file), copy).expect("it can be copied");
    }
    root
}

fn new(name: &str, directory: &Path) -> crate::synod::Ran {
    with_words(["new".as_ref(), name.as_ref(), "--dir".as_ref(), directory.as_os_str()])
}

#[test]
fn a_new_algorithm_is_written_and_listed() {
    let root = repository("new-written");
    let ran = new("lamport-queue", &root.join("crates"));
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let read = |file: &str| std::fs::read_to_string(root.join("crates/protocols").join(file));
    let source = read("basics/src/mutex/lamport_queue.rs").expect("it was written");
    assert!(source.contains("pub struct LamportQueue") && source.contains("\"lamport-queue\""));
    assert!(!source.contains("MyAlgorithm") && !source.contains("my-algorithm"));
    let module = read("basics/src/mutex/mod.rs").expect("it is there");
    assert!(module.contains("pub mod lamport_queue;\npub mod linda;"), "{module}");
    assert!(module.contains("pub use lamport_queue::LamportQueue;\n"), "{module}");
    assert!(
        module.contains("    MaekawaSandersCrash,\n    LamportQueue,\n    mutants::"),
        "{module}"
    );
    let scenario = read("tests/scenarios/lamport-queue/first.txt").expect("it was written");
    assert!(scenario.contains("algorithm: lamport-queue\n"));

    let again = new("lamport-queue", &root);
    assert_eq!(again.code, Some(2));
    assert!(again.error.contains("already there"), "{}", again.error);
}

#[test]
fn a_new_service_and_a_new_log_are_written_and_listed_too() {
    let root = repository("new-families");
    for (family, module) in [("group", "groups/src/table"), ("replication", "logs/src/replication")]
    {
        let name = format!("new-{family}");
        let ran = with_words([
            "new".as_ref(),
            name.as_ref(),
            "--family".as_ref(),
            family.as_ref(),
            "--dir".as_ref(),
            root.as_os_str(),
        ]);
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        let read = |file: &str| {
            std::fs::read_to_string(root.join("crates/protocols").join(file))
                .expect("it was written")
        };
        let camel = if family == "group" { "NewGroup" } else { "NewReplication" };
        let source = read(&format!("{module}/new_{family}.rs"));
        assert!(source.contains(&format!("pub type {camel} =")), "{source}");
        let listed = read(&format!("{module}/mod.rs"));
        assert!(listed.contains(&format!("pub mod new_{family};\n")), "{listed}");
        assert!(listed.contains(&format!("pub use new_{family}::{camel};\n")), "{listed}");
        assert!(listed.contains(&format!("    {camel},\n")), "{listed}");
    }
}

/// Lines of the new text that the old one did not have; all others are the same.
fn added<'t>(old: &str, new: &'t str) -> Vec<&'t str> {
    let mut old = old.lines().peekable();
    let added: Vec<&str> = new.lines().filter(|line| old.next_if_eq(line).is_none()).collect();
    assert_eq!(old.next(), None, "nothing is taken away");
    added
}

#[test]
fn a_new_algorithm_is_one_file_and_three_lines_as_contributing_says() {
    let root = repository("new-lines");
    let listed = root.join("crates/protocols/basics/src/mutex/mod.rs");
    let read = || std::fs::read_to_string(&listed).expect("it was copied before");
    let before = read();
    assert_eq!(new("my-algorithm", &root).code, Some(0));
    let after = read();
    let lines = added(&before, &after);
    let said = lines.iter().map(|line| format!("+{line}\n")).collect::<String>();
    assert_eq!(blocks(&text_of("CONTRIBUTING.md"), "diff"), [said]);
}

#[test]
fn a_setup_of_the_template_is_as_large_as_it_should_be() {
    assert_eq!(MyAlgorithm::processes(&Setup::new(4)).map(|group| group.len()), Ok(4));
    assert!(MyAlgorithm::processes(&Setup::new(1)).is_err());
}

#[test]
fn outside_of_a_repository_and_with_a_bad_name_nothing_is_written() {
    let root = repository("new-refused");
    let wrong = [
        ("fine", Path::new("/"), "clone"),
        ("fine", Path::new("does-not-exist"), "cannot look"),
        ("Big", &root, "lower case"),
        ("under_score", &root, "lower case"),
        ("-", &root, "lower case"),
        ("../escape", &root, "lower case"),
        ("match", &root, "word of Rust"),
        ("ricart-agrawala", &root, "already"),
    ];
    for (name, directory, hint) in wrong {
        let ran = with_words([
            "new".as_ref(),
            "--dir".as_ref(),
            directory.as_os_str(),
            "--".as_ref(),
            name.as_ref(),
        ]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.out);
        assert!(ran.error.contains(hint), "{name}: {}", ran.error);
    }
}

/// Runs Cargo in the directory of a crate that `synod new --crate` wrote.
fn cargo(at: &Path, words: &[&str]) -> (Option<i32>, String) {
    let cargo = std::env::var_os("CARGO").expect("cargo runs this test");
    let mut command = std::process::Command::new(cargo);
    // The outer Cargo's variables are about another package.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG") {
            command.env_remove(name);
        }
    }
    let ran = command.args(words).current_dir(at).env("NO_COLOR", "1").output().expect("it runs");
    let [out, error] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    (ran.status.code(), out + &error)
}

/// Changes a file of the new crate as its author would.
fn edit(path: &Path, old: &str, new: &str) {
    let text = std::fs::read_to_string(path).expect("it was written");
    assert!(text.contains(old), "{old} is not in {text}");
    std::fs::write(path, text.replace(old, new)).expect("it can be written");
}

#[test]
fn a_crate_outside_has_the_whole_command_line_and_checks_what_its_author_edits() {
    let at = scratch("new-crate").join("my-algorithm");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let [root, place] = [&root, &at].map(|path| path.to_str().expect("UTF-8"));
    let ran = with_words(["new", "my-algorithm", "--dir", root, "--crate", place]);
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    // The test itself may be compiled with less for a debugger than the manifest says.
    if let Ok(debug) = std::env::var("CARGO_PROFILE_DEV_DEBUG") {
        let wanted = format!("debug = {debug}");
        edit(&at.join("Cargo.toml"), "debug = \"line-tables-only\"", &wanted);
    }

    let check = |more: &[&str]| {
        let words = ["run", "-q", "--offline", "--", "check", "my-algorithm", "--rounds", "2"];
        cargo(&at, &[&words, more].concat())
    };
    let (code, text) = check(&["--property", "ME1", "--property", "ME2"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("ME1") && text.contains("holds"), "{text}");
    let (code, text) = cargo(&at, &["run", "-q", "--offline", "--", "play", "scenarios/first.txt"]);
    assert_eq!(code, Some(0), "{text}");

    // A keeper that lends the key to each process that asks.
    edit(&at.join("src/lib.rs"), "if self.queue.len() == 1 {", "if !self.queue.is_empty() {");
    let (code, text) = check(&["--property", "ME1"]);
    assert_eq!(code, Some(1), "{text}");

    let again = with_words(["new", "my-algorithm", "--dir", root, "--crate", place]);
    assert_eq!(again.code, Some(2));
    assert!(again.error.contains("already there"), "{}", again.error);
}

#[test]
fn contributing_quotes_the_program_of_a_crate_outside() {
    let main = include_str!("../../templates/crate/main.rs");
    let (_, code) = main.split_once("\n\n").expect("a header and the code");
    assert!(blocks(&text_of("CONTRIBUTING.md"), "rust").iter().any(|block| block == code));
}
