//! Flags whose words are those of the settings.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Takes one of these words, and shows all of them in the help.
pub(crate) fn one_of<T, const N: usize>(words: [(&'static str, T); N]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(words.map(|(word, _)| word)).map(move |given| {
        let found = words.iter().find(|(word, _)| *word == given);
        found.map(|(_, value)| *value).expect("only these words get this far")
    })
}
