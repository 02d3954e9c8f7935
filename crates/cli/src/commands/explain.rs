//! `longhaul explain`: the page of an error code, without network and at three in the morning.

use std::process::ExitCode;

use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Explain an error code, or list all codes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The code, such as `E0102`.
    code: Option<String>,
}

/// A page of `docs/errors/`.
#[derive(Debug)]
struct Page {
    code: &'static str,
    text: &'static str,
}

// Written as names, not as texts: `tidy error-codes` takes a code in a text for one that the product uses.
macro_rules! pages {
    ($($code:ident)*) => {
        &[$(Page {
            code: stringify!($code),
            text: include_str!(concat!("../../../../docs/errors/", stringify!($code), ".md")),
        }),*]
    };
}

const PAGES: &[Page] = pages![
    E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 E0110 E0112 E0113 E0199
    E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 E0209 E0210 E0220 E0230 E0251 E0252 E0253 E0261 E0262
    E0270 E0271
    E0301 E0302 E0303 E0304 E0305
    E0401 E0402
    E0501
    E0601 E0602 E0603 E0610 E0611 E0612 E0613 E0614 E0615 E0621 E0622
    E0701 E0702 E0703 E0704 E0705 E0706
    E0801 E0802 E0803
    E0901 E0910 E0911 E0912 E0920 E0950 E0951 E0952 E0953
];

impl Page {
    fn title(&self) -> &'static str {
        let heading = self.text.lines().next().unwrap_or_default();
        heading.split_once(": ").map_or(heading, |(_, title)| title)
    }
}

#[derive(Debug, Serialize)]
struct PageRow {
    code: &'static str,
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'static str>,
}

impl Row for PageRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("CODE", self.code.to_owned()), ("TITLE", self.title.to_owned())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let Some(wanted) = &args.code else {
        let row = |page: &Page| PageRow { code: page.code, title: page.title(), text: None };
        let rows: Vec<PageRow> = PAGES.iter().map(row).collect();
        context.output.rows(&rows)?;
        return Ok(ExitCode::SUCCESS);
    };
    let page = PAGES.iter().find(|page| page.code.eq_ignore_ascii_case(wanted));
    let page = page.ok_or_else(|| CliError::UnknownCode(wanted.clone()))?;
    let row = PageRow { code: page.code, title: page.title(), text: Some(page.text) };
    context.output.text(page.text, &row)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_page_is_in_the_binary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let pages: BTreeSet<String> = PAGES.iter().map(|page| format!("{}.md", page.code)).collect();
        assert_eq!(pages, files);
    }
}
