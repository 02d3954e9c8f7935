//! The help, which is what most people read.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::support::{Home, shows};

/// The words of every command, and of every group of commands.
fn commands(home: &Home) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for row in home.longhaul(&["help", "--all", "--json"]).rows() {
        let words: Vec<&str> = row["command"].as_str().unwrap().split(' ').skip(1).collect();
        found.extend((1..=words.len()).map(|count| words[..count].join(" ")));
    }
    found
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn the_help_of_every_command_is_known() {
    let home = Home::new();
    let mut tree = home.longhaul(&["--help"]).succeeded().stdout;
    let (_, global) = tree.split_once("Global options:\n").unwrap();
    let (global, _) = global.split_once("\n`longhaul help --all`").unwrap();
    let global = words(global);
    for command in commands(&home) {
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = home.longhaul(&arguments).succeeded().stdout;
        // The same in all of them but for line breaks, so it is shown once.
        let (own, shared) = help.split_once("\nGlobal options:\n").unwrap();
        assert_eq!(words(shared), global, "{command}");
        write!(tree, "\n=== longhaul {command}\n{own}").unwrap();
    }
    insta::assert_snapshot!("tree", tree);
}

#[test]
fn every_command_is_listed_with_one_line() {
    shows!(Home::new().longhaul(&["help", "--all"]), @r"
        exit 0
        --- stdout
        COMMAND                          ABOUT
        longhaul demo                    See the whole story in under a minute: a ticket becomes a merged change with a proof
        longhaul init                    Look at this repository, write a small commented `.longhaul/config.yml`, and register it
        longhaul run                     Have an agent do a task in a worktree of its own, behind walls, and wait for it
        longhaul status                  Tell how things stand, in plain words: what waits for you, what is at work, what was done
        longhaul inbox                   See what waits for you: gates, questions, what is blocked or out of budget, results. Without a command it lists them
        longhaul inbox list              List what waits for you, the most urgent first
        longhaul inbox show              Show an entry: what it is about, what may be answered, and the commands for it
        longhaul inbox reply             Answer a question, or tell the agent of what is stuck how to go on. It opens no gate
        longhaul inbox approve           Open the gate that an entry is about. It shows what is asked; only a person at a terminal can answer
        longhaul inbox reject            Keep the gate shut that an entry is about: the session fails, or after a confirmation the step is done again with your words
        longhaul inbox done              Take entries from the list that you have seen: results, failures, questions that need no answer. Gates stay
        longhaul task list               List the tasks that are not over or that somebody has to mend, the most urgent first
        longhaul task show               Show a task: its goal, its attempts, its sessions as a tree, what it cost
        longhaul task cancel             End a task for good: all its sessions, and every process that runs for them. What was done stays, files too
        longhaul task retry              Try a task again that failed, could not be done or was cancelled: a new session, from the newest commit
        longhaul task set                Change the priority or the deadline of a task, with a because that stays on record
        longhaul task budget             Show what a task cost, or give it another cap on money; what waits for want of it goes on
        longhaul queue list              List the tasks that wait for their turn, whoever is first at the top, and say why each waits
        longhaul queue add               Put a task into the queue of this repository. The daemon starts it from the newest commit of its base when its turn comes
        longhaul queue move              Put a task that waits first or last, or back where its rank puts it
        longhaul queue pause             Have nothing new started. What runs goes on
        longhaul queue resume            Have tasks started again
        longhaul queue rm                Take a task out of the queue. It stays on record as cancelled; `longhaul task retry` puts it in again
        longhaul doctor                  Look at everything and name each problem with its remedy
        longhaul agent list              List who can be asked: agents and providers of models, how each is paid, and what is missing
        longhaul agent check             Try who can be asked: programs, keys, servers. Says what is missing and how to get it
        longhaul agent add               Add an agent or a model of your own: a small file, which is never overwritten
        longhaul agent rm                Take away an agent that you added; sessions that it does go on
        longhaul agent cost              Show tokens and money per agent, model and workflow, the dearest first
        longhaul workspace add           Register a git repository
        longhaul workspace list          List the registered repositories, and whether their `.longhaul/` is trusted
        longhaul workspace rm            Take a repository out of the registry; its files stay as they are
        longhaul workspace trust         Trust the `.longhaul/` of a repository, exactly as it is now
        longhaul workflow list           List the workflows that can be seen from here
        longhaul workflow show           Show a workflow: where it comes from, what it takes, and its steps
        longhaul workflow validate       Check workflow files, and say where they are wrong and how to put them right
        longhaul workflow preview        Show what a workflow would do, as a tree or a drawing
        longhaul workflow new            Write a commented workflow file to begin with; nothing is overwritten
        longhaul workflow schema         Print the JSON Schema of workflow files, so that an editor can complete and check them
        longhaul workflow source add     Fetch a repository of workflows; what is in its `workflows/` can then be started
        longhaul workflow source list    List the repositories of workflows that were added
        longhaul workflow source rm      Forget a repository of workflows; sessions that run keep theirs
        longhaul workflow source update  Fetch repositories of workflows again; what they have now counts from now on
        longhaul session start           Start a session: pin a workflow and show its first step
        longhaul session advance         Answer a step and show where that leads
        longhaul session show            Tell what happened in a session: steps, answers, refusals, gates, work, and what was left behind
        longhaul session list            List the sessions that are open, the one that changed last first
        longhaul session resume          Find the session to go on with, and show its step
        longhaul session checkpoint      Keep notes for a step that is not done yet, so that they outlive whoever does it
        longhaul session rewind          Take a session back to a step that it handed out before
        longhaul session continue        Ask a completed session for more: one step in the same log, with all that the session knows
        longhaul session steer           Say something to the agent that does a session; it hears it with its next turn. What was parked goes on
        longhaul session tail            Show what happens in a session as it happens: steps, turns, calls, gates. It ends when the session does
        longhaul session record          Write what the agent of a session did as a cassette, for `longhaul run --cassette`
        longhaul session replay          Do what the agent of a session did once more, in a fresh worktree from the same commit, and compare the files
        longhaul session cancel          End a session for good. What it did stays in the log
        longhaul session export          Write a session with its workflow and everything it holds, for `longhaul session import`
        longhaul session import          Take in what `longhaul session export` wrote: all of it, or nothing if any of it does not fit
        longhaul gate list               List the gates that wait, the one whose time ends first on top
        longhaul gate show               Show what a gate asks, what led to it, and what became of it
        longhaul gate approve            Open a gate. It shows what is asked; only a person at a terminal can answer
        longhaul gate reject             Keep a gate shut: the session fails, or after a confirmation the step is done again with your words
        longhaul trigger list            List the triggers of this repository and your own, and when each is due next
        longhaul trigger add             Add a commented trigger from a template to `.longhaul/triggers.yml`; without a name, list the templates
        longhaul trigger validate        Check the triggers of this repository and your own, or files, and say how to put right what is wrong
        longhaul trigger test            Show what a trigger would make of a request, condition by condition, or when it is due. Nothing is begun
        longhaul trigger fire            Have a trigger begin its task now, with or without a daemon. It waits in the queue like any other
        longhaul trigger enable          Switch a trigger on in its file, where nothing else is changed
        longhaul trigger disable         Switch a trigger off in its file, where nothing else is changed
        longhaul tell                    Say something to whoever works on a task: the agents that are at it now, and all that are started for it later
        longhaul daemon run              Serve in the foreground, until Ctrl-C or a request to end; a second one ends it at once
        longhaul daemon start            Have a daemon serve in the background. It is started when it says that it is healthy, and not before
        longhaul daemon stop             End the daemon. Its sessions stay as they are, and whoever serves next goes on with them
        longhaul daemon status           Show whether a daemon serves, since when, and how it is doing
        longhaul daemon restart          Have this `longhaul` serve in place of the one that does. Runners are not touched, and nothing is lost
        longhaul daemon install          Have the daemon start with your session: a user unit for systemd, or an agent for launchd
        longhaul daemon uninstall        Take the unit away that `longhaul daemon install` wrote. A daemon that runs goes on
        longhaul daemon openapi          Print the `OpenAPI` description of the control API. No daemon has to run
        longhaul stop                    End a session or a whole task for good, with every process that runs for it
        longhaul spawn                   Start a session that an agent does, print its id, and return at once; `longhaul await` waits for it
        longhaul await                   Wait until sessions go no further by themselves; tell how each came out, and its typed result
        longhaul proof show              Show what was checked of a task's change, criterion by criterion, and what came of it
        longhaul proof verify            Judge a proof, as JSON or as an in-toto statement: is it whole, is it about this repository, is it what this log has
        longhaul worktree info           Show what is known about a worktree: task, branch, base, phase, rules
        longhaul worktree list           List the worktrees of this repository
        longhaul worktree new            Make a worktree for a session, from the newest commit of the base branch
        longhaul worktree diff           Show what differs from the base in a worktree, untracked files among it
        longhaul worktree restore        Bring the files of a snapshot back; without one, list the snapshots
        longhaul worktree clean          Remove worktrees that are finished and merged; a dry run unless told otherwise
        longhaul forge init              Make a forge on this machine: a bare repository with issues and pull requests in it
        longhaul forge issue new         File an issue
        longhaul forge issue list        List issues, open ones unless told otherwise
        longhaul forge issue show        Show an issue with its text and comments
        longhaul forge issue close       Close an issue
        longhaul forge pr list           List pull requests, open ones unless told otherwise
        longhaul forge pr show           Show a pull request with its text, comments and reviews
        longhaul forge pr review         Approve a pull request, or ask for changes. Nobody approves their own
        longhaul artifact list           List what agents handed in
        longhaul artifact show           Show an artifact: a text as it is, all else as JSON
        longhaul artifact save           Write an artifact to a file: a text as it is, all else as JSON
        longhaul log show                Show the events of one stream, or of all in the order of commits
        longhaul log tail                Show events as they are committed, until interrupted
        longhaul log verify              Check that streams are what was written: bytes, order, and the blobs that they name
        longhaul log export              Write streams as JSON lines, with their chains and blobs, for `longhaul log import`
        longhaul log import              Take in an export: all of it, or nothing if any of it does not fit
        longhaul logs                    Show what was done while nobody looked, line by line, in the order of time
        longhaul stats                   Show per workflow how long runs take, what they use and how they come out
        longhaul gc                      Show what is no longer needed and may be thrown away; events never are
        longhaul redact                  Take a value out of everything that is stored, so that no byte of it is left
        longhaul backup                  Write the whole store to one new file, while others go on
        longhaul restore                 Put a backup in place of the store; what was there is set aside, not removed
        longhaul mcp                     Serve a coding agent over MCP: workflows one step at a time, and sessions that are never lost
        longhaul mcp install             Write Longhaul into the settings of a coding agent, for every project of yours
        longhaul sandbox check           Show what works here, and what a command in this folder could and could not do; with a command, run it so
        longhaul secret set              Keep a value under a name, readable for you alone
        longhaul secret list             List the names of the secrets; the values are never shown
        longhaul secret rm               Forget a secret. What was stored while it was known stays without it; what comes later is not searched for it
        longhaul config show             Show each setting with the value that counts here
        longhaul explain                 Explain an error code, or list all codes
        longhaul completions             Print the script that completes `longhaul` in a shell
        longhaul man                     Print the manual page, or write the pages of all commands
        longhaul help                    Show the help of a command, or with `--all` every command
        --- stderr
    ");
}

#[test]
fn the_help_of_a_hidden_command_is_found_in_every_way() {
    let home = Home::new();
    let by_verb = home.longhaul(&["help", "log", "verify"]).succeeded();
    assert_eq!(by_verb.stdout, home.longhaul(&["log", "verify", "--help"]).stdout);
    shows!(home.longhaul(&["help", "log"]), @r"
        exit 0
        --- stdout
        Look at the log, check it, and carry it to another machine

        Usage: longhaul log [OPTIONS] <COMMAND>

        Commands:
          show    Show the events of one stream, or of all in the order of commits
          tail    Show events as they are committed, until interrupted
          verify  Check that streams are what was written: bytes, order, and the blobs that they name
          export  Write streams as JSON lines, with their chains and blobs, for `longhaul log import`
          import  Take in an export: all of it, or nothing if any of it does not fit

        Options:
          -h, --help
                  Print help

        Global options:
              --json
                  Print JSON lines instead of tables, and no remarks

          -v, --verbose...
                  Tell on standard error what is done; repeat to hear more, or set
                  `LONGHAUL_LOG=longhaul_store=trace`

              --log-format <FORMAT>
                  How what `--verbose` tells is written
                  
                  [default: text]
                  [possible values: text, json]

          -c, --config <KEY=VALUE>
                  Change a setting for this call, such as `retention.blobs=30d`; may be repeated
        --- stderr
    ");
}

#[test]
fn the_version_is_one_line() {
    let home = Home::new();
    for arguments in [&["--version"][..], &["-V"], &["--json", "--version"]] {
        assert_eq!(home.longhaul(arguments).succeeded().stdout, "longhaul 0.1.0\n");
    }
}

#[test]
fn help_and_pages_need_neither_a_home_nor_a_current_folder() {
    let home = Home::new();
    for arguments in [&["help"][..], &["explain"], &["man"], &["completions", "bash"], &["--version"]] {
        let outcome = home.run(arguments).without("HOME").without("LONGHAUL_HOME").go().succeeded();
        assert!(!outcome.stdout.is_empty() && outcome.stderr.is_empty(), "{outcome}");
    }
    assert!(!home.longhaul_home().exists());
}

#[test]
fn every_error_page_can_be_read() {
    let home = Home::new();
    let codes = home.longhaul(&["explain", "--json"]).succeeded().rows();
    assert!(codes.len() > 20);
    for row in codes {
        let code = row["code"].as_str().unwrap();
        let page = home.longhaul(&["explain", &code.to_lowercase()]).succeeded().stdout;
        assert!(page.starts_with(&format!("# {code}: {}\n", row["title"].as_str().unwrap())), "{page}");
        assert!(page.contains("\n## What happened\n") && page.contains("\n## What to do\n"), "{page}");
        assert!(page.lines().count() <= 25, "{page}");
    }
}

#[test]
fn completions_know_the_verbs_that_help_hides() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = home.longhaul(&["completions", shell]).succeeded().stdout;
        assert!(script.contains("redact") && script.contains("recover"), "{shell}");
    }
}

