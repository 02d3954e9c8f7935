//! One entry of a file, key by key. Whatever is wrong with one key, the others are looked at too.

use std::ops::Range;

use longhaul_events::{Priority, Timestamp};

use super::secret::SecretName;
use super::text::TextTemplate;
use super::when::When;
use super::{Budget, MAX_ATTEMPTS, MOST_PER_DAY, SameBody, Start, Switch, Trigger, Webhook, Work, is_id};
use crate::schedule::{CatchUp, Cron, Overlap, Schedule, Zone};
use crate::task::MOST_ATTEMPTS;
use crate::task::Source;
use crate::workflow::document::Node;
use crate::workflow::fields::{Fields, Findings, text_of};

/// Where the signature is unless the file says otherwise: what GitHub and those who do as it does send.
const USUAL_HEADER: &str = "X-Hub-Signature-256";
const LONGEST_LABEL: usize = 100;
const MOST_LABELS: usize = 50;
const MOST_DEADLINE_MS: u64 = 365 * 86_400_000;

/// Every key that an entry of `defaults` may have.
pub(super) const SHARED_KEYS: [&str; 16] = [
    "agent",
    "budget",
    "catch_all",
    "deadline",
    "enabled",
    "github",
    "goal",
    "labels",
    "max_attempts",
    "pipeline",
    "priority",
    "schedule",
    "source",
    "webhook",
    "when",
    "workflow",
];

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// It works in its own workspace.
    Workspace,
    /// It says for each trigger where that works.
    User,
}

/// The keys that defaults and triggers share.
struct Shared {
    switch: Option<Switch>,
    starts: Vec<Option<Start>>,
    when: Option<When>,
    has_condition: bool,
    catch_all: Option<u64>,
    goal: Option<TextTemplate>,
    source: Option<TextTemplate>,
    work: Work,
}

/// An entry of `defaults`, only to say what is wrong with it.
pub(super) fn check_defaults(name: &str, node: &Node, findings: &Findings) {
    let what = format!("`{name}` of `defaults`");
    if let Some(mut fields) = Fields::of(node, &what, findings) {
        shared(&mut fields);
        fields.finish();
    }
}

/// A trigger, with what it extends put in already.
pub(super) fn trigger(node: &Node, own: Range<usize>, owner: Owner, findings: &Findings) -> Option<Trigger> {
    let mut fields = Fields::of(node, "a trigger", findings)?;
    let id = id(&mut fields);
    let workspace = workspace(&mut fields, owner);
    fields.know(&["extends"]);
    let shared = shared(&mut fields);
    let start = start(&fields, shared.starts);
    let trigger = id.zip(start).map(|(id, start)| Trigger {
        id,
        span: own,
        switch: shared.switch.unwrap_or_default(),
        start,
        workspace,
        when: shared.when,
        catch_all: shared.catch_all,
        goal: shared.goal,
        source: shared.source,
        work: shared.work,
    });
    if let Some(trigger) = &trigger {
        check_whole(trigger, &mut fields, shared.has_condition);
    }
    fields.finish();
    trigger
}

fn id(fields: &mut Fields<'_>) -> Option<String> {
    let id = fields.required_text("id")?;
    if is_id(&id) {
        return Some(id);
    }
    let span = &fields.raw("id")?.span;
    let message = format!("`{}` is no id of a trigger", id.chars().take(80).collect::<String>());
    fields.findings().error(
        span,
        message,
        "use small letters, digits and `-`, at most 64, as in `nightly-audit`",
    );
    None
}

fn workspace(fields: &mut Fields<'_>, owner: Owner) -> Option<String> {
    let key = fields.key("workspace").map(|key| key.span.clone());
    match (owner, key) {
        (Owner::User, Some(_)) => fields.text("workspace"),
        (Owner::User, None) => {
            let at = fields.span().start..fields.span().start;
            let message = "a trigger of your own needs `workspace`: the repository that it works in";
            fields.findings().error(
                &at,
                message,
                "add `workspace: NAME`; `longhaul workspace list` shows the names",
            );
            None
        }
        (Owner::Workspace, Some(span)) => {
            let message = "a trigger of a repository works in that repository";
            fields.findings().error(
                &span,
                message,
                "take `workspace` out, or move the trigger to your own file",
            );
            None
        }
        (Owner::Workspace, None) => None,
    }
}

