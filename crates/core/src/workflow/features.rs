//! Texts that authors share by name: features, which add lines to every step with blocks, and references.
//!
//! The names are WorkRail's; the words are ours.

use super::prompt::Blocks;

/// Lines that a feature adds to the blocks of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    pub name: &'static str,
    pub constraints: &'static [&'static str],
    pub procedure: &'static [&'static str],
    pub verify: &'static [&'static str],
}

pub const FEATURES: &[Feature] = &[
    Feature {
        name: "wr.features.memory_context",
        constraints: &[
            "What you remember from elsewhere is a lead, not a fact: check it before you build on it.",
        ],
        procedure: &["Before you start, look for what earlier sessions and notes say about this work."],
        verify: &["What you took from memory was checked against the code or the record."],
    },
    Feature {
        name: "wr.features.capabilities",
        constraints: &[
            "Use only tools that you have seen work in this session, and say so where a missing one limits the result.",
        ],
        procedure: &["Find out which tools you have before you plan around them."],
        verify: &["Nothing in the result rests on a tool that was not there."],
    },
    Feature {
        name: "wr.features.subagent_guidance",
        constraints: &[
            "You own the result: what a subagent hands back is evidence to weigh, not a conclusion to copy.",
        ],
        procedure: &[
            "Where you delegate, give each subagent one question, all that it needs to know, and the form of its answer.",
        ],
        verify: &["Each claim that came from a subagent was judged by you before it was used."],
    },
];

impl Feature {
    /// Puts its lines behind those that the author wrote.
    pub fn add_to(&self, blocks: &mut Blocks) {
        let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        blocks.constraints.extend(own(self.constraints));
        blocks.procedure.extend(own(self.procedure));
        blocks.verify.extend(own(self.verify));
    }
}

/// The feature of that name.
pub fn feature(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|feature| feature.name == name)
}

/// Names and texts.
pub const TEXTS: &[(&str, &str)] = &[
    (
        "wr.refs.notes_first_durability",
        "Write what you learn into the notes of the step as you go: they outlive this conversation, your memory of it does not. Files that you write beside them are for people.",
    ),
    (
        "wr.refs.parallelize_cognition_serialize_synthesis",
        "Let independent questions be thought through side by side, then bring the answers together yourself, one after the other, in one place.",
    ),
    (
        "wr.refs.adversarial_challenge_rules",
        "Attack the leading conclusion as somebody who wants it to be wrong: look for the strongest case against it, the weakest link in its evidence and what would disprove it. Keep only objections that you can back with evidence.",
    ),
    (
        "wr.refs.synthesis_under_disagreement",
        "Where sources disagree, name the point of disagreement, say which evidence decides it and why, and lower your confidence where nothing does. Do not average and do not count votes.",
    ),
];

/// The shared text of that name.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
