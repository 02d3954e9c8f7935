//! The lines that a change adds, each with its place. What cannot be read is an error: a line that nobody looked at is
//! none that was found harmless.

use std::time::Duration;

use super::Snapshots;
use crate::{Error, ObjectId};

const TIMEOUT: Duration = Duration::from_mins(10);
/// A longer line is nobody's to look at.
const LONGEST_LINE_BYTES: usize = 128 * 1024 * 1024;
/// How much of what cannot be read is shown.
const MOST_SHOWN: usize = 200;

/// Is given a path, the number of a line in the newer file, counted from one, and its text.
pub type TakeLine<'a> = dyn FnMut(&str, u64, &[u8]) + 'a;

impl Snapshots {
    /// Gives every line that `new` has and `old` has not, whatever git takes for binary among them. No more than a line
    /// is held at a time.
    pub fn each_added_line(
        &self,
        old: &ObjectId,
        new: &ObjectId,
        take: &mut TakeLine<'_>,
    ) -> Result<(), Error> {
        let showing = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--no-renames",
            "--submodule=short",
            "--text",
            "--unified=0",
            "--src-prefix=a/",
            "--dst-prefix=b/",
        ];
        let git = self.neutral().args(showing).args([old.as_str(), new.as_str()]).timeout(TIMEOUT);
        let mut patch = Patch::new(take);
        git.each_piece(&mut |piece| patch.piece(piece))?;
        patch.end()
    }
}

/// A patch as it is read. Hunks say how many lines they have, so that no line of a file is taken for one of the patch.
struct Patch<'p, 't> {
    take: &'p mut TakeLine<'t>,
    path: String,
    hunk: Option<Hunk>,
    /// The beginning of a line whose end has not come yet.
    begun: Vec<u8>,
}

impl<'p, 't> Patch<'p, 't> {
    fn new(take: &'p mut TakeLine<'t>) -> Self {
        Self { take, path: String::new(), hunk: None, begun: Vec::new() }
    }

    fn piece(&mut self, piece: &[u8]) -> Result<(), Error> {
        let mut parts = piece.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            if self.begun.len() + part.len() > LONGEST_LINE_BYTES {
                return Err(Error::AnswerTooLarge {
                    command: format!("git diff, in a line of `{}`", self.path),
                    limit_bytes: LONGEST_LINE_BYTES,
                });
            }
            self.begun.extend_from_slice(part);
            if parts.peek().is_some() {
                let line = std::mem::take(&mut self.begun);
                self.line(&line)?;
                // Its room is used again.
                self.begun = line;
                self.begun.clear();
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Error> {
        let last = std::mem::take(&mut self.begun);
        if !last.is_empty() {
            self.line(&last)?;
        }
        if self.hunk.is_some() { Err(unreadable(b"the end in the middle of a hunk")) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), Error> {
        if let Some(hunk) = &mut self.hunk {
            match line.first() {
                Some(b'-') if hunk.removed > 0 => hunk.removed -= 1,
                Some(b'+') if hunk.added > 0 => {
                    (self.take)(&self.path, hunk.first, &line[1..]);
                    hunk.first += 1;
                    hunk.added -= 1;
                }
                // The remark that a file ends without a line break.
                Some(b'\\') => {}
                Some(_) | None => return Err(unreadable(line)),
            }
            if hunk.removed + hunk.added == 0 {
                self.hunk = None;
            }
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            let name = String::from_utf8_lossy(name).trim_end_matches('\t').to_owned();
            self.path = name.strip_prefix("b/").map_or(name.clone(), str::to_owned);
        } else if line.starts_with(b"@@") {
            let hunk = hunk(line).ok_or_else(|| unreadable(line))?;
            self.hunk = (hunk.removed + hunk.added > 0).then_some(hunk);
        } else if line.starts_with(b"Binary files ") || line.starts_with(b"* Unmerged") {
            return Err(unreadable(line));
        }
        Ok(())
    }
}

fn unreadable(line: &[u8]) -> Error {
    let answer = String::from_utf8_lossy(&line[..line.len().min(MOST_SHOWN)]).into_owned();
    Error::UnknownAnswer { command: "git diff".to_owned(), answer }
}

#[derive(Debug)]
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

    type Told = Vec<(String, u64, String)>;

    /// The lines of a patch that comes in pieces of so many bytes.
    fn read(patch: &[u8], size: usize) -> Result<Told, Error> {
        let mut found = Vec::new();
        let mut take = |path: &str, line: u64, text: &[u8]| {
            found.push((path.to_owned(), line, String::from_utf8(text.to_vec()).unwrap()));
        };
        let mut reading = Patch::new(&mut take);
        for piece in patch.chunks(size) {
            reading.piece(piece)?;
        }
        reading.end()?;
        Ok(found)
    }

    #[test]
    fn lines_have_their_place_and_no_line_of_a_file_is_taken_for_the_patch() {
        let patch = b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-old\n+++ b/other\n+@@ -1 +1 @@\n+last\n\\ No newline at end of file\n@@ -9,0 +12 @@ fn f() {\n+twelve\ndiff --git a/y b/y\n--- /dev/null\n+++ b/y\n@@ -0,0 +1,2 @@\n+one\n+two\n";
        let expected = [
            ("x", 1, "++ b/other"),
            ("x", 2, "@@ -1 +1 @@"),
            ("x", 3, "last"),
            ("x", 12, "twelve"),
            ("y", 1, "one"),
            ("y", 2, "two"),
        ]
        .map(|(path, line, text)| (path.to_owned(), line, text.to_owned()));
        for size in [1, 7, patch.len()] {
            assert_eq!(read(patch, size).unwrap(), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_patch_that_cannot_be_read_to_its_end_is_an_error_and_not_a_shorter_one() {
        for patch in [
            "+++ b/x\n@@ -0,0 +1,2 @@\n+one\n",
            "+++ b/x\n@@ -0,0 +1,2 @@\n+one\n two\n+three\n",
            "+++ b/x\n@@ -0,0 +many @@\n+one\n",
            "Binary files a/x and b/x differ\n",
        ] {
            let error = read(patch.as_bytes(), 64).unwrap_err();
            assert!(matches!(error, Error::UnknownAnswer { .. }), "{patch}: {error}");
        }
    }
}