fn shared(fields: &mut Fields<'_>) -> Shared {
    let has_condition = fields.has("when");
    Shared {
        switch: fields.flag("enabled").map(|on| if on { Switch::On } else { Switch::Off }),
        starts: starts(fields),
        when: fields.node("when").and_then(|node| When::read(node, fields.findings())),
        has_condition,
        catch_all: catch_all(fields),
        goal: text(fields, "goal"),
        source: source(fields),
        work: work(fields),
    }
}

/// What is waited for: each that stands there, and none where it could not be read.
fn starts(fields: &mut Fields<'_>) -> Vec<Option<Start>> {
    let mut starts = Vec::new();
    if let Some(inner) = fields.map("webhook") {
        starts.push(webhook(inner).map(Start::Webhook));
    }
    if let Some(inner) = fields.map("schedule") {
        starts.push(schedule(inner).map(Start::Schedule));
    }
    if let Some(inner) = fields.map("github") {
        starts.push(Some(github(inner)));
    }
    starts
}

fn start(fields: &Fields<'_>, mut starts: Vec<Option<Start>>) -> Option<Start> {
    if starts.len() > 1 {
        let message = "a trigger waits for one of `webhook`, `schedule` and `github`";
        fields.findings().error(fields.span(), message, "make two triggers of it");
    }
    starts.pop().unwrap_or(Some(Start::Hand))
}

fn webhook(mut fields: Fields<'_>) -> Option<Webhook> {
    let secret = secret(&mut fields, "secret");
    if !fields.has("secret") {
        fields.missing("secret");
    }
    let header = fields.text("header").unwrap_or_else(|| USUAL_HEADER.to_owned());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if header.len() > 100 || !header.bytes().all(is_token) {
        let span = fields.raw("header").map_or_else(|| fields.span().clone(), |node| node.span.clone());
        let fix = format!("write a name such as `{USUAL_HEADER}`");
        fields.findings().error(&span, "`header` is no name of a header", fix);
    }
    let words = [("duplicate", SameBody::Duplicate), ("new", SameBody::New)];
    let same_body = fields.choice("same_body", &words).unwrap_or_default();
    fields.finish();
    Some(Webhook { secret: secret?, header, same_body })
}

/// What stands there is not repeated if it is no name: it may be the secret itself.
fn secret(fields: &mut Fields<'_>, key: &'static str) -> Option<SecretName> {
    let node = fields.node(key)?;
    let name = node.as_text().and_then(SecretName::parse);
    if name.is_none() {
        fields.findings().error(
            &node.span,
            format!("`{key}` is written out here, and a file is no place for secrets"),
            format!("run `longhaul secret set HOOK_SECRET`, write `{key}: $HOOK_SECRET`, and have the other side use a new one"),
        );
    }
    name
}

fn schedule(mut fields: Fields<'_>) -> Option<Schedule> {
    let cron = cron(&mut fields);
    let zone = zone(&mut fields);
    let catch_up = fields.flag("catch_up").map(|wanted| if wanted { CatchUp::Newest } else { CatchUp::No });
    let overlap = fields.choice("overlap", &[("skip", Overlap::Skip)]);
    let (catch_up, overlap) = (catch_up.unwrap_or_default(), overlap.unwrap_or_default());
    let schedule = Schedule { cron: cron?, zone: zone?, catch_up, overlap };
    // From any moment on: what is ever due is due again within the time that is looked through.
    if let (None, Some(node)) = (schedule.next_after(Timestamp(0)), fields.raw("cron")) {
        let message = format!("`{}` is never due: no month has such a day", schedule.cron);
        fields.findings().error(&node.span, message, "choose a day that there is");
    }
    fields.finish();
    Some(schedule)
}

