//! Which collector is told, and what: in the variables that OpenTelemetry has for it.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use longhaul_core::spans::Telling;
use longhaul_core::spans::otlp::Resource;
use longhaul_gateway::Target;

use crate::system::System;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const TIMEOUT: &str = "OTEL_EXPORTER_OTLP_TIMEOUT";
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// As the specification has it.
const USUAL_PATIENCE: Duration = Duration::from_secs(10);
const EVERY: Duration = Duration::from_secs(5);

/// Who is told, and what.
pub struct Options {
    pub(super) system: System,
    pub(super) traces: Option<Target>,
    pub(super) metrics: Option<Target>,
    pub(super) resource: Resource,
    pub(super) telling: Telling,
    pub(super) patience: Duration,
    /// How often it looks.
    pub(super) every: Duration,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("traces", &self.traces)
            .field("metrics", &self.metrics)
            .field("telling", &self.telling)
            .finish_non_exhaustive()
    }
}

/// Why nobody is told. Never what a variable holds: there may be a password in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("`{variable}` cannot be used: {problem}")]
    Variable { variable: &'static str, problem: String },
    #[error("a thread could not be started; see whether threads and files have run out")]
    Start,
}

impl Options {
    /// What the environment says; `None` if it names no collector, or says that nobody is to be told.
    pub fn find(system: &System) -> Result<Option<Self>, ExportError> {
        let variable = |name: &str| {
            let value = system.variable(OsStr::new(name))?.into_string().ok()?;
            Some(value.trim().to_owned()).filter(|value| !value.is_empty())
        };
        if variable("OTEL_SDK_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let signal = |name: &'static str, path: &str, switch: &str| {
            let is_off = variable(switch).is_some_and(|word| word == "none");
            let own = variable(name).map(|address| (name, address));
            let common = || Some((ENDPOINT, format!("{}/{path}", variable(ENDPOINT)?.trim_end_matches('/'))));
            own.or_else(common).filter(|_| !is_off)
        };
        let traces = signal("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "v1/traces", "OTEL_TRACES_EXPORTER");
        let metrics = signal("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "v1/metrics", "OTEL_METRICS_EXPORTER");
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        if let Some(word) = variable(PROTOCOL).filter(|word| word != "http/protobuf") {
            let known = ["grpc", "http/json"].contains(&word.as_str());
            let problem =
                if known { format!("`{word}` is not spoken") } else { "it is no protocol".to_owned() };
            let problem = format!("{problem}; set it to `http/protobuf`, or leave it out");
            return Err(ExportError::Variable { variable: PROTOCOL, problem });
        }
        let headers = pairs(variable(HEADERS).as_deref().unwrap_or_default(), HEADERS)?;
        let target = |(variable, address): (&'static str, String)| {
            Target::new(&address, &headers).map_err(|error| unfit(variable, &error))
        };
        let patience = match variable(TIMEOUT) {
            Some(ms) => {
                let problem = || "write milliseconds, such as `10000`".to_owned();
                let ms = ms
                    .parse()
                    .map_err(|_| ExportError::Variable { variable: TIMEOUT, problem: problem() })?;
                Duration::from_millis(ms)
            }
            None => USUAL_PATIENCE,
        };
        let is_wanted =
            |word: String| ["true", "1", "span_only"].contains(&word.to_ascii_lowercase().as_str());
        Ok(Some(Self {
            system: System::new(system.settings().clone()),
            traces: traces.map(target).transpose()?,
            metrics: metrics.map(target).transpose()?,
            resource: resource(&variable)?,
            telling: if variable(CONTENT).is_some_and(is_wanted) {
                Telling::WithContent
            } else {
                Telling::default()
            },
            patience,
            every: EVERY,
        }))
    }

    /// The same for whoever does not want to wait so long.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn looking_every(self, every: Duration) -> Self {
        Self { every, ..self }
    }
}

fn resource(variable: &dyn Fn(&str) -> Option<String>) -> Result<Resource, ExportError> {
    const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let mut attributes = pairs(variable(ATTRIBUTES).as_deref().unwrap_or_default(), ATTRIBUTES)?;
    let named =
        attributes.iter().position(|(name, _)| name == "service.name").map(|at| attributes.remove(at).1);
    let name = variable("OTEL_SERVICE_NAME").or(named).unwrap_or_else(|| "longhaul".to_owned());
    attributes.retain(|(name, _)| name != "service.version");
    attributes.insert(0, ("service.name".to_owned(), name));
    attributes.insert(1, ("service.version".to_owned(), version.clone()));
    Ok(Resource { attributes, version })
}

/// Reads `name=value,name=value`, with escapes as in addresses.
fn pairs(text: &str, variable: &'static str) -> Result<Vec<(String, String)>, ExportError> {
    let unfit =
        || ExportError::Variable { variable, problem: "write it as `name=value,name=value`".to_owned() };
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').ok_or_else(unfit)?;
        Ok((plain(name.trim()).ok_or_else(unfit)?, plain(value.trim()).ok_or_else(unfit)?))
    };
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(pair).collect()
}

