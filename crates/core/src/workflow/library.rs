//! The bundled workflows and routines: what a new user meets first, and what agents are led by.
//!
//! Plain files of the native format, so that people can read them and copy from them. All but the pipelines start
//! anywhere, also outside git: none of them has a `run` step or asks for a workspace.

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../library/", $name)))),+]
    };
}

/// File name and text of each, in the order of their names. A file is named after its id.
pub const BUNDLED: &[(&str, &str)] = files![
    "lh.audit.architecture.yml",
    "lh.audit.production.yml",
    "lh.audit.security.yml",
    "lh.bug-investigation.yml",
    "lh.classify.yml",
    "lh.coding.yml",
    "lh.design.yml",
    "lh.discovery.yml",
    "lh.fix.yml",
    "lh.intent.yml",
    "lh.pipeline.audit.yml",
    "lh.pipeline.bugfix.yml",
    "lh.pipeline.feature.yml",
    "lh.pipeline.quick.yml",
    "lh.pipeline.review.yml",
    "lh.quick-task.yml",
    "lh.refactor.yml",
    "lh.retrospective.yml",
    "lh.review.architecture.yml",
    "lh.review.correctness.yml",
    "lh.review.security.yml",
    "lh.review.tests.yml",
    "lh.review.yml",
    "lh.shaping.yml",
    "lh.spec.yml",
    "lh.write-workflow.yml",
    "routine.context-gathering.yml",
    "routine.final-verification.yml",
    "routine.hypothesis-challenge.yml",
    "routine.plan.yml",
];

#[cfg(test)]
mod tests;