/// By the names of their pages.
const EVERY_COMMAND: &str = "
    demo init run status inbox inbox-list inbox-show inbox-reply inbox-approve inbox-reject inbox-done task
    task-list task-show task-cancel task-retry task-set task-budget queue queue-list queue-add queue-move
    queue-pause queue-resume queue-rm doctor agent agent-list agent-check agent-add agent-rm agent-cost
    workspace workspace-add workspace-list workspace-rm workspace-trust workflow workflow-list workflow-show
    workflow-validate workflow-preview workflow-new workflow-schema workflow-source workflow-source-add
    workflow-source-list workflow-source-rm workflow-source-update session session-start session-advance
    session-show session-list session-resume session-checkpoint session-rewind session-continue session-steer
    session-tail session-record session-replay session-cancel session-export session-import gate gate-list
    gate-show gate-approve gate-reject trigger trigger-list trigger-add trigger-validate trigger-test
    trigger-fire trigger-enable trigger-disable tell daemon daemon-run daemon-start daemon-stop daemon-status
    daemon-restart daemon-install daemon-uninstall daemon-openapi stop spawn await proof proof-show
    proof-verify worktree worktree-info worktree-list worktree-new worktree-diff worktree-restore
    worktree-clean forge forge-init forge-issue forge-issue-new forge-issue-list forge-issue-show
    forge-issue-close forge-pr forge-pr-list forge-pr-show forge-pr-review artifact artifact-list
    artifact-show artifact-save log log-show log-tail log-verify log-export log-import logs stats gc redact
    backup restore mcp mcp-install sandbox sandbox-check secret secret-set secret-list secret-rm config
    config-show explain completions man help
";

#[test]
fn there_is_a_manual_page_for_every_command() {
    let home = Home::new();
    let page = home.longhaul(&["man"]).succeeded().stdout;
    assert!(page.contains(".TH longhaul 1") && page.contains("longhaul\\-redact(1)"), "{page}");
    let written = home.longhaul(&["man", "--out", "pages"]).succeeded().stdout;
    let names: Vec<&str> =
        written.lines().filter_map(|line| line.strip_prefix("pages/longhaul-")?.strip_suffix(".1")).collect();
    assert_eq!(written.lines().take(2).collect::<Vec<_>>(), ["FILE", "pages/longhaul.1"]);
    assert_eq!(written.lines().count(), names.len() + 2);
    assert_eq!(names, EVERY_COMMAND.split_whitespace().collect::<Vec<_>>());
    let shown = std::fs::read_to_string(home.join("pages/longhaul-log-show.1")).unwrap();
    assert!(shown.contains("longhaul log show"), "{shown}");
}
