//! Native files: any text as YAML and as JSON, and mutations of the bundled library.

use std::sync::LazyLock;

use longhaul_core::workflow::compile::Syntax;
use longhaul_core::workflow::library::BUNDLED;

use super::files::{self, Files};
use super::mutate::Pool;

static FILES: Files = Files {
    pool: LazyLock::new(|| {
        let ours = [include_str!("../seeds/native/kinds.yml"), include_str!("../seeds/native/work.yml")];
        let texts = ours.into_iter().chain(BUNDLED.iter().map(|(_, text)| *text));
        Pool::of(texts.map(|text| files::parsed(text, Syntax::Yaml)).collect())
    }),
};

pub fn run(bytes: &[u8]) {
    files::run(bytes, &FILES);
}
