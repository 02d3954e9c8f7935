//! The lines that a change adds, each with its place.

use std::time::Duration;

use super::Snapshots;
use crate::{Error, ObjectId};

const PATCH_LIMIT_BYTES: usize = 512 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_mins(10);

/// A line that is in the newer tree and not in the older.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedLine {
    pub path: String,
    /// Counted from one, in the newer file.
    pub line: u64,
    pub text: Vec<u8>,
}

impl Snapshots {
    /// Every line that `new` has and `old` has not, whatever git takes for binary among them.
    pub fn added_lines(&self, old: &ObjectId, new: &ObjectId) -> Result<Vec<AddedLine>, Error> {
        let showing = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
            "--text",
            "--unified=0",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        ];
        let git = self.neutral().args(showing).args([old.as_str(), new.as_str()]).timeout(TIMEOUT);
        let patch = git.answer_limit_bytes(PATCH_LIMIT_BYTES).run()?.succeeded()?;
        Ok(read(&patch))
    }
}

/// Hunks say how many lines they have, so that no line of a file is taken for one of the patch.
fn read(patch: &[u8]) -> Vec<AddedLine> {
    let mut added = Vec::new();
    let mut path = String::new();
    let mut lines = patch.split(|byte| *byte == b'\n');
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix(b"+++ ") {
            let name = String::from_utf8_lossy(name).trim_end_matches('\t').to_owned();
            path = name.strip_prefix("b/").map_or(name.clone(), str::to_owned);
        } else if let Some(hunk) = hunk(line) {
            let (mut removed, mut number, mut left) = (hunk.removed, hunk.first, hunk.added);
            while removed + left > 0 {
                let Some(line) = lines.next() else { return added };
                match line.first() {
                    Some(b'-') if removed > 0 => removed -= 1,
                    Some(b'+') if left > 0 => {
                        added.push(AddedLine { path: path.clone(), line: number, text: line[1..].to_vec() });
                        number += 1;
                        left -= 1;
                    }
                    // The remark that a file ends without a line break.
                    Some(b'\\') => {}
                    Some(_) | None => return added,
                }
            }
        }
    }
    added
}

struct Hunk {
    removed: u64,
    first: u64,
    added: u64,
}

/// `@@ -3,2 +4,5 @@`, where a count of one is left out.
fn hunk(line: &[u8]) -> Option<Hunk> {
    let text = String::from_utf8_lossy(line.strip_prefix(b"@@ -")?).into_owned();
    let (ranges, _) = text.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    };
    let ((_, removed), (first, added)) = (range(old)?, range(new)?);
    Some(Hunk { removed, first, added })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_place_and_no_line_of_a_file_is_taken_for_the_patch() {
        let patch = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-old\n+++ b/other\n+@@ -1 +1 @@\n+last\n\\ No newline at end of file\n@@ -9,0 +12 @@ fn f() {\n+twelve\ndiff --git a/y b/y\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+one\n+two\n";
        let found: Vec<(String, u64, String)> = read(patch)
            .into_iter()
            .map(|line| (line.path, line.line, String::from_utf8(line.text).unwrap()))
            .collect();
        let expected = [
            ("x", 1, "++ b/other"),
            ("x", 2, "@@ -1 +1 @@"),
            ("x", 3, "last"),
            ("x", 12, "twelve"),
            ("y", 1, "one"),
            ("y", 2, "two"),
        ]
        .map(|(path, line, text)| (path.to_owned(), line, text.to_owned()));
        assert_eq!(found, expected);
    }
}
