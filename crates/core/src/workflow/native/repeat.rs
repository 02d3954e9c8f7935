//! `loop` and `todo`: steps that come again.

use super::step::Reading;
use super::{Fields, NodeValue, Reader, condition};
use crate::workflow::MOST_ITERATIONS;
use crate::workflow::fields::count_of;
use crate::workflow::prompt::Prompt;
use crate::workflow::step::{Count, Loop, LoopOver, OnMax, Step, StepKind, Todo};

/// The most rounds of a loop over a list, unless it says otherwise.
const DEFAULT_MOST_ITEMS: u64 = 1000;
const ON_MAX: &[(&str, OnMax)] =
    &[("continue", OnMax::Continue), ("park", OnMax::Park), ("fail", OnMax::Fail)];
const FORMS: [&str; 5] = ["while", "until", "for", "forEach", "control"];

/// A loop or list around the step that is being read.
#[derive(Debug, Clone)]
pub(super) struct Around {
    pub id: String,
    ends: Ends,
}

/// What ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    ByItself,
    /// A control artifact, which must come.
    ByArtifact,
    /// The end of its list, or a control artifact before.
    EarlyByArtifact,
}

impl Around {
    /// Whether a control artifact decides about it.
    pub(super) fn listens(&self) -> bool {
        self.ends != Ends::ByItself
    }

    /// Whether the artifact has to come.
    pub(super) fn must_decide(&self) -> bool {
        self.ends == Ends::ByArtifact
    }
}

