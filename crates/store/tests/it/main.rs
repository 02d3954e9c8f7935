//! The store through its public door.

mod contract;
mod damage;
mod keeping;
mod support;
mod watching;
