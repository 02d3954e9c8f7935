//! `longhaul trigger add`: a trigger from a template.

use std::process::ExitCode;

use longhaul_runtime::triggers::{NewTrigger, OFFERED, Offer, TriggerPlace};
use serde::Serialize;

use crate::context::Context;
use crate::error::CliError;
use crate::output::Row;

/// Add a commented trigger from a template to `.longhaul/triggers.yml`; without a name, list the templates.
///
/// The rest of the file stays as it is, byte for byte. What is trusted there stays so only if a person runs this at a
/// terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which template.
    template: Option<String>,

    /// What to call the trigger, instead of what the template is called.
    #[arg(long, requires = "template")]
    id: Option<String>,

    /// Put it in your own file instead, for this repository.
    #[arg(long, requires = "template")]
    user: bool,
}

#[derive(Debug, Serialize)]
struct OfferRow {
    template: &'static str,
    about: &'static str,
    text: &'static str,
}

impl Row for OfferRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("TEMPLATE", self.template.to_owned()), ("ABOUT", self.about.to_owned())]
    }
}

#[derive(Debug, Serialize)]
struct AddedRow {
    id: String,
    path: String,
    trusted: Option<bool>,
    #[serde(rename = "missingSecret")]
    missing_secret: Option<String>,
}

impl Row for AddedRow {
    fn cells(&self) -> Vec<(&'static str, String)> {
        vec![("ID", self.id.clone()), ("PATH", self.path.clone())]
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<ExitCode, CliError> {
    let Some(template) = &args.template else {
        let row = |offer: &Offer| OfferRow { template: offer.name, about: offer.about, text: offer.text };
        context.output.rows(&OFFERED.iter().map(row).collect::<Vec<_>>())?;
        return Ok(ExitCode::SUCCESS);
    };
    let place = if args.user { TriggerPlace::User } else { TriggerPlace::Workspace };
    let new = NewTrigger { template, id: args.id.as_deref(), place };
    let added = context.system()?.add_trigger(&new)?;
    let (id, path) = (added.id, added.path.display().to_string());
    context.output.row(AddedRow {
        id: id.clone(),
        path: path.clone(),
        trusted: added.trusted,
        missing_secret: added.missing_secret.clone(),
    })?;
    if added.trusted == Some(false) {
        context.output.say("`.longhaul/` is not trusted as it is now, so it begins no task before a person runs `longhaul workspace trust`");
    }
    if let Some(secret) = added.missing_secret {
        context.output.say(&format!("next: longhaul secret set {secret}"));
    }
    context.output.say(&format!(
        "change it in `{path}`, then run `longhaul trigger validate` and `longhaul trigger test {id}`"
    ));
    Ok(ExitCode::SUCCESS)
}