fn cron(fields: &mut Fields<'_>) -> Option<Cron> {
    let text = fields.required_text("cron")?;
    let span = fields.raw("cron")?.span.clone();
    match Cron::parse(&text) {
        Ok(cron) => Some(cron),
        Err(error) => {
            // The part that is wrong, unless quotes hold more than the text itself.
            let quote = span.len().saturating_sub(text.len()) / 2;
            let is_plain = span.len() == text.len() + 2 * quote && quote <= 1;
            let part = span.start + quote + error.at.start..span.start + quote + error.at.end;
            fields.findings().error(if is_plain { &part } else { &span }, error.problem, error.fix);
            None
        }
    }
}

fn zone(fields: &mut Fields<'_>) -> Option<Zone> {
    let Some(name) = fields.text("zone") else { return Some(Zone::utc()) };
    let span = &fields.raw("zone")?.span;
    Zone::named(&name)
        .map_err(|error| {
            fields.findings().error(span, format!("there is no zone `{}`", error.name), error.fix());
        })
        .ok()
}

/// For a later release: what is there must be right as far as we know it.
fn github(mut fields: Fields<'_>) -> Start {
    let at = fields.span().start..fields.span().start;
    let message =
        "triggers by `github` are known, and this release does not serve them: this one does nothing";
    fields.findings().warning(&at, message, "until then use `webhook` with the signature header of GitHub");
    fields.required_text("repo");
    secret(&mut fields, "token");
    fields.know(&["issues", "exclude", "events", "poll"]);
    fields.finish();
    Start::Github
}

fn catch_all(fields: &mut Fields<'_>) -> Option<u64> {
    let mut inner = fields.map("catch_all")?;
    let cap = inner.count("cap");
    if !inner.has("cap") {
        inner.missing("cap");
    }
    if let (Some(count), Some(node)) = (cap, inner.raw("cap"))
        && !(1..=MOST_PER_DAY).contains(&count)
    {
        let message = format!("`cap` says how many tasks a day, from 1 to {MOST_PER_DAY}");
        inner.findings().error(&node.span, message, "write a number such as `20`");
    }
    inner.finish();
    cap
}

fn text(fields: &mut Fields<'_>, key: &'static str) -> Option<TextTemplate> {
    let node = fields.node(key)?;
    let text = text_of(node, &format!("`{key}`"), fields.findings())?;
    TextTemplate::parse(&text)
        .map_err(|error| fields.findings().error(&node.span, format!("`{key}`: {error}"), error.fix()))
        .ok()
}

/// The kind stands in the file, so that nobody outside chooses it.
fn source(fields: &mut Fields<'_>) -> Option<TextTemplate> {
    let template = text(fields, "source")?;
    let beginning = template.beginning();
    let kind = beginning.split_once(':').map(|(kind, _)| kind);
    let is_one_thing =
        kind.is_some_and(|kind| format!("{kind}:x").parse::<Source>().is_ok_and(|it| it.is_one_thing()));
    if is_one_thing {
        return Some(template);
    }
    let span = &fields.raw("source")?.span;
    let fix = "begin it with `github:`, `forge:` or `item:`, as in `github:{{$.repository.full_name}}#{{$.issue.number}}`, or take it out";
    fields.findings().error(span, "`source` must name one thing, and say of what kind before any value", fix);
    None
}

fn work(fields: &mut Fields<'_>) -> Work {
    let deadline_ms = fields.duration_ms("deadline");
    let max_attempts = fields.count("max_attempts");
    let most = MOST_ATTEMPTS as u64;
    for (key, is_right, told) in [
        (
            "deadline",
            deadline_ms.is_none_or(|ms| (1..=MOST_DEADLINE_MS).contains(&ms)),
            "`deadline` is up to a year after it arrived".to_owned(),
        ),
        (
            "max_attempts",
            max_attempts.is_none_or(|count| (1..=most).contains(&count)),
            format!("`max_attempts` is a number from 1 to {most}"),
        ),
    ] {
        if let (false, Some(node)) = (is_right, fields.raw(key)) {
            fields.findings().error(&node.span, told, "write another one");
        }
    }
    Work {
        pipeline: pipeline(fields),
        agent: fields.text("agent"),
        priority: fields.choice("priority", &Priority::WORDS).unwrap_or_default(),
        deadline_ms,
        budget: fields.map("budget").map(budget).unwrap_or_default(),
        max_attempts: max_attempts.and_then(|count| u32::try_from(count).ok()).unwrap_or(MAX_ATTEMPTS),
        labels: labels(fields),
    }
}

