//! Commands that keep the store in order.

use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::retention::{self, Inventory, Plan};
use longhaul_core::scrub::{SHORTEST_SECRET, Scrubber};
use longhaul_store::views::Views;
use longhaul_store::{Backup, Collected, Imported, Log, Names, Redacted, SqliteLog};

use super::{Commands, vouching};
use crate::error::Error;
use crate::terminal;

impl Commands {
    fn store(&self) -> &Arc<SqliteLog> {
        self.store.as_ref().expect("housekeeping is only offered over a store")
    }

    /// Says what can be thrown away, and why.
    pub fn plan_collection(&self, config: &Config) -> Result<Plan, Error> {
        let store = self.store();
        let inventory = Inventory {
            // First: whatever is named later is left alone.
            as_of: store.last_position()?,
            now: self.clock.now(),
            keep_blobs_ms: config.retention_blobs_ms,
            disk_limit_bytes: config.retention_disk_bytes,
            disk_used_bytes: store.disk_used_bytes()?,
            blobs: store.blob_uses()?,
            loose_files: store.loose_files()?,
        };
        Ok(retention::plan(&inventory))
    }

    /// Carries out a plan.
    pub fn collect(&self, plan: &Plan) -> Result<Collected, Error> {
        Ok(self.store().collect(plan, self.clock.now())?)
    }

    /// Takes a value out of everything that is stored.
    pub fn redact(&self, value: &str, names: Names) -> Result<Redacted, Error> {
        if value.len() < SHORTEST_SECRET {
            return Err(Error::TooShortToRedact(value.len()));
        }
        let store = self.store();
        let redacted = store.redact(&Scrubber::redacting(value), names);
        // Also if traces remain elsewhere: the views must not be among them.
        let views = Views::new(store.folder());
        views.discard();
        // They are made anew by whoever reads next.
        Ok(redacted?)
    }

    /// Writes a backup while others go on.
    pub fn backup(&self, target: &Path) -> Result<Backup, Error> {
        Ok(self.store().backup(target)?)
    }

    /// Takes in an export, all of it or nothing.
    ///
    /// A person's to do. What it brings counts as if it had happened here, so they are asked at their terminal if
    /// answers to gates or commands are in it. Nobody has to wait for their answer but we.
    pub fn import(&self, source: &mut dyn BufRead) -> Result<Imported, Error> {
        terminal::refuse_agents()?;
        let mut export = self.store().spool(source, self.recorder.scrubber())?;
        let seen = export.look()?;
        vouching::ask(&seen)?;
        Ok(export.take_in(&seen.claims)?)
    }

    /// Makes everything anew that can be made from the decisions. Returns how many heads were put back.
    pub fn rebuild(&self) -> Result<u64, Error> {
        let store = self.store();
        let heads = store.rebuild()?;
        Views::new(store.folder()).rebuild(&**store)?;
        Ok(heads)
    }
}