impl Reader<'_> {
    pub(super) fn loop_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let Reading { fields, id, level, .. } = reading;
        let mut map = fields.map("loop")?;
        let over = self.over(&mut map, id);
        let max = self.most(&mut map, over.as_ref());
        let on_max = map.choice("on_max", ON_MAX).unwrap_or(OnMax::Park);
        let iteration_var =
            self.engine_var_under(&mut map, "iteration").unwrap_or_else(|| "iteration".to_owned());
        self.engine_var(&iteration_var);
        map.finish();
        let by_artifact = matches!(over, Some(LoopOver::Control { .. }));
        let ends = if by_artifact { Ends::ByArtifact } else { Ends::ByItself };
        let steps = self.body(fields, Around { id: id.to_owned(), ends }, *level);
        if by_artifact && !steps.is_empty() && !has_control(&steps, id) {
            self.findings.error(
                &self.places.of_step(id),
                format!("no step of the loop `{id}` can end it"),
                "give the step that decides `output: loop_control`",
            );
        }
        Some(StepKind::Loop(Loop { over: over?, max: max?, on_max, iteration_var, steps }))
    }

    pub(super) fn todo_step(&mut self, reading: &mut Reading<'_, '_>) -> Option<StepKind> {
        let Reading { fields, id, level, .. } = reading;
        let list = fields.required("todo").and_then(|node| condition::path_of(node, "`todo`", self.findings));
        let may_stop = fields.flag("may_stop").unwrap_or_default();
        let (item_var, index_var) = self.item_vars(fields);
        let max = self.bounded(fields).unwrap_or(DEFAULT_MOST_ITEMS);
        let ends = if may_stop { Ends::EarlyByArtifact } else { Ends::ByItself };
        let steps = self.body(fields, Around { id: id.to_owned(), ends }, *level);
        if may_stop && !steps.is_empty() && !has_control(&steps, id) {
            self.findings.warning(
                &self.places.of_step(id),
                format!("`{id}` may stop early, but no step of it can say so"),
                "give the step that decides `output: loop_control`, or take `may_stop` out",
            );
        }
        Some(StepKind::Todo(Todo { list: list?, item_var, index_var, max, may_stop, steps }))
    }

    fn body(&mut self, fields: &mut Fields<'_>, around: Around, level: usize) -> Vec<Step> {
        self.around.push(around);
        let steps = fields.required("steps").map(|node| self.step_list(node, level + 1)).unwrap_or_default();
        self.around.pop();
        steps
    }

    fn over(&mut self, map: &mut Fields<'_>, id: &str) -> Option<LoopOver> {
        let mut present = FORMS.into_iter().filter(|form| map.has(form)).collect::<Vec<_>>();
        let form = present.pop();
        if form.is_none() || !present.is_empty() {
            let fix =
                "write one of `while: {…}`, `until: {…}`, `for: 5`, `forEach: list` or `control: artifact`";
            self.findings.error(map.span(), "a loop goes by exactly one thing", fix);
            return None;
        }
        match form? {
            "while" => condition::required(map, "while").map(LoopOver::While),
            "until" => condition::required(map, "until").map(LoopOver::Until),
            "for" => self.count(map),
            "forEach" => {
                let node = map.required("forEach");
                let (item_var, index_var) = self.item_vars(map);
                let list = condition::path_of(node?, "`forEach`", self.findings)?;
                Some(LoopOver::Items { list, item_var, index_var })
            }
            _ => {
                map.choice("control", &[("artifact", ())])?;
                Some(LoopOver::Control { loop_id: id.to_owned() })
            }
        }
    }

    fn count(&self, map: &mut Fields<'_>) -> Option<LoopOver> {
        let node = map.required("for")?;
        if let NodeValue::Text(_) = node.value {
            return condition::path_of(node, "`for`", self.findings)
                .map(|path| LoopOver::Count(Count::Var(path)));
        }
        count_of(node, "`for`", self.findings).map(|count| LoopOver::Count(Count::Fixed(count)))
    }

    /// `item` and `item_index`, or the names that the author chose.
    fn item_vars(&mut self, fields: &mut Fields<'_>) -> (String, String) {
        let item = self.engine_var_under(fields, "as").unwrap_or_else(|| "item".to_owned());
        let index = self.engine_var_under(fields, "index").unwrap_or_else(|| format!("{item}_index"));
        self.engine_var(&item);
        self.engine_var(&index);
        (item, index)
    }

    /// How often a loop goes round at most.
    fn most(&self, map: &mut Fields<'_>, over: Option<&LoopOver>) -> Option<u64> {
        match over {
            Some(LoopOver::Count(Count::Fixed(count))) => {
                let max = self.bounded(map).unwrap_or(*count);
                if *count > MOST_ITERATIONS {
                    let span = map.raw("for").map_or(map.span(), |node| &node.span);
                    self.too_many(span, "for");
                }
                Some(max)
            }
            Some(LoopOver::Count(Count::Var(_)) | LoopOver::Items { .. }) => {
                Some(self.bounded(map).unwrap_or(DEFAULT_MOST_ITEMS))
            }
            Some(LoopOver::While(_) | LoopOver::Until(_) | LoopOver::Control { .. }) => {
                if !map.has("max") {
                    let fix = "add `max: 10`, or how often it can still help, and `on_max: park`";
                    self.findings.error(map.span(), "a loop like this needs `max`", fix);
                    return None;
                }
                self.bounded(map)
            }
            None => self.bounded(map),
        }
    }

    fn bounded(&self, fields: &mut Fields<'_>) -> Option<u64> {
        let max = fields.count("max")?;
        if !(1..=MOST_ITERATIONS).contains(&max) {
            let span = fields.raw("max").map_or(fields.span(), |node| &node.span);
            self.too_many(span, "max");
        }
        Some(max)
    }

    fn too_many(&self, span: &std::ops::Range<usize>, key: &str) {
        let message = format!("`{key}` must lie between 1 and {MOST_ITERATIONS}");
        self.findings.error(span, message, "choose a number that no good run reaches");
    }
}

fn has_control(steps: &[Step], id: &str) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Prompt(prompt) => decides(prompt, id),
        other => has_control(other.inner(), id),
    })
}

fn decides(prompt: &Prompt, id: &str) -> bool {
    prompt.control.as_ref().is_some_and(|control| control.loop_id == id)
}
