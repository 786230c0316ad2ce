//! `synod slots prove`: pools without a fault budget.

use crate::synod::{has_keys, json, synod};
use serde_json::json as value;

#[test]
fn two_members_are_explored_to_the_end() {
    let told = json("slots prove --nodes 2");
    has_keys(&told, &["nodes", "slots", "rules", "parts", "views", "moments", "depth", "seconds"]);
    assert_eq!((&told["holds"], &told["waiting"]), (&value!(true), &value!(0)));
    assert_eq!((&told["states"], &told["broken"]), (&value!(52), &value!(null)));
    let ran = synod("slots prove --nodes 2 --rules repaired --slots 2");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    assert_eq!(ran.out.matches('✓').count(), 6, "{}", ran.out);
    assert!(ran.out.contains("73 states between views"), "{}", ran.out);
}

#[test]
fn a_rule_that_is_wrong_is_refuted_by_views_that_are_told() {
    let ran = synod("slots prove --rules death-of-a-life");
    assert_eq!(ran.code, Some(1), "{}", ran.error);
    assert!(ran.out.contains("✗ pi1-owned"), "{}", ran.out);
    assert!(!ran.out.contains('✓'), "nothing else was decided: {}", ran.out);
    assert_eq!(ran.out.matches("a view of").count(), 3, "{}", ran.out);
    let told = json("slots prove --nodes 2 --slots 2 --rules paper");
    assert_eq!(
        (&told["holds"], &told["broken"]["property"]),
        (&value!(false), &value!("pi2-equal"))
    );
}

#[test]
fn what_was_not_explored_to_the_end_is_not_decided() {
    let ran = synod("slots prove --states 10");
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    assert!(ran.out.contains("not decided") && ran.out.contains("--states"), "{}", ran.out);
    assert!(!ran.out.contains('✓'), "{}", ran.out);
    assert_eq!(json("slots prove --states 10")["holds"], value!(null));
    let ran = synod("slots prove --nodes 1");
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.error.contains("--nodes 2"), "{}", ran.error);
}
