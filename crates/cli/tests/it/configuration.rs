//! Settings, and where each comes from.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, program, shows};

#[test]
fn each_setting_names_its_origin() {
    let home = Home::new();
    shows!(home.longhaul(&["config", "show"]), @r"
        exit 0
        --- stdout
        KEY                          VALUE                       ABOUT
        agents.default                                           who is asked where nobody else is named: an agent of `agent list`, or `PROVIDER/MODEL`
        agents.tiers.light                                       who is asked for light work, and with commas who instead if that one cannot be
        agents.tiers.standard                                    the same for usual work
        agents.tiers.heavy                                       the same for hard work
        bindings                                                 the routine or workflow for each slot of WorkRail workflows, as `slot=id,slot=id`
        budget.session.tokens        400k                        how many tokens a session may use, in and out
        budget.session.time          60m                         how long a session may be at work; what waits for a person uses no time
        budget.session.money         5usd                        what a session may cost
        budget.session.turns         200                         how many turns a session may ask for
        budget.task.money            20usd                       what a session and all that it leads to may cost
        budget.day.money             100usd                      what all sessions of a day (UTC) may cost
        checkout.ports               0                           how many free ports a worktree gets, as `LONGHAUL_PORT_1` and so on
        daemon.listen                [version].1:0                 where the daemon takes requests; port 0 is any that is free, `off` none
        identity.coauthor            true                        whether commits of a delivery name the agent as co-author
        identity.email                                           whose address a delivery commits with; without one, that of git
        identity.name                                            whose name a delivery commits with; without one, that of git
        identity.sign                inherit                     whether a delivery signs its commit: `inherit` (as git is told to), `always` or `never`
        pipeline.default             lh.pipeline.feature         the workflow that `longhaul run GOAL` follows
        pipeline.mode                autonomous                  whether the daemon starts a task as soon as it may (`autonomous`) or when all that is required is there (`governed`)
        pipeline.require                                         what a governed task needs before it starts, as `spec@item=7d,docs/adr.md@workspace=3d`
        policy.intent_gate           vague                       when a person looks at the intent before anything is written: `always`, `vague` or `never`
        policy.merge.auto            low                         the risks whose changes may merge without asking anybody: some of `low,medium,high`
        policy.merge.freshness       disjoint                    when a proof outlives a moved base: `strict` (never) or `disjoint` (no file is shared)
        policy.merge.method          squash                      how changes are merged: `squash`, `merge` or `rebase`
        policy.merge.never                                       paths that never merge by themselves, as `db/**,ops/*.tf`
        policy.review.families       correctness,tests,security  what reviews look for: some of `correctness,tests,security,architecture`
        policy.review.fix_attempts   3                           how often findings are fixed before a person is asked
        queue.concurrency.agent                                  how many tasks an agent may do at once, as `claude=2,codex=1`
        queue.concurrency.global     4                           how many tasks of the queue may run at once
        queue.concurrency.pipeline                               how many tasks may follow a pipeline at once, as `lh.pipeline.audit=1`
        queue.concurrency.workspace  2                           how many tasks may run at once in one workspace
        queue.starts_per_minute      10                          how many tasks a minute may begin to ask a provider: a number, or `anthropic=4,others=10`
        queue.unknown_scope          run                         what becomes of a task that does not say which files it touches: `run` or `serialise`
        retention.blobs              90d                         how long `gc` keeps the large contents of closed sessions
        retention.disk               20G                         above this size of the data directory `doctor` and `gc` warn
        sandbox.accept_reduced       false                       whether level `reduced` will do where level `full` does not work
        sandbox.caches                                           folders in the home that agents may change too, as `~/.cargo/registry,~/.npm`
        sandbox.hosts                                            hosts that are let through, as `docs.example.com,*.example.org:8443`
        sandbox.level                full                        how strong the walls around an agent are: `full`, `reduced` or `none`
        sandbox.network              allow-list                  what an agent reaches: `none`, `allow-list` (the hosts that are let through) or `open`
        --- stderr
    ");
    home.repository("shop");
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
    let here = || home.run(&["config", "show", "--origin"]).inside("shop").go();
    assert!(!here().stdout.contains("7d"), "untrusted settings do not count");
    home.trust("shop");
    shows!(here(), @r"
        exit 0
        --- stdout
        KEY                          VALUE                       ORIGIN
        agents.default                                           default
        agents.tiers.light                                       default
        agents.tiers.standard                                    default
        agents.tiers.heavy                                       default
        bindings                                                 default
        budget.session.tokens        400k                        default
        budget.session.time          60m                         default
        budget.session.money         5usd                        default
        budget.session.turns         200                         default
        budget.task.money            20usd                       default
        budget.day.money             100usd                      default
        checkout.ports               0                           default
        daemon.listen                [version].1:0                 default
        identity.coauthor            true                        default
        identity.email                                           default
        identity.name                                            default
        identity.sign                inherit                     default
        pipeline.default             lh.pipeline.feature         default
        pipeline.mode                autonomous                  default
        pipeline.require                                         default
        policy.intent_gate           vague                       default
        policy.merge.auto            low                         default
        policy.merge.freshness       disjoint                    default
        policy.merge.method          squash                      default
        policy.merge.never                                       default
        policy.review.families       correctness,tests,security  default
        policy.review.fix_attempts   3                           default
        queue.concurrency.agent                                  default
        queue.concurrency.global     4                           default
        queue.concurrency.pipeline                               default
        queue.concurrency.workspace  2                           default
        queue.starts_per_minute      10                          default
        queue.unknown_scope          run                         default
        retention.blobs              7d                          [HOME]/shop/.longhaul/config.yml:2
        retention.disk               20G                         default
        sandbox.accept_reduced       false                       default
        sandbox.caches                                           default
        sandbox.hosts                                            default
        sandbox.level                full                        default
        sandbox.network              allow-list                  default
        --- stderr
    ");
    fs::create_dir_all(home.join("home/config")).unwrap();
    fs::write(home.join("home/config/config.yml"), "# mine\nretention:\n  blobs: 30d\n").unwrap();
    let run = home.run(&["config", "show", "--origin"]).inside("shop");
    shows!(run.variable("LONGHAUL_RETENTION_DISK", "5G").go(), @r"
        exit 0
        --- stdout
        KEY                          VALUE                       ORIGIN
        agents.default                                           default
        agents.tiers.light                                       default
        agents.tiers.standard                                    default
        agents.tiers.heavy                                       default
        bindings                                                 default
        budget.session.tokens        400k                        default
        budget.session.time          60m                         default
        budget.session.money         5usd                        default
        budget.session.turns         200                         default
        budget.task.money            20usd                       default
        budget.day.money             100usd                      default
        checkout.ports               0                           default
        daemon.listen                [version].1:0                 default
        identity.coauthor            true                        default
        identity.email                                           default
        identity.name                                            default
        identity.sign                inherit                     default
        pipeline.default             lh.pipeline.feature         default
        pipeline.mode                autonomous                  default
        pipeline.require                                         default
        policy.intent_gate           vague                       default
        policy.merge.auto            low                         default
        policy.merge.freshness       disjoint                    default
        policy.merge.method          squash                      default
        policy.merge.never                                       default
        policy.review.families       correctness,tests,security  default
        policy.review.fix_attempts   3                           default
        queue.concurrency.agent                                  default
        queue.concurrency.global     4                           default
        queue.concurrency.pipeline                               default
        queue.concurrency.workspace  2                           default
        queue.starts_per_minute      10                          default
        queue.unknown_scope          run                         default
        retention.blobs              30d                         [HOME]/home/config/config.yml:3
        retention.disk               5G                          $LONGHAUL_RETENTION_DISK
        sandbox.accept_reduced       false                       default
        sandbox.caches                                           default
        sandbox.hosts                                            default
        sandbox.level                full                        default
        sandbox.network              allow-list                  default
        --- stderr
    ");
    shows!(home.longhaul(&["config", "show", "--origin", "--json", "-c", "retention.blobs=1d"]), @r#"
        exit 0
        --- stdout
        {"key":"agents.default","value":"","origin":"default","about":"who is asked where nobody else is named: an agent of `agent list`, or `PROVIDER/MODEL`"}
        {"key":"agents.tiers.light","value":"","origin":"default","about":"who is asked for light work, and with commas who instead if that one cannot be"}
        {"key":"agents.tiers.standard","value":"","origin":"default","about":"the same for usual work"}
        {"key":"agents.tiers.heavy","value":"","origin":"default","about":"the same for hard work"}
        {"key":"bindings","value":"","origin":"default","about":"the routine or workflow for each slot of WorkRail workflows, as `slot=id,slot=id`"}
        {"key":"budget.session.tokens","value":"400k","origin":"default","about":"how many tokens a session may use, in and out"}
        {"key":"budget.session.time","value":"60m","origin":"default","about":"how long a session may be at work; what waits for a person uses no time"}
        {"key":"budget.session.money","value":"5usd","origin":"default","about":"what a session may cost"}
        {"key":"budget.session.turns","value":"200","origin":"default","about":"how many turns a session may ask for"}
        {"key":"budget.task.money","value":"20usd","origin":"default","about":"what a session and all that it leads to may cost"}
        {"key":"budget.day.money","value":"100usd","origin":"default","about":"what all sessions of a day (UTC) may cost"}
        {"key":"checkout.ports","value":"0","origin":"default","about":"how many free ports a worktree gets, as `LONGHAUL_PORT_1` and so on"}
        {"key":"daemon.listen","value":"[version].1:0","origin":"default","about":"where the daemon takes requests; port 0 is any that is free, `off` none"}
        {"key":"identity.coauthor","value":"true","origin":"default","about":"whether commits of a delivery name the agent as co-author"}
        {"key":"identity.email","value":"","origin":"default","about":"whose address a delivery commits with; without one, that of git"}
        {"key":"identity.name","value":"","origin":"default","about":"whose name a delivery commits with; without one, that of git"}
        {"key":"identity.sign","value":"inherit","origin":"default","about":"whether a delivery signs its commit: `inherit` (as git is told to), `always` or `never`"}
        {"key":"pipeline.default","value":"lh.pipeline.feature","origin":"default","about":"the workflow that `longhaul run GOAL` follows"}
        {"key":"pipeline.mode","value":"autonomous","origin":"default","about":"whether the daemon starts a task as soon as it may (`autonomous`) or when all that is required is there (`governed`)"}
        {"key":"pipeline.require","value":"","origin":"default","about":"what a governed task needs before it starts, as `spec@item=7d,docs/adr.md@workspace=3d`"}
        {"key":"policy.intent_gate","value":"vague","origin":"default","about":"when a person looks at the intent before anything is written: `always`, `vague` or `never`"}
        {"key":"policy.merge.auto","value":"low","origin":"default","about":"the risks whose changes may merge without asking anybody: some of `low,medium,high`"}
        {"key":"policy.merge.freshness","value":"disjoint","origin":"default","about":"when a proof outlives a moved base: `strict` (never) or `disjoint` (no file is shared)"}
        {"key":"policy.merge.method","value":"squash","origin":"default","about":"how changes are merged: `squash`, `merge` or `rebase`"}
        {"key":"policy.merge.never","value":"","origin":"default","about":"paths that never merge by themselves, as `db/**,ops/*.tf`"}
        {"key":"policy.review.families","value":"correctness,tests,security","origin":"default","about":"what reviews look for: some of `correctness,tests,security,architecture`"}
        {"key":"policy.review.fix_attempts","value":"3","origin":"default","about":"how often findings are fixed before a person is asked"}
        {"key":"queue.concurrency.agent","value":"","origin":"default","about":"how many tasks an agent may do at once, as `claude=2,codex=1`"}
        {"key":"queue.concurrency.global","value":"4","origin":"default","about":"how many tasks of the queue may run at once"}
        {"key":"queue.concurrency.pipeline","value":"","origin":"default","about":"how many tasks may follow a pipeline at once, as `lh.pipeline.audit=1`"}
        {"key":"queue.concurrency.workspace","value":"2","origin":"default","about":"how many tasks may run at once in one workspace"}
        {"key":"queue.starts_per_minute","value":"10","origin":"default","about":"how many tasks a minute may begin to ask a provider: a number, or `anthropic=4,others=10`"}
        {"key":"queue.unknown_scope","value":"run","origin":"default","about":"what becomes of a task that does not say which files it touches: `run` or `serialise`"}
        {"key":"retention.blobs","value":"1d","origin":"--config","about":"how long `gc` keeps the large contents of closed sessions"}
        {"key":"retention.disk","value":"20G","origin":"default","about":"above this size of the data directory `doctor` and `gc` warn"}
        {"key":"sandbox.accept_reduced","value":"false","origin":"default","about":"whether level `reduced` will do where level `full` does not work"}
        {"key":"sandbox.caches","value":"","origin":"default","about":"folders in the home that agents may change too, as `~/.cargo/registry,~/.npm`"}
        {"key":"sandbox.hosts","value":"","origin":"default","about":"hosts that are let through, as `docs.example.com,*.example.org:8443`"}
        {"key":"sandbox.level","value":"full","origin":"default","about":"how strong the walls around an agent are: `full`, `reduced` or `none`"}
        {"key":"sandbox.network","value":"allow-list","origin":"default","about":"what an agent reaches: `none`, `allow-list` (the hosts that are let through) or `open`"}
        --- stderr
    "#);
}

#[test]
fn settings_on_both_sides_of_the_command_are_refused_and_not_lost() {
    let home = Home::new();
    shows!(home.longhaul(&["-c", "retention.blobs=1d", "config", "show", "-c", "retention.disk=1G"]), @r"
        exit 2
        --- stdout
        --- stderr
        error: `--config` stands before and after the command, and only one place counts; write all of them in one
    ");
    for arguments in [
        ["config", "show", "-cretention.blobs=1d", "--config=retention.disk=1G"],
        ["-c=retention.blobs=1d", "--config=retention.disk=1G", "config", "show"],
    ] {
        let shown = home.longhaul(&arguments).succeeded().stdout;
        assert!(shown.contains("1d") && shown.contains("1G"), "{shown}");
    }
}

#[test]
fn a_wrong_setting_is_named_with_its_place() {
    let home = Home::new();
    shows!(home.longhaul(&["-c", "retention.blobs=soon", "config", "show"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0401]: --config sets `retention.blobs`: `soon` is not a duration; write a whole number and a unit, such as `90s`, `10m`, `3d`
        hint: longhaul explain E0401
    ");
    fs::create_dir_all(home.join("home/config")).unwrap();
    fs::write(home.join("home/config/config.yml"), "retention:\n  blob: 30d\n").unwrap();
    shows!(home.longhaul(&["config", "show"]), @r"
        exit 2
        --- stdout
        --- stderr
        error[E0401]: `[HOME]/home/config/config.yml` is not a valid configuration file
          error: line 2 column 3: unknown field `blob`, expected one of blobs, disk
           --> <input>:2:3
            |
          1 | retention:
          2 |   blob: 30d
            |   ^ unknown field `blob`, expected one of blobs, disk
        hint: longhaul explain E0401
    ");
    shows!(home.longhaul(&["doctor"]), @r"
        exit 4
        --- stdout
        STATUS   SUBJECT         FINDING
        ok       git             [version]
        ok       data directory  `[HOME]/home/data`, not made yet
        ok       secrets         kept out of everything that is stored
        problem  configuration   `[HOME]/home/config/config.yml` is not a valid configuration file: error: line 2 column 3: unknown field `blob`, expected one of blobs, disk
          remedy: see `longhaul explain E0401`
        ok       agents          none is set up for `longhaul run`; `longhaul agent check` says how to get one
        ok       database        not made yet; the first command that writes makes it
        --- stderr
        1 problem, 0 warnings
    ");
}

#[test]
fn a_secrets_file_that_others_may_read_stops_what_writes() {
    let home = Home::new();
    home.repository("shop");
    let secrets = home.join("home/config/secrets.json");
    fs::create_dir_all(secrets.parent().unwrap()).unwrap();
    fs::write(&secrets, r#"{"FORGE": "sing-little-bird"}"#).unwrap();
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o644)).unwrap();
    shows!(home.longhaul(&["workspace", "add", "shop"]), @r"
        exit 4
        --- stdout
        --- stderr
        error[E0402]: others may read `[HOME]/home/config/secrets.json`; run `chmod 600` on it
        hint: longhaul explain E0402
    ");
    let doctor = home.longhaul(&["doctor"]);
    assert!(doctor.code == Some(4) && doctor.stdout.contains("problem  secrets"), "{doctor}");
    let told = home.longhaul(&["-v", "workspace", "list"]).succeeded();
    assert!(told.stderr.starts_with("not logging: others may read"), "{told}");
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o600)).unwrap();
    home.longhaul(&["workspace", "add", "shop"]).succeeded();
}

#[test]
fn what_is_no_file_is_named_and_nobody_waits_for_it() {
    for (name, code) in [("config.yml", None), ("secrets.json", Some("E0402"))] {
        let home = Home::new();
        let folder = home.longhaul_home().join("config");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        let pipe = || assert!(program("mkfifo").arg(&path).status().unwrap().success());
        let directory = || fs::create_dir(&path).unwrap();
        let device = || std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        for make in [&pipe as &dyn Fn(), &directory, &device] {
            make();
            let verb: &[&str] = if code.is_some() { &["log", "import", "-"] } else { &["config", "show"] };
            let refused = home.longhaul(verb);
            assert_eq!(refused.code, Some(4), "{refused}");
            assert!(
                refused.stderr.contains(&format!("config/{name}` is not a file; put a file there")),
                "{refused}"
            );
            assert!(code.is_none_or(|code| refused.stderr.contains(code)), "{refused}");
            let doctor = home.longhaul(&["doctor"]);
            assert_eq!(doctor.code, Some(4));
            assert!(doctor.stdout.contains(&format!("config/{name}` is not a file")), "{doctor}");
            if path.is_dir() { fs::remove_dir(&path).unwrap() } else { fs::remove_file(&path).unwrap() }
        }
    }
}
