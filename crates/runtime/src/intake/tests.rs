//! The intake over a real store and real files of triggers.

mod bursts;
mod schedules;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;

use hmac::{Hmac, KeyInit, Mac};
use longhaul_exec::{Program, run};
use sha2::Sha256;

use super::*;
use crate::control::{Caller, Control};
use crate::places::Places;
use crate::reader::TaskView;
use crate::system::Settings;

const SECRET: &str = "kept-between-the-two-of-us";

const HOOK: &str = "
triggers:
  - id: hook
    workspace: shop
    webhook: { secret: $HOOK_SECRET }
    when: { path: $.n, exists: true }
    goal: \"Do {{$.n}}\"
    labels: [from-hook]
    max_attempts: 2
    priority: high
";

/// A home with a repository `shop` and the user's own triggers.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new(triggers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder };
        fs::create_dir_all(world.path().join("shop")).unwrap();
        let init = Program::new("git").args(["init", "--quiet"]).directory(world.path().join("shop"));
        assert!(run(&init).unwrap().succeeded());
        fs::create_dir_all(world.places().config).unwrap();
        let commands = world.system().commands().unwrap();
        commands.add_workspace(&world.path().join("shop"), None).unwrap();
        world.write(triggers);
        world
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn places(&self) -> Places {
        Places::under(&self.path().join("home"))
    }

    fn write(&self, triggers: &str) {
        fs::write(self.places().triggers(), triggers).unwrap();
    }

    fn system(&self) -> System {
        let variables = BTreeMap::from([("HOOK_SECRET".into(), SECRET.into())]);
        System::new(Settings { places: self.places(), variables, directory: self.path(), flags: Vec::new() })
    }

    fn start(&self) -> Intake {
        self.start_with(IntakeOptions::default())
    }

    fn start_with(&self, options: IntakeOptions) -> Intake {
        let system = self.system();
        let commands = Arc::new(system.commands().unwrap());
        Intake::start(system, commands, options).unwrap()
    }

    fn tasks(&self) -> Vec<TaskView> {
        self.system().reader().unwrap().unwrap().tasks().unwrap().0
    }
}

