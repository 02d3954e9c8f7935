//! Damage: found, named, and never taken for an answer.