/// Both words are known; a pipeline is a workflow.
fn pipeline(fields: &mut Fields<'_>) -> Option<String> {
    let named = [("pipeline", fields.text("pipeline")), ("workflow", fields.text("workflow"))];
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    for (key, name) in &named {
        if name.as_ref().is_some_and(|name| !name.chars().all(is_plain))
            && let Some(node) = fields.raw(key)
        {
            let message = format!("`{key}` is no id of a workflow");
            fields.findings().error(&node.span, message, "`longhaul workflow list` shows them");
        }
    }
    let [(_, pipeline), (_, workflow)] = named;
    if let (Some(_), Some(_), Some(key)) = (&pipeline, &workflow, fields.key("workflow")) {
        fields.findings().error(
            &key.span,
            "`pipeline` and `workflow` both say what leads there",
            "keep one of them",
        );
    }
    pipeline.or(workflow)
}

fn budget(mut fields: Fields<'_>) -> Budget {
    let budget = Budget {
        money_micros: fields.money_micros("money"),
        tokens: fields.amount("tokens"),
        time_ms: fields.duration_ms("time"),
        turns: fields.amount("turns"),
    };
    let amounts = [
        ("money", budget.money_micros),
        ("tokens", budget.tokens),
        ("time", budget.time_ms),
        ("turns", budget.turns),
    ];
    for (key, amount) in amounts {
        if let (Some(0), Some(node)) = (amount, fields.raw(key)) {
            fields.findings().error(
                &node.span,
                format!("`{key}`: a cap of 0 lets nothing be done"),
                "give more",
            );
        }
    }
    fields.finish();
    budget
}

fn labels(fields: &mut Fields<'_>) -> Vec<String> {
    let labels = fields.texts("labels");
    if let Some(node) = fields.raw("labels")
        && (labels.len() > MOST_LABELS || labels.iter().any(|label| label.chars().count() > LONGEST_LABEL))
    {
        let message = format!("there are at most {MOST_LABELS} labels of {LONGEST_LABEL} characters");
        fields.findings().error(&node.span, message, "make them fewer or shorter");
    }
    labels
}

/// What only holds for the entry as a whole.
fn check_whole(trigger: &Trigger, fields: &mut Fields<'_>, has_condition: bool) {
    let (whole, findings) = (fields.span(), fields.findings());
    let begin = whole.start..whole.start;
    match &trigger.start {
        Start::Webhook(_) => {
            if !has_condition && trigger.catch_all.is_none() && !fields.has("catch_all") {
                let message = format!(
                    "trigger `{}` has no `when`, so every signed request would begin a task",
                    trigger.id
                );
                findings.error(&begin, message, "say which ones are wanted, or opt in to all with `catch_all: { cap: 20 }`, which is a day");
            }
            if let (true, Some(key)) = (has_condition, fields.key("catch_all")) {
                findings.error(&key.span, "`catch_all` is for triggers without `when`", "keep one of them");
            }
        }
        Start::Schedule(_) | Start::Hand => {
            let what = if matches!(trigger.start, Start::Hand) { "a person" } else { "a schedule" };
            for key in ["when", "catch_all"] {
                if let Some(key) = fields.key(key) {
                    findings.error(
                        &key.span,
                        format!("`{}` is for requests, and {what} brings none", key.name),
                        "take it out",
                    );
                }
            }
            for (key, template) in [("goal", &trigger.goal), ("source", &trigger.source)] {
                let has_values = template.as_ref().is_some_and(|template| template.fixed().is_none());
                if let (true, Some(node)) = (has_values, fields.raw(key)) {
                    let message = format!("`{key}` takes values from a request, and {what} brings none");
                    findings.error(&node.span, message, "write a text without `{{…}}`");
                }
            }
        }
        // What it will do without a goal is for the release that serves it.
        Start::Github => return,
    }
    if !fields.has("goal") {
        fields.missing("goal");
    }
}
