//! The templates are right as they are.

use std::collections::BTreeSet;

use super::*;
use crate::workflow::library::BUNDLED;
use crate::yaml_edit::{Step, append};

#[test]
fn every_offer_is_right_as_it_is_and_follows_what_there_is() {
    let bundled: BTreeSet<String> = BUNDLED.iter().map(|(name, _)| name.replace(".yml", "")).collect();
    for offer in OFFERED {
        let text = "# Mine.\n";
        let text = append(text, &[Step::Key("triggers")], offer.text).unwrap().apply(text);
        let trigger = only(&text);
        assert_eq!(read(&text, Owner::Workspace).diagnostics, Vec::new(), "{}", offer.name);
        assert_eq!(trigger.id, offer.name);
        assert!(trigger.work.pipeline.is_none_or(|pipeline| bundled.contains(&pipeline)), "{}", offer.name);
        assert!(trigger.work.budget.money_micros.is_some(), "{}: nobody looks while it costs", offer.name);
    }
}

#[test]
fn all_offers_fit_into_one_file() {
    let mut text = String::new();
    for offer in OFFERED {
        text = append(&text, &[Step::Key("triggers")], offer.text).unwrap().apply(&text);
    }
    let read = read(&text, Owner::Workspace);
    assert_eq!(read.diagnostics, Vec::new());
    let ids: Vec<&str> = read.triggers.iter().map(|trigger| trigger.id.as_str()).collect();
    assert_eq!(ids, OFFERED.iter().map(|offer| offer.name).collect::<Vec<_>>());
}
