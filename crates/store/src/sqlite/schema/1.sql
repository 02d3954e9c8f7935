-- The truth: one row per decision, in the order of commits.
CREATE TABLE decision (
    position INTEGER PRIMARY KEY,
    stream   TEXT NOT NULL,
    seq      INTEGER NOT NULL,  -- of its first event
    count    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    body     BLOB NOT NULL,
    digest   BLOB NOT NULL,     -- of the body as it was first stored
    previous BLOB NOT NULL,     -- hash of the decision before it in the stream
    hash     BLOB NOT NULL,
    redacted BLOB,              -- digest of the body after values were taken out
    -- The way through a stream. Links and milestones can be rebuilt, so the chain does not cover them.
    before    INTEGER NOT NULL, -- position of the decision before it in the stream; 0 for the first
    milestone INTEGER           -- set for the first and then every 32nd decision of a stream
) STRICT;
-- Only milestones are indexed: an index of every decision would touch a page of its own for every stream in
-- a group, which is most of what a group commit would write.
CREATE UNIQUE INDEX milestone ON decision (stream, seq) WHERE milestone IS NOT NULL;

-- One hot row per stream: where its chain ends, and what it folds to there. Can be rebuilt from `decision`.
CREATE TABLE head (
    stream       TEXT PRIMARY KEY,
    seq          INTEGER NOT NULL,
    hash         BLOB NOT NULL,
    at           INTEGER NOT NULL,
    position     INTEGER NOT NULL,  -- of its last decision
    decisions    INTEGER NOT NULL,
    fold_version INTEGER NOT NULL,
    state        BLOB,
    quarantined  TEXT,
    proof        BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Also the truth: what events name by digest.
CREATE TABLE blob (
    id       INTEGER PRIMARY KEY,
    sha256   BLOB NOT NULL UNIQUE,
    bytes    INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    data     BLOB,              -- null: a file, or dropped
    dropped  INTEGER,           -- when its retention ended
    redacted BLOB               -- digest of the bytes after values were taken out
) STRICT;

CREATE TABLE schema (
    id         INTEGER PRIMARY KEY,
    version    INTEGER NOT NULL,
    min_reader INTEGER NOT NULL,
    min_writer INTEGER NOT NULL,
    proof      BLOB NOT NULL,
    redactions INTEGER NOT NULL DEFAULT 0, -- how often values were taken out
    identity   BLOB NOT NULL DEFAULT (randomblob(8))  -- tells this database from the ones before and after it
) STRICT;
