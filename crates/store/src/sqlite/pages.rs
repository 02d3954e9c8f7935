//! Reading rows straight from the pages of a SQLite file, when SQLite itself can no longer find its way.
//!
//! Damage to a page that *leads* to rows makes SQLite give up on rows that are perfectly whole. Here every
//! page that looks like a leaf of a table is taken apart on its own. What comes out may be old, twice or
//! nonsense; it is worth something only because decisions and blobs can prove themselves.
//!
//! The format is the one that SQLite documents and promises not to change ("Database File Format").

use std::collections::{BTreeMap, BTreeSet};

const TABLE_LEAF: u8 = 0x0d;
const FILE_HEADER: usize = 100;
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real,
    Text(String),
    Bytes(Vec<u8>),
}

/// A row with the key under which its table holds it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawRow {
    pub(super) key: i64,
    pub(super) cells: Vec<Cell>,
}

/// Where to look for rows on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// Where the page says that they are.
    Listed,
    /// At every byte: finds rows on a page whose own header is damaged. Slow.
    Everywhere,
}

/// Pages by their numbers.
struct Pages<'a> {
    by_number: BTreeMap<u32, &'a [u8]>,
    /// What all of them hold together: nothing on them is longer.
    room: usize,
}

impl<'a> Pages<'a> {
    fn new(by_number: BTreeMap<u32, &'a [u8]>) -> Self {
        let room = by_number.values().map(|page| page.len()).sum();
        Self { by_number, room }
    }
}

/// Shows `take` all rows that can be read from a database file and its write-ahead log.
pub(super) fn rows(database: &[u8], log: &[u8], search: Search, take: &mut dyn FnMut(RawRow)) {
    let size = page_size(database, log);
    let main: BTreeMap<u32, &[u8]> = (1..).zip(database.chunks_exact(size)).collect();
    let frames = frames(log, size);
    let mut newest = main.clone();
    newest.extend(frames.iter().copied());
    let newest = Pages::new(newest);
    let in_newest = newest.by_number.iter().map(|(number, page)| (*number, *page));
    for (number, page) in in_newest.chain(frames) {
        page_rows(Page { number, bytes: page }, &newest, search, take);
    }
    // Overflow pages may have been reused in the log: read the main file by itself as well.
    let main = Pages::new(main);
    for (number, page) in &main.by_number {
        page_rows(Page { number: *number, bytes: page }, &main, search, take);
    }
}

/// As the main file says, or else, if that is gone, as its log says.
fn page_size(database: &[u8], log: &[u8]) -> usize {
    let in_main = database.get(16..18).map(|bytes| match bytes {
        [0, 1] => 65_536,
        bytes => bytes.iter().fold(0, |size, byte| size << 8 | usize::from(*byte)),
    });
    let in_log =
        log.get(8..12).map(|bytes| bytes.iter().fold(0, |size, byte| size << 8 | usize::from(*byte)));
    let sensible = |size: &usize| size.is_power_of_two() && (512..=65_536).contains(size);
    in_main.filter(sensible).or(in_log.filter(sensible)).unwrap_or(4096)
}

/// The pages of the write-ahead log, oldest first. Their checksums are not looked at: rows prove themselves.
fn frames(log: &[u8], size: usize) -> Vec<(u32, &[u8])> {
    let Some(body) = log.get(LOG_HEADER..) else { return Vec::new() };
    body.chunks_exact(FRAME_HEADER + size)
        .map(|frame| (u32::from_be_bytes([frame[0], frame[1], frame[2], frame[3]]), &frame[FRAME_HEADER..]))
        // There is no page 0: where it stands, nothing was written.
        .filter(|(number, _)| *number > 0)
        .collect()
}

#[derive(Clone, Copy)]
struct Page<'a> {
    number: u32,
    bytes: &'a [u8],
}

fn page_rows(page: Page<'_>, pages: &Pages<'_>, search: Search, take: &mut dyn FnMut(RawRow)) {
    let places: Vec<usize> = match search {
        Search::Listed => listed_cells(page.bytes, page.number),
        Search::Everywhere => (0..page.bytes.len()).collect(),
    };
    places.into_iter().filter_map(|start| row_at(page.bytes, start, pages)).for_each(take);
}

