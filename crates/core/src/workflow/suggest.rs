//! "Did you mean": the known word that a wrong one was probably meant to be.

/// So many words are compared: the time must not grow with both what is written and what is known.
const MOST_COMPARED: usize = 300;

/// The closest of the known words, if it is close enough to be worth saying.
pub fn closest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(wrong);
    known
        .into_iter()
        .take(MOST_COMPARED)
        .map(|word| (strsim::damerau_levenshtein(&folded, &fold(word)), word))
        .filter(|(distance, word)| *distance <= allowed(word))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `` did you mean `x`? ``, or else what is known.
pub fn or_known<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(word) = closest(wrong, known.clone()) {
        return format!("did you mean `{word}`?");
    }
    let known: Vec<String> = known.into_iter().map(|word| format!("`{word}`")).collect();
    if known.is_empty() { "take it out".to_owned() } else { format!("known are {}", known.join(", ")) }
}

/// A third of the letters may differ: three in `confidence`, one in `goal`, none in `id`.
fn allowed(word: &str) -> usize {
    word.len().min(9) / 3
}

/// Styles of writing a word do not count as a difference: `onMax` is `on_max`.
fn fold(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        let known = ["title", "prompt", "on_max", "jumpIf"];
        assert_eq!(closest("titel", known), Some("title"));
        assert_eq!(closest("onMax", known), Some("on_max"));
        assert_eq!(closest("jump_if", known), Some("jumpIf"));
        assert_eq!(closest("steps", known), None);
    }

    /// Found with a made-up file: eight thousand vars, and forty thousand templates that name none of them.
    #[test]
    fn only_so_many_words_are_compared() {
        let many: Vec<String> = (0..MOST_COMPARED).map(|number| format!("other-{number}")).collect();
        let known = || many.iter().map(String::as_str);
        assert_eq!(closest("titel", known().take(9).chain(["title"])), Some("title"));
        assert_eq!(closest("titel", known().chain(["title"])), None);
    }

    #[test]
    fn without_a_close_word_the_known_ones_are_listed() {
        assert_eq!(or_known("x", ["light", "heavy"]), "known are `light`, `heavy`");
        assert_eq!(or_known("lihgt", ["light", "heavy"]), "did you mean `light`?");
    }
}
