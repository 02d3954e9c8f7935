//! Texts as people write them, with comments everywhere: every edit works, and every other byte survives.

use proptest::prelude::*;

use super::*;

/// One entry of a file of triggers, with where it has comments and blank lines.
#[derive(Debug, Clone)]
struct Entry {
    id: String,
    style: u8,
    value: String,
    /// Above, behind and below it, and whether an empty line follows.
    extras: [bool; 4],
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = ("[a-z]{1,6}", 0..7_u8, "[a-z][a-z ]{0,8}[a-z]", any::<[bool; 4]>())
        .prop_map(|(id, style, value, extras)| Entry { id, style, value, extras });
    prop::collection::vec(entry, 1..6)
}

fn written(entries: &[Entry], indent: usize, newline: &str) -> String {
    let mut lines = vec!["# The file.".to_owned(), "triggers: # all of them".to_owned()];
    let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + 2));
    for (number, entry) in entries.iter().enumerate() {
        let Entry { id, style, value, extras: [above, behind, below, gap] } = entry;
        if *above {
            lines.push(format!("{outer}# above {number}"));
        }
        let behind = if *behind { format!("   # behind {number}") } else { String::new() };
        lines.push(format!("{outer}- id: {id}{number}{behind}"));
        lines.extend(match style {
            0 => vec![format!("{inner}v: {value}{behind}")],
            1 => vec![format!("{inner}v:   '{value}'{behind}")],
            2 => vec![format!("{inner}v: \"{value}\"")],
            3 => vec![
                format!("{inner}v: |"),
                format!("{inner}  {value}"),
                String::new(),
                format!("{inner}  more"),
            ],
            4 => vec![format!("{inner}v: >-"), format!("{inner}  {value}")],
            5 => vec![format!("{inner}v:{behind}")],
            _ => vec![format!("{inner}v: {value}"), format!("{inner}  on the next line")],
        });
        lines.push(format!("{inner}map: {{ x: {value}, y: [1, 2] }}{behind}"));
        if *below {
            lines.push(format!("{inner}# below {number}"));
        }
        if *gap {
            lines.push(String::new());
        }
    }
    lines.push("# The end.".to_owned());
    lines.push("other: 1".to_owned());
    lines.into_iter().map(|line| line + newline).collect()
}

/// All comments of a text, in their order.
fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find('#').map(|at| line[at..].trim_end())).collect()
}

/// The lines that the range of an edit touches.
fn touched(text: &str, edit: &Edit) -> Range<usize> {
    let start = text[..edit.range.start].rfind('\n').map_or(0, |at| at + 1);
    start..edit.range.end
}

proptest! {
    #[test]
    fn setting_a_value_keeps_every_comment(
        entries in entries(), indent in 0..5_usize, crlf: bool, which: prop::sample::Index, new in "\\PC{0,20}",
    ) {
        let text = written(&entries, indent, if crlf { "\r\n" } else { "\n" });
        let number = which.index(entries.len());
        for key in ["v", "id", "enabled"] {
            let path = [Step::Key("triggers"), Step::Index(number), Step::Key(key)];
            let edit = set(&text, &path, Scalar::Text(&new)).unwrap();
            let changed = edit.apply(&text);
            prop_assert!(!edit.with.contains("# ") || new.contains("# "));
            if !new.contains('#') {
                prop_assert_eq!(comments(&changed), comments(&text), "{}", changed);
            }
            // Nothing but the value: everything before and after stands as it did.
            prop_assert!(changed.starts_with(&text[..edit.range.start]) && changed.ends_with(&text[edit.range.end..]));
            prop_assert!(key != "enabled" || edit.range.is_empty());
        }
    }

    #[test]
    fn appending_only_adds(entries in entries(), indent in 0..5_usize, crlf: bool) {
        let text = written(&entries, indent, if crlf { "\r\n" } else { "\n" });
        let edit = append(&text, &[Step::Key("triggers")], "id: new # n\ngoal: |\n  a\n\n  b").unwrap();
        prop_assert!(edit.range.is_empty());
        let changed = edit.apply(&text);
        prop_assert_eq!(changed.contains("\r\n"), crlf);
        prop_assert!(!crlf || !changed.replace("\r\n", "").contains('\n'));
        // What belongs to the last item stays with it, and what comes after the list comes after the new item.
        let new = changed.find("id: new").unwrap();
        prop_assert!(changed.find("# The end.").unwrap() > new);
        if let Some(below) = changed.find(&format!("# below {}", entries.len() - 1)) {
            prop_assert!(below < new, "{}", changed);
        }
    }

    #[test]
    fn taking_out_keeps_all_other_lines(
        entries in entries(), indent in 0..5_usize, crlf: bool, which: prop::sample::Index,
    ) {
        let text = written(&entries, indent, if crlf { "\r\n" } else { "\n" });
        let number = which.index(entries.len());
        let (item, key) = (Step::Index(number), Step::Key("map"));
        for path in [&[Step::Key("triggers"), item, Step::Key("v")][..], &[Step::Key("triggers"), item, key], &[Step::Key("other")]] {
            let edit = remove(&text, path).unwrap();
            let lines = touched(&text, &edit);
            prop_assert_eq!(lines.start, edit.range.start, "whole lines: {:?}", edit);
            prop_assert_eq!(edit.with, "");
            let inside = &text[lines];
            prop_assert!(!inside.contains("# above") && !inside.contains("# below") && !inside.contains("# The"), "{}", inside);
        }
        if entries.len() > 1 {
            let edit = remove(&text, &[Step::Key("triggers"), item]).unwrap();
            let inside = &text[edit.range.clone()];
            prop_assert!(!inside.contains("# above") && !inside.contains("# The"), "{}", inside);
        }
    }
}
