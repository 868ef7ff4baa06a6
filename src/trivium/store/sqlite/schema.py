"""The tables of a store file, as numbered migrations. A file remembers how far it has come in `user_version`."""

from __future__ import annotations

import sqlite3
import uuid

from trivium.errors import NewerStore, NotAStore

# "TRIV" in ASCII: tells our files from any other SQLite file.
APPLICATION_ID = 0x54524956

FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- `version` rises with every write to the space; `flushed` is the last entry that lies in a segment.
CREATE TABLE space (
    num INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL DEFAULT 0,
    flushed INTEGER NOT NULL DEFAULT 0,
    language TEXT NOT NULL DEFAULT '',
    languages TEXT NOT NULL DEFAULT '[]',
    settings TEXT NOT NULL DEFAULT '{}'
);

-- Times are microseconds since 1970 UTC. The long columns come last: reading the short ones never touches them.
CREATE TABLE memory (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    importance REAL NOT NULL,
    sensitive INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    occurred_at INTEGER,
    superseded_at INTEGER,
    supersedes TEXT,
    superseded_by TEXT,
    thread TEXT NOT NULL,
    position INTEGER,
    language TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    category TEXT NOT NULL,
    source TEXT NOT NULL,
    tags TEXT NOT NULL,
    keywords TEXT NOT NULL,
    title TEXT NOT NULL,
    metadata TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (space, id)
);
CREATE INDEX memory_kind ON memory (space, kind);
CREATE INDEX memory_created ON memory (space, created_at);
CREATE INDEX memory_hash ON memory (space, content_hash);
CREATE INDEX memory_thread ON memory (space, thread, position, id) WHERE thread <> '';
CREATE INDEX memory_superseded ON memory (space) WHERE superseded_at IS NOT NULL;
CREATE INDEX memory_sensitive ON memory (space) WHERE sensitive = 1;
CREATE TABLE tag (
    space INTEGER NOT NULL, tag TEXT NOT NULL, memory INTEGER NOT NULL, PRIMARY KEY (space, tag, memory)
) WITHOUT ROWID;

-- The lexical index, forwards: one row per passage with its terms. Entries past `space.flushed` are the delta;
-- the others are also in a segment, backwards: term -> documents (see postings.py for the blobs).
CREATE TABLE entry (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    length INTEGER NOT NULL,
    terms BLOB NOT NULL
);
CREATE INDEX entry_memory ON entry (memory, ordinal);
CREATE INDEX entry_space ON entry (space, num);
CREATE TABLE gone_entry (space INTEGER NOT NULL, version INTEGER NOT NULL, entry INTEGER NOT NULL);
CREATE INDEX gone_entry_space ON gone_entry (space, version);
CREATE TABLE segment (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    documents INTEGER NOT NULL,
    length INTEGER NOT NULL,
    entries BLOB NOT NULL,
    memories BLOB NOT NULL,
    ordinals BLOB NOT NULL,
    lengths BLOB NOT NULL
);
CREATE INDEX segment_space ON segment (space, first);
CREATE TABLE posting (
    segment INTEGER NOT NULL, term TEXT NOT NULL, documents BLOB NOT NULL, PRIMARY KEY (segment, term)
) WITHOUT ROWID;

CREATE TABLE epoch (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL UNIQUE,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    serving INTEGER NOT NULL
);
CREATE TABLE vector (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    epoch INTEGER NOT NULL,
    space INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX vector_memory ON vector (memory, epoch, ordinal);
CREATE INDEX vector_space ON vector (epoch, space, num);
CREATE TABLE gone_vector (
    num INTEGER PRIMARY KEY AUTOINCREMENT, epoch INTEGER NOT NULL, space INTEGER NOT NULL, vector INTEGER NOT NULL
);
CREATE INDEX gone_vector_space ON gone_vector (epoch, space, num);
CREATE TABLE pending (
    epoch INTEGER NOT NULL, memory INTEGER NOT NULL, space INTEGER NOT NULL, PRIMARY KEY (epoch, memory)
) WITHOUT ROWID;
CREATE INDEX pending_space ON pending (epoch, space);
CREATE TABLE query_vector (
    fingerprint TEXT NOT NULL, text TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (fingerprint, text)
) WITHOUT ROWID;

CREATE TABLE receipt (
    num INTEGER PRIMARY KEY,
    space TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX receipt_id ON receipt (space, id);
"""

# One statement, so that it sees one state while another process makes the tables.
IDENTITY = """
SELECT user_version, application_id, (SELECT count(*) FROM sqlite_master)
FROM pragma_user_version, pragma_application_id
"""

MIGRATIONS = (FIRST,)
SCHEMA_VERSION = len(MIGRATIONS)


def check(connection: sqlite3.Connection, name: str) -> int:
    """The schema version of the file, 0 for an empty one. Refuse what is not ours or newer than we are."""
    version, application, tables = connection.execute(IDENTITY).fetchone()
    if application != APPLICATION_ID and (application or version or tables):
        raise NotAStore(f"{name} is a SQLite file of another program, not a Trivium store; choose another file")
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"{name} has store format {version}; this Trivium knows formats up to {SCHEMA_VERSION}: upgrade Trivium"
        )
    return int(version)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring the file from `version` to the newest, all in the caller's transaction."""
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in script.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
    if version == 0:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        renew_identity(connection)


def renew_identity(connection: sqlite3.Connection) -> None:
    """Give the file a new identity: caches made for what it was before no longer fit."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('identity', ?)", (uuid.uuid4().hex,))
