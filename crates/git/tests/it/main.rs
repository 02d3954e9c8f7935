//! Real git in temporary repositories.

mod discover;
mod fetch;
mod folder;
mod head;
mod hostile;
mod support;