fn listed_cells(page: &[u8], number: u32) -> Vec<usize> {
    let header = if number == 1 { FILE_HEADER } else { 0 };
    if page.get(header) != Some(&TABLE_LEAF) {
        return Vec::new();
    }
    let count = number_at(page, header + 3).unwrap_or(0);
    let cell = |index: u16| number_at(page, header + 8 + usize::from(index) * 2).map(usize::from);
    (0..count).filter_map(cell).collect()
}

fn number_at(page: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*page.get(at)?, *page.get(at + 1)?]))
}

fn row_at(page: &[u8], start: usize, pages: &Pages<'_>) -> Option<RawRow> {
    let mut reader = Reader { bytes: page.get(start..)? };
    let length = usize::try_from(reader.varint()?).ok()?;
    let key = reader.varint()?;
    let local = local_length(length, page.len());
    let mut payload = reader.take(local)?.to_vec();
    if local < length {
        let first = u32::from_be_bytes(reader.take(4)?.try_into().ok()?);
        follow_overflow(first, length, &mut payload, pages)?;
    }
    Some(RawRow { key, cells: cells(&payload)? })
}

/// How much of a payload lies on the leaf itself, as the file format lays down.
fn local_length(length: usize, usable: usize) -> usize {
    let most = usable - 35;
    if length <= most {
        return length;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let rest = least + (length - least) % (usable - 4);
    if rest <= most { rest } else { least }
}

fn follow_overflow(first: u32, length: usize, payload: &mut Vec<u8>, pages: &Pages<'_>) -> Option<()> {
    if length > pages.room {
        return None; // no page can hold it
    }
    let mut seen = BTreeSet::new();
    let mut next = first;
    while payload.len() < length {
        if !seen.insert(next) {
            return None; // they lead in a circle
        }
        let page = pages.by_number.get(&next)?;
        next = u32::from_be_bytes(page.get(..4)?.try_into().ok()?);
        let wanted = (length - payload.len()).min(page.len() - 4);
        payload.extend_from_slice(page.get(4..4 + wanted)?);
    }
    Some(())
}

fn cells(payload: &[u8]) -> Option<Vec<Cell>> {
    let mut header = Reader { bytes: payload };
    let header_length = usize::try_from(header.varint()?).ok()?;
    let consumed = payload.len() - header.bytes.len();
    let mut types = Reader { bytes: payload.get(consumed..header_length)? };
    let mut body = Reader { bytes: payload.get(header_length..)? };
    let mut cells = Vec::new();
    while !types.bytes.is_empty() {
        cells.push(body.cell(types.varint()?)?);
    }
    Some(cells)
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// One to nine bytes, seven bits each, the ninth with eight.
    fn varint(&mut self) -> Option<i64> {
        let mut value = 0u64;
        for index in 0..9 {
            let byte = self.take(1)?[0];
            if index == 8 {
                value = value << 8 | u64::from(byte);
                break;
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte < 0x80 {
                break;
            }
        }
        Some(value.cast_signed())
    }

    fn cell(&mut self, kind: i64) -> Option<Cell> {
        let integer = |reader: &mut Self, width: usize| {
            let bytes = reader.take(width)?;
            let negative = bytes[0] >= 0x80;
            let start = if negative { -1i64 } else { 0 };
            Some(Cell::Integer(bytes.iter().fold(start, |value, byte| value << 8 | i64::from(*byte))))
        };
        match kind {
            0 => Some(Cell::Null),
            1..=4 => integer(self, usize::try_from(kind).ok()?),
            5 => integer(self, 6),
            6 => integer(self, 8),
            7 => self.take(8).map(|_| Cell::Real),
            8 => Some(Cell::Integer(0)),
            9 => Some(Cell::Integer(1)),
            12.. if kind % 2 == 0 => Some(Cell::Bytes(self.take(length_of(kind, 12)?)?.to_vec())),
            13.. => {
                let text = self.take(length_of(kind, 13)?)?;
                Some(Cell::Text(std::str::from_utf8(text).ok()?.to_owned()))
            }
            _ => None,
        }
    }
}

fn length_of(kind: i64, base: i64) -> Option<usize> {
    usize::try_from((kind - base) / 2).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn found(database: &[u8], log: &[u8], search: Search) -> Vec<RawRow> {
        let mut found = Vec::new();
        rows(database, log, search, &mut |row| found.push(row));
        found
    }

    #[test]
    fn rows_of_every_type_and_size_come_out_as_sqlite_put_them_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sample.db");
        let database = Connection::open(&path).unwrap();
        database.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b);").unwrap();
        let mut expected = Vec::new();
        for key in 1..100i64 {
            let size = usize::try_from(key * key % 30_000).unwrap();
            let blob: Vec<u8> = (0..size).map(|n| u8::try_from(n % 251).unwrap()).collect();
            let number = [0, 1, -1, 127, -129, 40_000, -8_000_000, i64::MAX, i64::MIN]
                [usize::try_from(key % 9).unwrap()];
            database.execute("INSERT INTO t VALUES (?1, ?2, ?3)", (key, number, &blob)).unwrap();
            expected.push(RawRow { key, cells: vec![Cell::Null, Cell::Integer(number), Cell::Bytes(blob)] });
        }
        drop(database);
        let file = std::fs::read(&path).unwrap();
        for search in [Search::Listed, Search::Everywhere] {
            let found = found(&file, &[], search);
            for row in &expected {
                assert!(found.contains(row), "row {} {search:?}", row.key);
            }
        }
    }

    #[test]
    fn pages_that_lead_in_a_circle_end_the_search() {
        let mut page = vec![0; 4096];
        page[0] = TABLE_LEAF;
        page[4] = 1; // one cell
        page[8..10].copy_from_slice(&2000u16.to_be_bytes());
        // A payload of 2^62 bytes, key 1, that goes on at page 1: itself.
        page[2000..2009].copy_from_slice(&[0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]);
        page[2009] = 1;
        let file = [vec![0; 4096], page].concat();
        assert_eq!(found(&file, &[], Search::Everywhere), []);
    }

    #[test]
    fn a_payload_that_comes_back_to_a_page_ends_there() {
        let mut circle = vec![0; 4096];
        circle[..4].copy_from_slice(&1u32.to_be_bytes());
        let file = [circle, vec![0; 3 * 4096]].concat();
        let pages = Pages::new((1..).zip(file.chunks_exact(4096)).collect());
        assert!(pages.room > 12_000, "only the circle can end it");
        let mut payload = Vec::new();
        assert_eq!(follow_overflow(1, 12_000, &mut payload, &pages), None);
        assert_eq!(payload.len(), 4092, "one round, no more");
    }

    #[test]
    fn a_log_without_its_main_file_tells_its_own_page_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sample.db");
        let database = Connection::open(&path).unwrap();
        database.execute_batch("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;").unwrap();
        database.execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a);").unwrap();
        database.execute("INSERT INTO t VALUES (7, 'found')", []).unwrap();
        let log = std::fs::read(folder.path().join("sample.db-wal")).unwrap();
        let row = RawRow { key: 7, cells: vec![Cell::Null, Cell::Text("found".to_owned())] };
        assert!(found(&[], &log, Search::Listed).contains(&row));
    }

    #[test]
    fn garbage_gives_nothing_and_does_not_panic() {
        let mut state = 7u32;
        for _ in 0..20 {
            let garbage: Vec<u8> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .take(4096 * 3)
            .collect();
            let mut page = garbage.clone();
            page[0] = TABLE_LEAF;
            page[4096] = TABLE_LEAF;
            let _ = found(&page, &garbage, Search::Everywhere);
        }
        assert_eq!(found(&[], &[], Search::Everywhere), []);
        assert_eq!(found(&[0; 4096], &[0; 10], Search::Listed), []);
    }
}
