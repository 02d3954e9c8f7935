//! Stands in for the catalog until it is merged.

use std::sync::Arc;

use longhaul_core::workflow::Workflow;
use longhaul_core::workflow::compile::{Source, Sources, Syntax, compile};
use longhaul_core::workflow::library::BUNDLED;
use longhaul_events::Reason;

use crate::error::Error;
use crate::system::System;

#[derive(Debug, Clone)]
pub struct Startable {
    pub workflow: Arc<Workflow>,
    pub warnings: Vec<String>,
}

impl System {
    pub fn workflow_for_start(&self, text: &str) -> Result<Startable, Error> {
        let source =
            |name: &str, text: &str, syntax| Source { name: name.to_owned(), text: text.to_owned(), syntax };
        let mut library = std::collections::BTreeMap::new();
        for (name, text) in BUNDLED {
            library.insert(name.trim_end_matches(".yml").to_owned(), source(name, text, Syntax::Yaml));
        }
        let one = match library.get(text) {
            Some(one) => one.clone(),
            None => {
                let path = self.directory().join(text);
                let read =
                    std::fs::read_to_string(&path).map_err(|source| Error::ReadFile { path, source })?;
                source(text, &read, if text.ends_with(".json") { Syntax::Json } else { Syntax::Yaml })
            }
        };
        let outcome = compile(&one, &Sources { library, ..Sources::default() });
        let said: Vec<Reason> = outcome
            .diagnostics
            .iter()
            .map(|d| Reason::new("invalid", d.message.clone(), d.fix.clone().unwrap_or_default()))
            .collect();
        match outcome.value {
            Some(workflow) => Ok(Startable { workflow: Arc::new(workflow), warnings: Vec::new() }),
            None => Err(Error::BadStart(said)),
        }
    }
}