/// What escapes such as `%20` stand for.
pub(crate) fn plain(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The address is not told: there may be a password in it.
fn unfit(variable: &'static str, error: &longhaul_gateway::Error) -> ExportError {
    match error {
        longhaul_gateway::Error::Address { problem, .. } => {
            ExportError::Variable { variable, problem: (*problem).to_owned() }
        }
        longhaul_gateway::Error::Header => {
            ExportError::Variable { variable: HEADERS, problem: error.to_string() }
        }
        longhaul_gateway::Error::Socket { .. }
        | longhaul_gateway::Error::NotOurs { .. }
        | longhaul_gateway::Error::Start(_)
        | longhaul_gateway::Error::Key => ExportError::Start,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::places::Places;
    use crate::system::Settings;

    fn found(variables: &[(&str, &str)]) -> Result<Option<Options>, ExportError> {
        let variables: BTreeMap<_, _> =
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let places = Places::under(&PathBuf::from("/nowhere"));
        let (directory, flags) = (PathBuf::from("/"), Vec::new());
        Options::find(&System::new(Settings { places, variables, directory, flags }))
    }

    #[test]
    fn without_a_collector_nobody_is_told() {
        let off = [
            &[][..],
            &[(ENDPOINT, "")],
            &[(ENDPOINT, "http://c:4318"), ("OTEL_SDK_DISABLED", "TRUE")],
            &[
                (ENDPOINT, "http://c:4318"),
                ("OTEL_TRACES_EXPORTER", "none"),
                ("OTEL_METRICS_EXPORTER", "none"),
            ],
        ];
        for variables in off {
            assert!(found(variables).unwrap().is_none(), "{variables:?}");
        }
    }

    #[test]
    fn a_collector_is_found_below_its_address_and_each_signal_may_have_its_own() {
        let usual = found(&[(ENDPOINT, "http://c:4318/base/")]).unwrap().unwrap();
        assert_eq!(format!("{:?}", usual.traces), "Some(Target(c:4318/base/v1/traces))");
        assert_eq!(format!("{:?}", usual.metrics), "Some(Target(c:4318/base/v1/metrics))");
        assert_eq!((usual.telling, usual.patience), (Telling::WithoutContent, USUAL_PATIENCE));
        let own = found(&[
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t/x"),
            (TIMEOUT, "250"),
            (CONTENT, "true"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=a%20b"),
        ]);
        let own = own.unwrap().unwrap();
        assert_eq!(format!("{:?} {:?}", own.traces, own.metrics), "Some(Target(t/x)) None");
        assert_eq!((own.telling, own.patience), (Telling::WithContent, Duration::from_millis(250)));
        let named: Vec<&str> = own.resource.attributes.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(named, ["other", env!("CARGO_PKG_VERSION"), "a b"]);
    }

    #[test]
    fn what_is_wrong_is_said_without_what_stands_there() {
        let canary = "canary-of-a-header";
        let wrong = [
            vec![(ENDPOINT, "http://user:canary-of-a-header@c")],
            vec![(ENDPOINT, "canary-of-a-header")],
            vec![(ENDPOINT, "http://c"), (HEADERS, canary)],
            vec![(ENDPOINT, "http://c"), (HEADERS, "a=canary-of-a-header%0a")],
            vec![(ENDPOINT, "http://c"), (HEADERS, "a=canary-of-a-header%zz")],
            vec![(ENDPOINT, "http://c"), (PROTOCOL, "grpc")],
            vec![(ENDPOINT, "http://c"), (PROTOCOL, canary)],
            vec![(ENDPOINT, "http://c"), (TIMEOUT, canary)],
        ];
        for variables in wrong {
            let problem = found(&variables).unwrap_err().to_string();
            assert!(!problem.contains("canary") && problem.contains("`OTEL_EXPORTER_OTLP_"), "{problem}");
        }
        let kept =
            found(&[(ENDPOINT, "http://c"), (HEADERS, "api-key=canary-of-a-header")]).unwrap().unwrap();
        assert!(!format!("{kept:?}").contains("canary"), "{kept:?}");
    }
}
