//! A repository's own template for pull requests, filled in: its headings and its hints stay, our words go under those
//! that fit, and what fits nowhere stands at the end.

/// Where such a template may be, in the order in which it is looked for.
pub const PLACES: [&str; 6] = [
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "docs/PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
];

/// What a heading may be about, and words by which it is recognised.
const SUMMARY: [&str; 8] =
    ["summary", "description", "what", "change", "why", "motivation", "overview", "about"];
const TESTING: [&str; 6] = ["test", "verif", "proof", "how has this been", "check", "quality"];

/// Fills a template with two sections.
pub fn filled(template: &str, summary: &str, testing: &str) -> String {
    let mut lines: Vec<String> = template.lines().map(str::to_owned).collect();
    let mut left = Vec::new();
    let mut taken = None;
    for (words, title, text) in
        [(&SUMMARY[..], "Summary", summary), (&TESTING[..], "How it was checked", testing)]
    {
        match place(&lines, words).filter(|line| Some(*line) != taken) {
            Some(line) => {
                lines.insert(line + 1, format!("\n{}", text.trim()));
                taken = Some(line);
            }
            None => left.push(format!("## {title}\n\n{}", text.trim())),
        }
    }
    let mut body = lines.join("\n").trim_end().to_owned();
    for section in left {
        if !body.is_empty() {
            body += "\n\n";
        }
        body += &section;
    }
    body.push('\n');
    body
}

/// The first heading that is about one of these. What stands in a comment or in code is no heading.
fn place(lines: &[String], words: &[&str]) -> Option<usize> {
    let (mut in_comment, mut in_code) = (false, false);
    for (number, line) in lines.iter().enumerate() {
        let text = line.trim();
        if text.starts_with("```") {
            in_code = !in_code;
        }
        let was_in_comment = in_comment;
        if let Some(start) = text.rfind("<!--") {
            in_comment = !text[start..].contains("-->");
        } else if text.contains("-->") {
            in_comment = false;
        }
        if was_in_comment || in_code || !text.starts_with('#') {
            continue;
        }
        let heading = text.trim_start_matches('#').to_lowercase();
        if words.iter().any(|word| heading.contains(word)) {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_hints_stay_and_our_words_stand_under_those_that_fit() {
        let template = "<!-- # Summary of rules -->\n# What does this change?\n<!-- Say why. -->\n\n## Testing\n\n- [ ] tests pass\n\n## Deployment\n";
        assert_eq!(
            filled(template, "The boundary was off.", "All checks passed."),
            "<!-- # Summary of rules -->\n# What does this change?\n\nThe boundary was off.\n<!-- Say why. -->\n\n## Testing\n\nAll checks passed.\n\n- [ ] tests pass\n\n## Deployment\n"
        );
    }

    #[test]
    fn what_fits_nowhere_stands_at_the_end() {
        assert_eq!(filled("", "S.", "T."), "## Summary\n\nS.\n\n## How it was checked\n\nT.\n");
        assert_eq!(
            filled("# Ticket\n\nABC-1\n", "S.", "T."),
            "# Ticket\n\nABC-1\n\n## Summary\n\nS.\n\n## How it was checked\n\nT.\n"
        );
        // One heading is not taken twice.
        assert_eq!(
            filled("# Changes and checks\n", "S.", "T."),
            "# Changes and checks\n\nS.\n\n## How it was checked\n\nT.\n"
        );
    }
}
