//! WorkRail files: any text, and mutations of small valid documents.

use std::sync::LazyLock;

use longhaul_core::workflow::compile::Syntax;

use super::files::{self, Files};
use super::mutate::Pool;

static FILES: Files = Files {
    pool: LazyLock::new(|| {
        let texts = [
            include_str!("../seeds/workrail/open.json"),
            include_str!("../seeds/workrail/calls.json"),
            include_str!("../seeds/workrail/routine-small.json"),
        ];
        Pool::of(texts.into_iter().map(|text| files::parsed(text, Syntax::Json)).collect())
    }),
};

pub fn run(bytes: &[u8]) {
    files::run(bytes, &FILES);
}
