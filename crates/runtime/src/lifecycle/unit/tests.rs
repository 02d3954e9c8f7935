//! Units as they are written, found and taken away.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::*;
use crate::places::Places;
use crate::system::Settings;

struct Home {
    folder: tempfile::TempDir,
    variables: BTreeMap<OsString, OsString>,
}

impl Home {
    fn new(more: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut variables = BTreeMap::from([
            ("HOME".into(), folder.path().as_os_str().to_owned()),
            ("PATH".into(), "/opt/tools 100%/bin:/usr/bin".into()),
            ("ANTHROPIC_API_KEY".into(), "sk-ant-canary-0123456789abcdef".into()),
        ]);
        variables.extend(more.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        Self { folder, variables }
    }

    fn system(&self) -> System {
        System::new(Settings {
            places: Places::under(&self.folder.path().join("lh")),
            variables: self.variables.clone(),
            directory: self.folder.path().into(),
            flags: Vec::new(),
        })
    }

    fn unit(&self, program: &str) -> UnitFile {
        self.system().unit_file(Path::new(program), Manager::Systemd).unwrap()
    }
}

/// Reads a unit as strictly as it can be: sections, and `Name=value` lines that each stand once in theirs.
fn parsed(text: &str) -> BTreeMap<(String, String), Vec<String>> {
    let (mut section, mut found) = (String::new(), BTreeMap::<_, Vec<String>>::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
            continue;
        }
        let (name, value) = line.split_once('=').unwrap_or_else(|| panic!("`{line}` is no setting"));
        assert!(name.chars().all(char::is_alphanumeric), "{line}");
        found.entry((section.clone(), name.to_owned())).or_default().push(value.to_owned());
    }
    for ((section, name), values) in &found {
        assert!(values.len() == 1 || name == "Environment", "[{section}] {name} stands twice");
    }
    found
}

#[test]
fn a_unit_means_what_it_says_and_carries_no_secret() {
    let home = Home::new(&[]);
    let unit = home.unit("/opt/my tools/100%/$x/long\"haul");
    assert_eq!(unit.name, "longhaul.service");
    assert!(unit.path.ends_with(".config/systemd/user/longhaul.service"));
    let settings = parsed(&unit.text);
    let one = |section: &str, name: &str| settings[&(section.to_owned(), name.to_owned())][0].clone();
    assert_eq!(one("Service", "ExecStart"), r#""/opt/my tools/100%%/$$x/long\"haul" daemon run"#);
    assert_eq!(one("Service", "Environment"), r#""PATH=/opt/tools 100%%/bin:/usr/bin""#);
    assert_eq!((one("Service", "Type"), one("Service", "KillMode")), ("notify".into(), "process".into()));
    assert!(!unit.text.contains("canary") && !unit.text.contains("ANTHROPIC"), "{}", unit.text);
    for taken in ["PrivateUsers", "RestrictNamespaces", "ProtectProc", "PrivateTmp", "SystemCallFilter"] {
        assert!(!unit.text.contains(taken), "{taken} takes namespaces away");
    }
}

#[test]
fn another_installation_has_a_unit_of_its_own() {
    let name = |home: &str| Home::new(&[("LONGHAUL_HOME", home)]).unit("/bin/longhaul").name;
    assert_ne!(name("/a"), name("/b"));
    assert!(name("/a").starts_with("longhaul-"));
}

#[test]
fn what_could_not_mean_itself_or_tells_a_secret_is_refused() {
    let refused =
        |home: &Home| home.system().unit_file(Path::new("/bin/longhaul"), Manager::Systemd).unwrap_err();
    let broken = Home::new(&[("PATH", "/bin\nExecStartPre=/bin/evil")]);
    assert!(refused(&broken).to_string().contains("control character"));
    let secret = Home::new(&[("PATH", "/bin:/sk-ant-canary-0123456789abcdef")]);
    let message = refused(&secret).to_string();
    assert!(message.contains("there is a secret in it") && !message.contains("canary"), "{message}");
}

#[test]
fn what_a_person_edited_is_never_written_over_unless_told() {
    let home = Home::new(&[]);
    let (system, unit) = (home.system(), home.unit("/bin/longhaul"));
    let write = |unit: &UnitFile, edited| system.write_unit(unit, edited);
    assert_eq!(write(&unit, Edited::Kept).unwrap(), Written::New);
    assert_eq!(write(&unit, Edited::Kept).unwrap(), Written::Unchanged);
    let moved = home.unit("/usr/local/bin/longhaul");
    assert_eq!(write(&moved, Edited::Kept).unwrap(), Written::Updated, "we wrote what was there");
    assert_eq!(system.unit_state(Path::new("/bin/longhaul")).unwrap().0, UnitState::Outdated);
    let mine = fs::read_to_string(&unit.path).unwrap() + "Nice=5\n";
    fs::write(&unit.path, &mine).unwrap();
    assert!(
        write(&unit, Edited::Kept).is_err() && system.remove_unit(Manager::Systemd, Edited::Kept).is_err()
    );
    assert_eq!(fs::read_to_string(&unit.path).unwrap(), mine);
    assert_eq!(system.unit_state(Path::new("/bin/longhaul")).unwrap().0, UnitState::Edited);
    assert_eq!(write(&unit, Edited::WrittenOver).unwrap(), Written::Updated);
    assert!(system.remove_unit(Manager::Systemd, Edited::Kept).unwrap().is_some());
    assert_eq!(system.remove_unit(Manager::Systemd, Edited::Kept).unwrap(), None);
}

#[test]
fn a_launch_agent_is_well_formed_and_carries_no_secret() {
    let home = Home::new(&[("XDG_DATA_HOME", "/a & <b>")]);
    let unit = home.system().unit_file(Path::new("/opt/<x>&y/longhaul"), Manager::Launchd).unwrap();
    assert!(unit.path.ends_with("Library/LaunchAgents/longhaul.daemon.plist"));
    assert!(unit.text.contains("<string>/opt/&lt;x&gt;&amp;y/longhaul</string>"), "{}", unit.text);
    assert!(unit.text.contains("<string>/a &amp; &lt;b&gt;</string>"));
    assert_eq!(unit.text.matches("<dict>").count(), unit.text.matches("</dict>").count());
    assert_eq!(unit.text.matches("<string>").count(), unit.text.matches("</string>").count());
    assert!(is_ours(&unit.text) && !unit.text.contains("canary"));
}
