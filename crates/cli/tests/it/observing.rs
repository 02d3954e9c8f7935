//! What can be seen of all work: lines, statistics, traces, metrics, and that no secret is in any of them.

mod canary;
mod figures;
mod lines;
mod stats;
mod traces;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use longhaul_runtime::observing::export::{self, Handle, Options};
use longhaul_runtime::{Places, Settings, System};
use longhaul_testkit::collector::Collector;

use crate::support::Home;

/// The installation of a home, told of a collector.
fn system(home: &Home, variables: &[(&str, &str)]) -> System {
    let variable = |(name, value): &(&str, &str)| (OsString::from(*name), OsString::from(*value));
    System::new(Settings {
        places: Places::under(&home.longhaul_home()),
        variables: variables.iter().map(variable).collect::<BTreeMap<_, _>>(),
        directory: home.path.clone(),
        flags: Vec::new(),
    })
}

/// An exporter in this process, which looks often and has little patience.
fn exporter(home: &Home, collector: &Collector) -> Handle {
    let endpoint = collector.endpoint();
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()), ("OTEL_EXPORTER_OTLP_TIMEOUT", "300")];
    let options = Options::find(&system(home, &variables)).unwrap().unwrap();
    export::start(options.looking_every(Duration::from_millis(20))).unwrap()
}
