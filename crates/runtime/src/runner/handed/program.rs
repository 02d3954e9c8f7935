//! The program of an agent, behind the walls of its session: it is found as a person would find it, and what it is made of
//! can be read inside.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use longhaul_acp::HandsError;
use longhaul_core::roster::Definition;
use longhaul_exec::sandbox::Sandbox;
use longhaul_exec::{Error as ExecError, Program};

use super::Bench;
use super::home::Home;
use crate::system::System;

/// The program without its arguments.
pub(super) fn of(bench: &Bench, definition: &Definition, home: &Home) -> Result<Program, HandsError> {
    let name = definition.kind.command().and_then(<[String]>::first).cloned().unwrap_or_default();
    let system = System::new(bench.settings.clone());
    let found = system
        .program(&name)
        .ok_or_else(|| HandsError::Process(ExecError::ProgramNotFound { program: name.clone().into() }))?;
    let mut sandbox = bench.sandbox.clone();
    for path in parts(&system, &found) {
        sandbox = sandbox.read_only(path);
    }
    sandbox = at_home(sandbox, definition, home);
    let program = Program::new(&found)
        .directory(&bench.checkout)
        .label(&bench.label)
        .set_variable("LONGHAUL_SESSION", bench.driven.session.to_string());
    let filled = definition.env.iter().map(|(name, value)| (name, home.filled(value)));
    let sandbox = filled.fold(sandbox, |sandbox, (name, value)| sandbox.set_variable(name, value));
    Ok(program.sandbox(sandbox))
}

/// An agent has a home of its own. One that signs in by itself has the places of the real one that it needs for that, and no
/// others.
fn at_home(mut sandbox: Sandbox, definition: &Definition, home: &Home) -> Sandbox {
    if definition.own_credentials.is_empty() {
        sandbox.home.clone_from(&home.path);
        return sandbox.writable(&home.path);
    }
    let real = sandbox.home.clone();
    for path in &definition.own_credentials {
        let path = real.join(path.trim_start_matches("~/"));
        sandbox.hidden.retain(|hidden| *hidden != path);
        if path.exists() {
            sandbox = sandbox.writable(path);
        }
    }
    sandbox
}

/// What has to be there for a program to run: itself, what it leads to, the package that it is part of, and what interprets
/// it.
fn parts(system: &System, program: &Path) -> Vec<PathBuf> {
    let mut parts = vec![program.to_owned()];
    if let Ok(real) = program.canonicalize() {
        parts.extend(package(&real));
        if let Some(interpreter) = interpreter(&real).and_then(|name| system.program(&name)) {
            parts.extend(interpreter.canonicalize());
            parts.push(interpreter);
        }
        parts.push(real);
    }
    parts
}

/// The outermost folder of packages that a file lies in.
fn package(file: &Path) -> Option<PathBuf> {
    let folders: Vec<&Path> = file.ancestors().skip(1).collect();
    let is_packages = |folder: &&&Path| folder.file_name().is_some_and(|name| name == "node_modules");
    folders.iter().rev().find(is_packages).map(|folder| (*folder).to_owned())
}

/// The name that `#!/usr/bin/env NAME` asks for.
fn interpreter(file: &Path) -> Option<String> {
    let mut beginning = [0; 256];
    let length = fs::File::open(file).ok()?.read(&mut beginning).ok()?;
    let text = String::from_utf8_lossy(&beginning[..length]).into_owned();
    let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(first.to_owned());
    }
    words.find(|word| !word.starts_with('-')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_the_outermost_folder_of_packages() {
        let file = Path::new("/opt/x/node_modules/a/node_modules/b/index.js");
        assert_eq!(package(file), Some(PathBuf::from("/opt/x/node_modules")));
        assert_eq!(package(Path::new("/usr/bin/agent")), None);
    }

    #[test]
    fn what_interprets_a_script_is_found_by_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let script = |text: &str| {
            let path = folder.path().join("script");
            fs::write(&path, text).unwrap();
            interpreter(&path)
        };
        assert_eq!(script("#!/usr/bin/env node\nx"), Some("node".to_owned()));
        assert_eq!(script("#!/usr/bin/env -S node --x\n"), Some("node".to_owned()));
        assert_eq!(script("#!/bin/sh\n"), Some("/bin/sh".to_owned()));
        assert_eq!(script("\u{7f}ELF"), None);
    }
}