fn signed(body: &str, headers: &[(&str, &str)]) -> Delivery {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let digest = longhaul_events::Digest(mac.finalize().into_bytes().into());
    let mut all = vec![("X-Hub-Signature-256".to_owned(), format!("sha256={digest}"))];
    all.extend(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Delivery { headers: all, body: body.as_bytes().to_vec() }
}

/// Sends one and waits for what became of it.
fn send(intake: &Intake, delivery: &Delivery) -> Answer {
    send_to(intake, "shop", "hook", delivery)
}

fn send_to(intake: &Intake, scope: &str, id: &str, delivery: &Delivery) -> Answer {
    let (sender, receiver) = mpsc::sync_channel(1);
    intake.receive(scope, id, delivery, move |answer| drop(sender.send(answer)));
    receiver.recv().unwrap()
}

fn task_of(answer: &Answer) -> TaskId {
    match answer {
        Answer::Task(task) | Answer::Duplicate(task) => *task,
        other => panic!("no task: {other:?}"),
    }
}

#[test]
fn a_signed_request_opens_a_task_as_its_trigger_says_and_never_a_second() {
    let world = World::new(HOOK);
    let intake = world.start();
    let delivery = signed(r#"{"n": 1}"#, &[("X-GitHub-Delivery", "one")]);
    let first = send(&intake, &delivery);
    let Answer::Task(task) = first else { panic!("{first:?}") };
    assert_eq!(send(&intake, &delivery), Answer::Duplicate(task));
    // Under another name, which nobody signed, it is still the same.
    assert_eq!(
        send(&intake, &signed(r#"{"n": 1}"#, &[("X-GitHub-Delivery", "two")])),
        Answer::Duplicate(task)
    );
    // The same name with other words is the same delivery for its sender.
    assert_eq!(
        send(&intake, &signed(r#"{"n": 1, "again": true}"#, &[("X-GitHub-Delivery", "one")])),
        Answer::Duplicate(task)
    );
    assert!(matches!(send(&intake, &signed(r#"{"n": 2}"#, &[])), Answer::Task(_)));
    let views = world.tasks();
    assert_eq!(views.len(), 2);
    let view = views.iter().find(|view| view.id == task).unwrap();
    assert_eq!((view.goal.as_str(), view.task.source.as_str()), ("Do 1", "webhook:hook"));
    let orders = view.task.orders.as_ref().unwrap();
    assert_eq!((orders.taint, orders.max_attempts), (longhaul_events::Taint::Outside, 2));
    assert_eq!(orders.labels, ["from-hook"]);
    assert_eq!(view.task.priority, longhaul_events::Priority::High);
    assert_eq!(orders.trigger.map(|id| id.to_string()).unwrap().len(), 15);
}

#[test]
fn what_nobody_signed_and_what_is_not_there_is_not_on_record() {
    let world = World::new(HOOK);
    let intake = world.start();
    let mut wrong = signed(r#"{"n": 1}"#, &[]);
    wrong.body = br#"{"n": 2}"#.to_vec();
    assert_eq!(send(&intake, &wrong), Answer::Unsigned);
    assert_eq!(send(&intake, &Delivery { headers: Vec::new(), body: b"{}".to_vec() }), Answer::Unsigned);
    assert_eq!(send_to(&intake, "shop", "hooks", &signed(r#"{"n": 1}"#, &[])), Answer::Unknown);
    assert_eq!(send_to(&intake, "other", "hook", &signed(r#"{"n": 1}"#, &[])), Answer::Unknown);
    let system = world.system();
    let streams = system.reader().unwrap().unwrap().streams().unwrap();
    assert!(streams.iter().all(|stream| stream.starts_with("workspace/")), "{streams:?}");
}

#[test]
fn what_comes_again_and_again_is_on_record_a_few_times_only() {
    let world = World::new(HOOK);
    let intake = world.start();
    let unwanted = signed(r#"{"m": 1}"#, &[]);
    for _ in 0..20 {
        assert!(matches!(send(&intake, &unwanted), Answer::NotWanted(_)));
    }
    let wanted = signed(r#"{"n": 1}"#, &[]);
    for _ in 0..20 {
        task_of(&send(&intake, &wanted));
    }
    let system = world.system();
    let commands = system.commands().unwrap();
    let history = &commands.triggers_on_record().unwrap()[0].history;
    assert!(history.seq.0 <= 10, "{history:?}");
    assert_eq!(history.counts.tasks, 1);
}

#[test]
fn one_thing_is_worked_on_by_one_task_at_a_time() {
    let source = "    source: \"github:owner/shop#{{$.issue}}\"\n";
    let world = World::new(&format!("{HOOK}{source}"));
    let intake = world.start();
    let first = send(&intake, &signed(r#"{"n": 1, "issue": 7}"#, &[]));
    let Answer::Task(task) = first else { panic!("{first:?}") };
    assert_eq!(send(&intake, &signed(r#"{"n": 2, "issue": 7}"#, &[])), Answer::Duplicate(task));
    assert!(matches!(send(&intake, &signed(r#"{"n": 3, "issue": 8}"#, &[])), Answer::Task(_)));
    // A new process knows it too.
    drop(intake);
    let intake = world.start();
    assert_eq!(send(&intake, &signed(r#"{"n": 4, "issue": 7}"#, &[])), Answer::Duplicate(task));
    let system = world.system();
    let commands = system.commands().unwrap();
    commands.cancel_task(task, "ada", None).unwrap();
    assert!(matches!(send(&intake, &signed(r#"{"n": 5, "issue": 7}"#, &[])), Answer::Task(_)));
}

#[test]
fn whatever_comes_is_taken_up_to_its_cap_of_a_day() {
    let all = HOOK.replace("when: { path: $.n, exists: true }", "catch_all: { cap: 2 }");
    let world = World::new(&all);
    let intake = world.start();
    let answers: Vec<Answer> =
        (0..4).map(|n| send(&intake, &signed(&format!(r#"{{"n": {n}}}"#), &[]))).collect();
    assert!(matches!(answers[..2], [Answer::Task(_), Answer::Task(_)]), "{answers:?}");
    assert!(
        matches!(&answers[2..], [Answer::Skipped(because), Answer::Skipped(_)] if because.contains("2 tasks a day")),
        "{answers:?}"
    );
    // What was there before the cap was reached is still the same.
    assert!(matches!(send(&intake, &signed(r#"{"n": 0}"#, &[])), Answer::Duplicate(_)));
    assert_eq!(world.tasks().len(), 2);
}

#[test]
fn a_file_that_is_wrong_keeps_what_it_said_before_and_says_so() {
    let world = World::new(HOOK);
    let intake = world.start();
    assert_eq!(intake.troubles(), []);
    world.write("triggers: [ { id: hook, workspace: shop, webhok: {}, goal: x } ]");
    intake.reload().unwrap();
    let troubles = intake.troubles();
    assert!(troubles.len() == 1 && troubles[0].problem.contains("webhok"), "{troubles:?}");
    assert!(troubles[0].remedy.contains("what it said before counts"), "{troubles:?}");
    assert!(matches!(send(&intake, &signed(r#"{"n": 1}"#, &[])), Answer::Task(_)));
    world.write(&HOOK.replace("Do {{", "Now {{"));
    intake.reload().unwrap();
    assert_eq!(intake.troubles(), []);
    let task = task_of(&send(&intake, &signed(r#"{"n": 2}"#, &[])));
    assert_eq!(world.tasks().into_iter().find(|view| view.id == task).unwrap().goal, "Now 2");
    // Taken out on purpose, it is gone.
    world.write("triggers:\n");
    intake.reload().unwrap();
    assert_eq!(send(&intake, &signed(r#"{"n": 3}"#, &[])), Answer::Unknown);
}

#[test]
fn a_change_of_a_file_is_noticed_by_and_by() {
    let world = World::new("triggers:\n");
    let intake = world.start();
    let delivery = signed(r#"{"n": 1}"#, &[]);
    assert_eq!(send(&intake, &delivery), Answer::Unknown);
    world.write(HOOK);
    let began = std::time::Instant::now();
    while send(&intake, &delivery) == Answer::Unknown {
        assert!(began.elapsed().as_secs() < 30, "nobody noticed");
        std::thread::yield_now();
    }
    assert_eq!(world.tasks().len(), 1);
}

#[test]
fn a_secret_that_is_not_there_lets_nobody_in_and_is_told() {
    let world = World::new(&HOOK.replace("HOOK_SECRET", "OTHER_SECRET"));
    let intake = world.start();
    assert_eq!(send(&intake, &signed(r#"{"n": 1}"#, &[])), Answer::Unsigned);
    let troubles = intake.troubles();
    assert!(troubles[0].remedy.contains("longhaul secret set OTHER_SECRET"), "{troubles:?}");
}

#[test]
fn a_person_fires_a_trigger_with_or_without_a_daemon_and_an_agent_does_not() {
    let world = World::new(HOOK);
    let system = world.system();
    let commands = system.commands().unwrap();
    let control = |caller| Control { system: &system, commands: &commands, caller };
    let fired = control(Caller::Person).fire("hook", Some("Do it by hand")).unwrap();
    let again = control(Caller::Person).fire("shop/hook", Some("Do it by hand")).unwrap();
    assert!(fired.task != again.task && fired.trigger == "shop/hook");
    let view = world.tasks().into_iter().find(|view| view.id == fired.task).unwrap();
    assert_eq!(view.goal, "Do it by hand");
    assert!(view.task.orders.unwrap().taint.is_clean());
    let refused = control(Caller::Person).fire("hook", None).unwrap_err().to_string();
    assert!(refused.contains("--goal"), "{refused}");
    assert!(matches!(control(Caller::Agent).fire("hook", Some("x")), Err(Error::UnderAgent)));
    let unknown = control(Caller::Person).fire("hok", None).unwrap_err().to_string();
    assert!(unknown.contains("did you mean `hook`"), "{unknown}");
}

#[test]
fn a_secret_in_a_body_a_header_or_a_signature_is_nowhere() {
    let canary = SECRET;
    let world = World::new(HOOK);
    let intake = world.start();
    let body = format!(r#"{{"n": "leak {canary}"}}"#);
    let task = task_of(&send(&intake, &signed(&body, &[("X-GitHub-Delivery", canary)])));
    let mut wrong = signed(&body, &[]);
    wrong.headers[0].1 = canary.to_owned();
    assert_eq!(send(&intake, &wrong), Answer::Unsigned);
    send(&intake, &signed(&format!(r#"{{"m": "{canary}"}}"#), &[("Idempotency-Key", canary)]));
    drop(intake);
    let view = world.tasks().into_iter().find(|view| view.id == task).unwrap();
    assert!(view.goal.starts_with("Do leak [") && !view.goal.contains(canary), "{}", view.goal);
    for entry in walk(&world.places().data) {
        let bytes = fs::read(&entry).unwrap();
        assert!(!bytes.windows(canary.len()).any(|part| part == canary.as_bytes()), "{}", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}
