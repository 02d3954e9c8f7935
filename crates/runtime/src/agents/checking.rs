//! What works on this machine: programs on the path, keys, logins, servers that answer.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use longhaul_core::budget::Pricing;
use longhaul_core::roster::{Definition, Kind, NoAgent, Provider, Roster};
use longhaul_core::time::rfc3339;
use longhaul_core::workflow::suggest::closest;
use longhaul_exec::{Outcome, Program, Stdin};
use serde_json::Value;

use super::finding::{AgentFinding, AgentState, AgentView, ModelView};
use crate::calendar::UsedUp;
use crate::clock::{Clock as _, SystemClock};
use crate::error::Error;
use crate::secrets::KeyOrigin;
use crate::system::System;

/// How long a server on this machine may take to take a connection.
const NEAR: Duration = Duration::from_millis(500);
/// How long a provider may take to answer.
const FAR: Duration = Duration::from_secs(15);
/// How long a program may take to say its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(20);
/// No version is longer.
const VERSION_LETTERS: usize = 60;

/// How closely one looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// At what can be seen at once.
    Quick,
    /// Tries it.
    Live,
}

impl System {
    /// Everybody who has a name, and every provider, with what can be seen of them at once.
    pub fn agents(&self) -> Result<Vec<AgentView>, Error> {
        Checker::new(self, Look::Quick)?.all()
    }

    /// The same, but each is really tried.
    pub fn check_agents(&self) -> Result<Vec<AgentView>, Error> {
        Checker::new(self, Look::Live)?.all()
    }

    /// Tries one: an agent, `PROVIDER/MODEL`, or a provider.
    pub fn check_agent(&self, name: &str) -> Result<AgentView, Error> {
        let mut checker = Checker::new(self, Look::Live)?;
        if let Some(provider) = checker.roster.provider(name).cloned()
            && checker.roster.resolve(name).is_err()
        {
            return checker.provider(&provider);
        }
        match checker.roster.resolve(name) {
            Ok(definition) => checker.agent(&definition),
            Err(NoAgent::Broken { name, source }) => Ok(broken(&name, &source)),
            Err(unknown) => Err(unknown.into()),
        }
    }

    /// The models that something is known of, and the day that this is of.
    pub fn known_models(&self) -> Result<(Vec<ModelView>, String), Error> {
        let roster = self.roster()?;
        let models = roster.providers().flat_map(|provider| roster.models_of(&provider.name));
        let views = models.map(|model| {
            let price = model.pricing.known().ok();
            ModelView {
                name: format!("{}/{}", model.provider, model.name),
                aliases: model.aliases.iter().map(|alias| format!("{}/{alias}", model.provider)).collect(),
                window: model.window,
                max_output: model.max_output,
                input_micros: price.map(|price| price.input_micros),
                output_micros: price.map(|price| price.output_micros),
            }
        });
        Ok((views.collect(), roster.as_of().to_owned()))
    }
}

struct Checker<'a> {
    system: &'a System,
    roster: Roster,
    look: Look,
    /// Providers that were looked at already, with the models that they named.
    seen: BTreeMap<String, (AgentFinding, Vec<String>)>,
    /// Limits that sessions wait for.
    used_up: Vec<UsedUp>,
}

impl<'a> Checker<'a> {
    fn new(system: &'a System, look: Look) -> Result<Self, Error> {
        // Who can be asked is told even where the store cannot be read.
        let reader = system.reader().ok().flatten();
        let used_up = reader.and_then(|reader| reader.used_up(SystemClock.now()).ok()).unwrap_or_default();
        Ok(Self { system, roster: system.roster()?, look, seen: BTreeMap::new(), used_up })
    }

    fn all(&mut self) -> Result<Vec<AgentView>, Error> {
        let definitions: Vec<Definition> = self.roster.definitions().cloned().collect();
        let is_agent = |name: &str| definitions.iter().any(|definition| definition.name == name);
        let providers: Vec<Provider> =
            self.roster.providers().filter(|provider| !is_agent(&provider.name)).cloned().collect();
        let mut views = Vec::new();
        for definition in &definitions {
            views.push(self.agent(definition)?);
        }
        views.extend(self.roster.broken().map(|(name, error)| broken(name, error)));
        for provider in &providers {
            views.push(self.provider(provider)?);
        }
        Ok(views)
    }

