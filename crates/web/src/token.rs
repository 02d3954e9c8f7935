//! What a caller shows at the port: kept in a file that only the user can read, made when there is none.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Nobody can guess it.
#[derive(Clone)]
pub struct Token(String);

/// A token that is longer is none of ours.
const LONGEST: u64 = 256;
const SHORTEST: usize = 32;

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    fn random() -> Self {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).expect("the operating system has randomness to give");
        let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("half a byte is below 16");
        Self(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
    }

    /// The token in a file, which others could not have read or written.
    pub fn read(path: &Path) -> io::Result<Self> {
        let refused = |problem| io::Error::new(io::ErrorKind::PermissionDenied, problem);
        let flags = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).expect("a flag of open fits");
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let found = file.metadata()?;
        if !found.is_file() || found.uid() != rustix::process::getuid().as_raw() || found.mode() & 0o077 != 0
        {
            return Err(refused(
                "others may have read it; remove it, and the daemon makes another when it starts",
            ));
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        let text = text.trim();
        if text.len() < SHORTEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(refused("it holds no token; remove it, and the daemon makes another when it starts"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The token in a file, made if there is none.
    pub fn read_or_make(path: &Path) -> io::Result<Self> {
        match Self::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => return read,
        }
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        let token = Self::random();
        // Complete before it has its name.
        let mut file = tempfile::Builder::new().prefix(".token-").tempfile_in(folder)?;
        file.write_all(token.0.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Ok(_) => Ok(token),
            // Somebody else was quicker.
            Err(_) => Self::read(path),
        }
    }

    /// For whoever calls with it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// No early exit: how far a guess was right must not show in the time taken.
    pub(crate) fn is(&self, guess: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differences = own.iter().zip(guess).fold(0, |different, (a, b)| different | (a ^ b));
        own.len() == guess.len() && differences == 0
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_kept_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/token");
        let token = Token::read_or_make(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let again = Token::read_or_make(&path).unwrap();
        assert!(token.is(again.reveal().as_bytes()) && token.reveal().len() == 64);
        assert!(!token.is(b"") && !token.is(&token.reveal().as_bytes()[1..]));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn a_file_that_others_may_have_read_or_that_leads_elsewhere_is_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        Token::read_or_make(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::read(&path).is_err());
        let link = folder.path().join("link");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(Token::read(&link).is_err());
        fs::write(&path, "short").unwrap();
        assert!(Token::read_or_make(&path).is_err(), "what a person put there is not written over");
    }
}
