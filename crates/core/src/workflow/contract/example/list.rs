//! Lists: as long as they must be, and one entry where none is asked for.

use serde_json::{Map, Value, json};

use super::{Maker, SHOWN_LEVELS, count, weight};

/// Longer lists than this are the author's to write.
const MOST_ENTRIES: usize = 1000;
/// How many kinds of entry are tried.
const MOST_FILLERS: usize = 6;

impl Maker<'_> {
    pub(super) fn lists(&self, schema: &Map<String, Value>, level: usize) -> Vec<Value> {
        let least = count(schema, "minItems").unwrap_or(0);
        let most = count(schema, "maxItems").unwrap_or(MOST_ENTRIES);
        if least > MOST_ENTRIES || least > most {
            return Vec::new();
        }
        let start = self.start(schema, level);
        let shown = usize::from(level < SHOWN_LEVELS && start.is_empty());
        let length = least.max(start.len()).max(shown).min(most);
        let rest = json!(true);
        let rest = schema.get("items").filter(|items| !items.is_array()).unwrap_or(&rest);

        let mut lists = Vec::new();
        let fillers = if length > start.len() { self.guesses(rest, level + 1) } else { vec![Value::Null] };
        for first in 0..fillers.len().min(MOST_FILLERS) {
            let unique = schema.get("uniqueItems") == Some(&json!(true));
            let list = Filling { start: &start, fillers: &fillers[first..], length, unique };
            lists.extend(self.fill(&list));
        }
        if least == 0 {
            lists.push(json!([]));
        }
        lists
    }

    /// Entries that have a place of their own, or that the list must contain.
    fn start(&self, schema: &Map<String, Value>, level: usize) -> Vec<Value> {
        let places =
            schema.get("prefixItems").or_else(|| schema.get("items").filter(|items| items.is_array()));
        let places = places.and_then(Value::as_array).into_iter().flatten();
        let mut start: Vec<_> =
            places.map_while(|place| self.guesses(place, level + 1).into_iter().next()).collect();
        if let Some(contained) = schema.get("contains") {
            let times = count(schema, "minContains").unwrap_or(1).min(MOST_ENTRIES);
            if let Some(entry) = self.guesses(contained, level + 1).into_iter().next() {
                start.extend(std::iter::repeat_n(entry, times));
            }
        }
        start
    }

    fn fill(&self, filling: &Filling<'_>) -> Option<Value> {
        let mut list: Vec<Value> = filling.start.iter().take(filling.length).cloned().collect();
        let mut fillers = filling.fillers.iter().cycle();
        let mut turn = 0;
        while list.len() < filling.length {
            if turn > filling.length * 4 + 16 {
                return None;
            }
            let base = fillers.next()?;
            self.spend(weight(base))?;
            let entry =
                if filling.unique { varied(base, turn / filling.fillers.len()) } else { base.clone() };
            turn += 1;
            if !filling.unique || !list.contains(&entry) {
                list.push(entry);
            }
        }
        Some(Value::Array(list))
    }
}

struct Filling<'a> {
    start: &'a [Value],
    fillers: &'a [Value],
    length: usize,
    unique: bool,
}

/// The same kind of entry once more, but another one.
fn varied(base: &Value, turn: usize) -> Value {
    if turn == 0 {
        return base.clone();
    }
    match base {
        Value::String(text) => json!(format!("{text}{turn}")),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!(whole.saturating_add(i64::try_from(turn).unwrap_or(i64::MAX))),
            None => base.clone(),
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => base.clone(),
    }
}