    fn agent(&mut self, definition: &Definition) -> Result<AgentView, Error> {
        let provider = definition.provider.as_ref().and_then(|name| self.roster.provider(name)).cloned();
        let view = AgentView {
            name: definition.name.clone(),
            title: definition.title.clone(),
            kind: definition.kind.to_string(),
            model: definition.model.clone(),
            provider: definition.provider.clone(),
            paid: paid(definition, provider.as_ref()),
            holds_its_own_credentials: definition.own_credentials.clone(),
            own: self.roster.is_own(&definition.name),
            state: AgentState::Ready,
            findings: Vec::new(),
        };
        let mut findings = Vec::new();
        match &definition.kind {
            Kind::Rehearsal => {
                findings.push(AgentFinding::ready("plays a script: `longhaul run --cassette FILE`"));
            }
            Kind::Model { .. } => {}
            Kind::Acp { command } | Kind::Command { command, .. } => {
                findings.push(self.program(definition, command));
                findings.extend(self.login(definition));
            }
        }
        if let Some(provider) = &provider {
            let (finding, models) = self.reach(provider)?;
            let is_ready = finding.state == AgentState::Ready;
            findings.push(finding);
            let asked = definition.model.as_deref().filter(|_| is_ready);
            findings.extend(asked.and_then(|model| lacks(provider, &models, model)));
        }
        findings.extend(self.limit(definition.provider.as_deref().unwrap_or(&definition.name)));
        if definition.pricing == Pricing::Unknown {
            findings.push(AgentFinding::failing(
                "nobody knows what it costs, so no cap on money could be held",
                self.where_to_say_the_price(definition),
            ));
        }
        Ok(view.found(findings))
    }

    /// An agent of the user's own has a file, which may say it.
    fn where_to_say_the_price(&self, definition: &Definition) -> String {
        let own = self.system.places().agents().join(format!("{}.yml", definition.name));
        if own.is_file() {
            return format!("say it in `{}`: `price: {{ input: 3usd, output: 15usd }}`", own.display());
        }
        format!(
            "say it in `{}`: `models: {{ {}: {{ price: {{ input: 3usd, output: 15usd }} }} }}`",
            self.system.places().models().display(),
            model_key(definition)
        )
    }

    /// Any model of a provider.
    fn provider(&mut self, provider: &Provider) -> Result<AgentView, Error> {
        let view = AgentView {
            name: format!("{}/MODEL", provider.name),
            title: provider.title.clone(),
            kind: provider.wire().word().to_owned(),
            model: None,
            provider: Some(provider.name.clone()),
            paid: paid_to(provider),
            holds_its_own_credentials: Vec::new(),
            own: false,
            state: AgentState::Ready,
            findings: Vec::new(),
        };
        let (finding, _) = self.reach(provider)?;
        Ok(view.found([finding].into_iter().chain(self.limit(&provider.name)).collect()))
    }

    /// Whether a limit is used up, of a provider or of an agent that signs in by itself.
    fn limit(&self, name: &str) -> Option<AgentFinding> {
        let limit = self.used_up.iter().find(|limit| limit.provider == name)?;
        let finding = format!("the limit of `{name}` is used up until {}", rfc3339(limit.until));
        let waits = match limit.sessions {
            1 => "the session that waits for it goes".to_owned(),
            many => format!("{many} sessions that wait for it go"),
        };
        let remedy = format!("wait: {waits} on when somebody follows or resumes it; or ask somebody else");
        Some(AgentFinding::used_up(finding, remedy))
    }

    fn program(&self, definition: &Definition, command: &[String]) -> AgentFinding {
        let program = command.first().map(String::as_str).unwrap_or_default();
        let Some(path) = self.system.program(program) else {
            let known = definition.program.as_deref().filter(|known| self.system.program(known).is_some());
            let beside = known.map(|known| format!(", though `{known}` is")).unwrap_or_default();
            let remedy = definition.install.clone();
            let remedy = remedy.unwrap_or_else(|| "install it, or change `command` in its file".to_owned());
            return AgentFinding::missing(format!("`{program}` is not on the path{beside}"), remedy);
        };
        if self.look == Look::Quick || definition.version.is_empty() {
            return AgentFinding::ready(format!("`{program}` is on the path"));
        }
        match self.version(&path, &definition.version) {
            Ok(version) => AgentFinding::ready(format!("`{program}` {version}")),
            Err(problem) => AgentFinding::failing(
                format!("`{}` does not work: {problem}", definition.version.join(" ")),
                definition.install.clone().unwrap_or_else(|| "install it anew".to_owned()),
            ),
        }
    }

