//! `longhaul man`: the manual pages, made from the help.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_mangen::Man;
use serde::Serialize;
use serde_json::json;

use super::whole_tree;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Print the manual page, or write the pages of all commands.
///
/// To read it at once: `longhaul man | man -l -`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write one page for each command into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct PageRow {
    file: String,
}

impl Row for PageRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("FILE", self.file.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let mut tree = whole_tree();
    tree.build();
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(CliError::file("make", folder))?;
        let mut rows = Vec::new();
        write_pages(&tree, folder, &mut rows)?;
        context.output.rows(&rows)?;
    } else {
        let page = render(&Man::new(tree));
        context.output.text(&page, &json!({"page": page}))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_pages(command: &clap::Command, folder: &Path, rows: &mut Vec<PageRow>) -> Result<(), CliError> {
    let man = Man::new(command.clone());
    let path = folder.join(man.get_filename());
    fs::write(&path, render(&man)).map_err(CliError::file("write", &path))?;
    rows.push(PageRow { file: path.display().to_string() });
    let mut shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    shown.try_for_each(|below| write_pages(below, folder, rows))
}

fn render(man: &Man) -> String {
    let mut page = Vec::new();
    man.render(&mut page).expect("writing to memory does not fail");
    String::from_utf8_lossy(&page).into_owned()
}
