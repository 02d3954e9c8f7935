//! Values as bytes, between us and the process that puts up the walls: both are the same binary, so the form
//! is free. Reading must never trust a length: what is inside the sandbox may get hold of the socket.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(super) fn optional(&mut self, number: Option<u64>) {
        self.number(u64::from(number.is_some()));
        self.number(number.unwrap_or_default());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(super) fn text(&mut self, text: &OsStr) {
        self.bytes(text.as_bytes());
    }

    pub(super) fn path(&mut self, path: &Path) {
        self.text(path.as_os_str());
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            write(self, item);
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

#[derive(Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn number(&mut self) -> io::Result<u64> {
        let (first, rest) = self.0.split_first_chunk().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*first))
    }

    pub(super) fn optional(&mut self) -> io::Result<Option<u64>> {
        let there = self.number()? != 0;
        let number = self.number()?;
        Ok(there.then_some(number))
    }

    pub(super) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let length = usize::try_from(self.number()?).map_err(|_| cut_off())?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(bytes.to_vec())
    }

    pub(super) fn text(&mut self) -> io::Result<OsString> {
        self.bytes().map(OsString::from_vec)
    }

    pub(super) fn path(&mut self) -> io::Result<PathBuf> {
        self.text().map(PathBuf::from)
    }

    pub(super) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        let length = self.number()?;
        (0..length).map(|_| read(self)).collect()
    }
}

pub(super) fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a message was cut off")
}