    /// What a program says that its version is.
    fn version(&self, path: &std::path::Path, command: &[String]) -> Result<String, String> {
        let program = Program::new(path)
            .args(command.iter().skip(1))
            .directory(self.system.directory())
            .stdin(Stdin::Null)
            .timeout(VERSION_PATIENCE);
        let finished = longhaul_exec::run(&program).map_err(|error| error.to_string())?;
        let said = finished.stdout.to_text();
        match finished.outcome {
            Outcome::Exited(0) => {
                let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("works");
                Ok(crate::recap::shortened(line, VERSION_LETTERS))
            }
            Outcome::Exited(code) => Err(format!("it ended with {code}")),
            Outcome::Signalled(signal) => Err(format!("signal {signal} ended it")),
            Outcome::TimedOut => Err("it said nothing in time".to_owned()),
            Outcome::OutOfRoom | Outcome::Stopped => Err("it was ended".to_owned()),
        }
    }

    /// Whether somebody signed in.
    fn login(&self, definition: &Definition) -> Option<AgentFinding> {
        if definition.own_credentials.is_empty() {
            return None;
        }
        let home = self.system.variable(OsStr::new("HOME")).map(PathBuf::from)?;
        let is_there = |path: &&String| home.join(path.trim_start_matches("~/")).exists();
        let shown = definition.own_credentials.join(", ");
        if definition.own_credentials.iter().any(|path| is_there(&path)) {
            return Some(AgentFinding::ready(format!("holds its own credentials: {shown}")));
        }
        let remedy = definition.install.clone().unwrap_or_else(|| "sign in with it".to_owned());
        Some(AgentFinding::missing(format!("nobody signed in: no {shown}"), remedy))
    }

    fn reach(&mut self, provider: &Provider) -> Result<(AgentFinding, Vec<String>), Error> {
        if let Some(seen) = self.seen.get(&provider.name) {
            return Ok(seen.clone());
        }
        let found = self.looked(provider)?;
        self.seen.insert(provider.name.clone(), found.clone());
        Ok(found)
    }

    fn looked(&self, provider: &Provider) -> Result<(AgentFinding, Vec<String>), Error> {
        let alone = |finding| Ok((finding, Vec::new()));
        let upstream = match self.system.upstream(provider) {
            Ok(upstream) => upstream,
            Err(Error::NoKey { name, how, .. }) => {
                let remedy = format!("{how}run `longhaul secret set {name}`");
                return alone(AgentFinding::missing(format!("there is no key `{name}`"), remedy));
            }
            Err(Error::Gateway(error)) => {
                let text = error.to_string();
                let (finding, remedy) = text.split_once("; ").unwrap_or((&text, "put it right"));
                return alone(AgentFinding::failing(finding, remedy));
            }
            Err(error) => return Err(error),
        };
        let base = self.system.base_url(provider);
        let absent = || {
            let remedy = provider.install.clone().unwrap_or_else(|| "start it".to_owned());
            AgentFinding::missing(format!("no server answers at {base}"), remedy)
        };
        if provider.is_local && !upstream.is_there(NEAR) {
            return alone(absent());
        }
        if self.look == Look::Quick {
            return alone(AgentFinding::ready(self.at_hand(provider, &base)?));
        }
        match upstream.models(FAR) {
            Ok(looked) => Ok(judged(provider, &base, &looked)),
            Err(_) if provider.is_local => alone(absent()),
            Err(error) => alone(AgentFinding::failing(
                format!("{base} is not reached: {error}"),
                match &provider.base_url_variable {
                    Some(variable) => format!("check the network, and `{variable}` if you set it"),
                    None => "check the network and `base_url`".to_owned(),
                },
            )),
        }
    }

    fn at_hand(&self, provider: &Provider, base: &str) -> Result<String, Error> {
        let Some(name) = &provider.key_variable else { return Ok(format!("a server is at {base}")) };
        let origin = self.system.key(name)?.map(|key| key.origin);
        Ok(match origin {
            Some(KeyOrigin::Secret) => format!("the secret `{name}` is set"),
            Some(KeyOrigin::Environment) | None => format!("the variable `{name}` is set"),
        })
    }
}

