//! Real git in temporary repositories.

mod discover;
mod folder;
mod head;
mod hostile;
mod support;
