//! What only the SQLite log promises: durability, several processes, damage found.
