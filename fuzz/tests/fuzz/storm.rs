//! The first inputs of `make storm` (docs/evidence/storm.md).

use sojourn_fuzz::storm::{Fate, Kind, meet};

fn all_are_clean(kind: Kind, count: u64) {
    let bad = |number| match meet(kind, 1, number) {
        Fate::Bad(why) => Some(format!("{kind:?} 1 {number}: {why}")),
        _ => None,
    };
    let found: Vec<String> = (0..count).filter_map(bad).collect();
    assert!(found.is_empty(), "{found:#?}");
    crate::tally(count);
}

#[test]
fn scenarios_with_mistakes_are_refused_with_a_sentence_or_run_to_clean_numbers() {
    all_are_clean(Kind::Mutants, 400);
}

#[test]
fn legal_scenarios_give_numbers_within_their_bounds() {
    all_are_clean(Kind::Scenarios, 40);
}

#[test]
fn an_input_depends_on_its_seed_and_number_alone() {
    for kind in [Kind::Mutants, Kind::Scenarios, Kind::Long] {
        assert_eq!(kind.text(3, 5), kind.text(3, 5));
        assert_ne!(kind.text(3, 5), kind.text(3, 6));
        assert_ne!(kind.text(3, 5), kind.text(4, 5));
    }
}
