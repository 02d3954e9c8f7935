//! Standard output is data, standard error is talk.
//!
//! Rows become JSON lines or an aligned table. Text that others wrote is made harmless before a terminal
//! sees it; in JSON it is escaped anyway.

use std::cell::{Cell, RefCell};
use std::io::{self, BufWriter, Stdout, Write};
use std::marker::PhantomData;

use longhaul_runtime::{Error, terminal};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
}

/// One row of data: serialised as it is for scripts, in cells for people.
pub(crate) trait Row: Serialize {
    /// The least width of each column, for tables that are shown before all rows are known.
    const WIDTHS: &'static [usize] = &[];

    /// Headings and texts, the longest text last.
    fn cells(&self) -> Vec<(&'static str, String)>;

    /// A line of its own below the row.
    fn note(&self) -> Option<String> {
        None
    }
}

/// A cell that is wider does not push the columns of the others.
const WIDEST_COLUMN: usize = 100;

#[derive(Debug)]
pub(crate) struct Output {
    format: Format,
    stdout: RefCell<BufWriter<Stdout>>,
    /// Set when whoever read our output has gone, as `head` does.
    closed: Cell<bool>,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, stdout: RefCell::new(BufWriter::new(io::stdout())), closed: Cell::new(false) }
    }

    pub(crate) const fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Shows rows that are all known, in columns that fit them.
    pub(crate) fn rows<R: Row>(&self, rows: &[R]) -> Result<(), Error> {
        let mut widths = R::WIDTHS.to_vec();
        for row in rows {
            let cells = row.cells();
            widths.resize(cells.len().max(widths.len()), 0);
            for (width, (heading, text)) in widths.iter_mut().zip(&cells) {
                let letters = terminal::visible(text).chars().count().max(heading.chars().count());
                *width = letters.min(WIDEST_COLUMN).max(*width);
            }
        }
        let mut table = Table { output: self, widths, line_limit: None, started: false, rows: PhantomData };
        rows.iter().try_for_each(|row| table.show(row))
    }

    pub(crate) fn row<R: Row>(&self, row: R) -> Result<(), Error> {
        self.rows(&[row])
    }

    /// A table that grows; on a terminal its lines are cut to fit.
    pub(crate) fn table<R: Row>(&self) -> Table<'_, R> {
        let (widths, line_limit) = (R::WIDTHS.to_vec(), terminal::width());
        Table { output: self, widths, line_limit, started: false, rows: PhantomData }
    }

    /// Data that has its own format: a page, an export.
    pub(crate) fn data(&self) -> Data<'_> {
        Data(self)
    }

    /// A text for people, or one JSON value with it.
    pub(crate) fn text(&self, text: &str, value: &impl Serialize) -> Result<(), Error> {
        match self.format {
            Format::Table => self.data().write_all(text.as_bytes()).map_err(Error::Show),
            Format::Json => self.json_line(value),
        }
    }

    pub(crate) fn flush(&self) -> Result<(), Error> {
        self.data().flush().map_err(Error::Show)
    }

    /// A remark for people.
    pub(crate) fn say(&self, text: &str) {
        if self.format == Format::Table {
            self.complain(&terminal::visible(text));
        }
    }

    /// Text on standard error, whoever listens. What was written before comes before.
    pub(crate) fn complain(&self, text: &str) {
        // Nobody can be told that standard error is gone.
        let _ = self.flush();
        let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
    }

    fn json_line(&self, value: &impl Serialize) -> Result<(), Error> {
        let mut line = serde_json::to_vec(value).expect("rows have string keys only");
        line.push(b'\n');
        self.data().write_all(&line).map_err(Error::Show)
    }

    fn notice<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.closed.set(true);
        }
        result
    }
}

/// Text of several lines that others wrote, each made harmless and indented.
pub(crate) fn lines(text: &str, indent: &str) -> String {
    let line = |line: &str| format!("{indent}{}", terminal::visible(&line.replace('\t', "    ")));
    text.lines().map(|text| line(text).trim_end().to_owned() + "\n").collect()
}

/// A number with what it counts: `1 stream`, `2 streams`.
pub(crate) fn count(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {what}{ending}")
}

/// The bytes of standard output.
#[derive(Debug)]
pub(crate) struct Data<'a>(&'a Output);

impl Write for Data<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.notice(self.0.stdout.borrow_mut().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.notice(self.0.stdout.borrow_mut().flush())
    }
}

#[derive(Debug)]
pub(crate) struct Table<'a, R> {
    output: &'a Output,
    widths: Vec<usize>,
    line_limit: Option<usize>,
    started: bool,
    rows: PhantomData<R>,
}

impl<R: Row> Table<'_, R> {
    pub(crate) fn show(&mut self, row: &R) -> Result<(), Error> {
        if self.output.format == Format::Json {
            return self.output.json_line(row);
        }
        let cells = row.cells();
        let mut text = String::new();
        if !self.started {
            self.started = true;
            text += &self.line(cells.iter().map(|(heading, _)| (*heading).to_owned()));
        }
        text += &self.line(cells.iter().map(|(_, cell)| terminal::visible(cell)));
        if let Some(note) = row.note() {
            text += &self.line([format!("  {}", terminal::visible(&note))].into_iter());
        }
        self.output.data().write_all(text.as_bytes()).map_err(Error::Show)
    }

    fn line(&self, cells: impl Iterator<Item = String>) -> String {
        let widths = self.widths.iter().copied().chain(std::iter::repeat(0));
        let mut line = String::new();
        let mut cells = cells.zip(widths).peekable();
        while let Some((cell, width)) = cells.next() {
            line += &cell;
            if cells.peek().is_some() {
                let missing = width.saturating_sub(cell.chars().count());
                line.extend(std::iter::repeat_n(' ', missing + 2));
            }
        }
        line.truncate(line.trim_end().len());
        if let Some(limit) = self.line_limit
            && line.chars().count() > limit
        {
            line = line.chars().take(limit.saturating_sub(1)).chain(['…']).collect();
        }
        line.push('\n');
        line
    }
}

/// So much of a text as there is room for; where something is missing, it says so.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Wide(&'static str, usize);

    impl Row for Wide {
        fn cells(&self) -> Vec<(&'static str, String)> {
            vec![("A", self.0.repeat(self.1)), ("B", self.0.repeat(self.1)), ("C", "end".to_owned())]
        }
    }

    #[test]
    fn a_cell_of_any_length_is_shown_and_does_not_push_the_others() {
        let output = Output::new(Format::Table);
        let widths = vec![WIDEST_COLUMN, 3, 9];
        let table =
            Table { output: &output, widths, line_limit: None, started: true, rows: PhantomData::<Wide> };
        let line = |row: &Wide| table.line(row.cells().into_iter().map(|(_, cell)| cell));
        let long = "x".repeat(70_000);
        assert_eq!(line(&Wide("x", 70_000)), format!("{long}  {long}  end\n"));
        assert_eq!(line(&Wide("x", 1)), format!("x{}  x    end\n", " ".repeat(WIDEST_COLUMN - 1)));
        output.rows(&[Wide("x", 70_000), Wide("y", 1)]).unwrap();
    }
}