/// What an answer to the question for models says.
fn judged(provider: &Provider, base: &str, looked: &longhaul_gateway::Looked) -> (AgentFinding, Vec<String>) {
    let models = models(&looked.body);
    let finding = match (looked.status, &provider.key_variable) {
        (200..=299, _) => AgentFinding::ready(format!("{base} answers and has {} models", models.len())),
        (429, _) => AgentFinding::ready(format!("{base} answers, and wants to be left alone for a while")),
        (401 | 403, Some(name)) => AgentFinding::failing(
            format!("{base} does not take the key `{name}` ({})", looked.status),
            format!("set one that is good: `longhaul secret set {name}`"),
        ),
        (401 | 403, None) => AgentFinding::failing(
            format!("{base} wants a key ({})", looked.status),
            "name it as `key: $NAME` in a file of your own: `longhaul agent add`".to_owned(),
        ),
        (status, _) => AgentFinding::failing(
            format!("{base} answered with status {status}"),
            "see whether it is a server of this kind, and try again later".to_owned(),
        ),
    };
    (finding, models)
}

/// The names in a list of models, whoever wrote it.
fn models(body: &[u8]) -> Vec<String> {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let listed = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    listed.iter().filter_map(|model| model["id"].as_str()).map(str::to_owned).collect()
}

/// Whether a model is missing from a list. A name without a version or a tag stands for any of them.
fn lacks(provider: &Provider, models: &[String], model: &str) -> Option<AgentFinding> {
    let is_date = |text: &str| {
        text.len() >= "20261116".len() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let is_it = |id: &String| {
        id.strip_prefix(model).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(':') || rest.strip_prefix('-').is_some_and(is_date)
        })
    };
    if models.is_empty() || models.iter().any(is_it) {
        return None;
    }
    let meant = closest(model, models.iter().map(String::as_str));
    let remedy = match (provider.name.as_str(), meant) {
        ("ollama", _) => format!("get it with `ollama pull {model}`, or name one of {}", some(models)),
        (_, Some(meant)) => format!("did you mean `{meant}`?"),
        (_, None) => format!("name one that it has, such as {}", some(models)),
    };
    Some(AgentFinding::failing(format!("{} has no model `{model}`", provider.title), remedy))
}

fn some(models: &[String]) -> String {
    models.iter().take(3).map(|model| format!("`{model}`")).collect::<Vec<_>>().join(", ")
}

fn paid(definition: &Definition, provider: Option<&Provider>) -> String {
    match provider {
        _ if !definition.own_credentials.is_empty() => "its own login".to_owned(),
        Some(provider) => paid_to(provider),
        None if definition.kind == Kind::Rehearsal => "nothing".to_owned(),
        None => "its own ways".to_owned(),
    }
}

fn paid_to(provider: &Provider) -> String {
    match &provider.key_variable {
        Some(name) => format!("the key `{name}`"),
        None if provider.is_local => "nothing, it runs here".to_owned(),
        None => "no key".to_owned(),
    }
}

fn model_key(definition: &Definition) -> String {
    let (provider, model) = (definition.provider.as_deref(), definition.model.as_deref());
    format!("{}/{}", provider.unwrap_or("PROVIDER"), model.unwrap_or("MODEL"))
}

fn broken(name: &str, error: &longhaul_core::roster::Error) -> AgentView {
    let view = AgentView {
        name: name.to_owned(),
        title: name.to_owned(),
        kind: "unknown".to_owned(),
        model: None,
        provider: None,
        paid: "unknown".to_owned(),
        holds_its_own_credentials: Vec::new(),
        own: true,
        state: AgentState::Failing,
        findings: Vec::new(),
    };
    view.found(vec![AgentFinding::failing(error.problem.clone(), format!("put `{}` right", error.path))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_version_stands_for_any_of_its_versions() {
        let roster = Roster::bundled();
        let ollama = roster.provider("ollama").unwrap();
        let models = ["qwen3-coder:30b".to_owned(), "claude-opus-4-5-20251101".to_owned()];
        for model in ["qwen3-coder", "qwen3-coder:30b", "claude-opus-4-5"] {
            assert_eq!(lacks(ollama, &models, model), None, "{model}");
        }
        let lacking = lacks(ollama, &models, "qwen3").unwrap();
        assert_eq!(lacking.state, AgentState::Failing);
        assert!(lacking.remedy.unwrap().contains("`ollama pull qwen3`"));
        assert_eq!(lacks(ollama, &[], "anything"), None);
    }
}
