"""The one chain of schema changes. ``PRAGMA user_version`` is the number of steps a file has taken."""

from __future__ import annotations

import sqlite3
from typing import Final

from bot.core.errors import StoreError

STEPS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE inbox (
      id          INTEGER PRIMARY KEY AUTOINCREMENT,
      address     TEXT NOT NULL,
      kind        TEXT NOT NULL,
      platform_id TEXT NOT NULL,
      turn        TEXT NOT NULL,
      body        TEXT NOT NULL,
      received_at REAL NOT NULL,
      attempts    INTEGER NOT NULL DEFAULT 0,
      finished_at REAL,
      outcome     TEXT,
      UNIQUE (address, kind, platform_id)
    ) STRICT;
    CREATE INDEX inbox_unfinished ON inbox (id) WHERE finished_at IS NULL;
    CREATE INDEX inbox_turn ON inbox (turn);

    CREATE TABLE transcript (
      id      INTEGER PRIMARY KEY AUTOINCREMENT,
      address TEXT NOT NULL,
      turn    TEXT NOT NULL,
      at      REAL NOT NULL,
      kind    TEXT NOT NULL,
      body    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX transcript_address ON transcript (address, id);
    CREATE INDEX transcript_turn ON transcript (turn, id);
    CREATE INDEX transcript_kind ON transcript (kind, address);

    CREATE TABLE drafts (
      turn TEXT NOT NULL,
      step INTEGER NOT NULL,
      seq  INTEGER NOT NULL,
      text TEXT NOT NULL,
      PRIMARY KEY (turn, step, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE parts (
      turn          TEXT NOT NULL,
      idx           INTEGER NOT NULL,
      start         INTEGER NOT NULL,
      end           INTEGER,
      ref           TEXT,
      intended_hash TEXT NOT NULL,
      accepted_hash TEXT,
      at            REAL NOT NULL,
      PRIMARY KEY (turn, idx)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE calls (
      turn        TEXT NOT NULL,
      call_id     TEXT NOT NULL,
      name        TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      started_at  REAL NOT NULL,
      ended_at    REAL,
      PRIMARY KEY (turn, call_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE approvals (
      id          TEXT PRIMARY KEY,
      turn        TEXT NOT NULL,
      address     TEXT NOT NULL,
      asker       TEXT NOT NULL,
      own_reach   INTEGER NOT NULL,
      fingerprint TEXT NOT NULL,
      card        TEXT NOT NULL,
      expires_at  REAL NOT NULL,
      decision    TEXT,
      decided_by  TEXT,
      decided_at  REAL
    ) STRICT;
    CREATE INDEX approvals_turn ON approvals (turn);
    CREATE INDEX approvals_open ON approvals (expires_at) WHERE decision IS NULL;

    CREATE TABLE permissions (
      tool       TEXT NOT NULL,
      scope      TEXT NOT NULL,
      holder     TEXT NOT NULL,
      granted_by TEXT NOT NULL,
      at         REAL NOT NULL,
      PRIMARY KEY (tool, scope, holder)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE usage (
      id                 INTEGER PRIMARY KEY AUTOINCREMENT,
      at                 REAL NOT NULL,
      turn               TEXT NOT NULL,
      address            TEXT NOT NULL,
      person             TEXT NOT NULL,
      model              TEXT NOT NULL,
      input_tokens       INTEGER NOT NULL,
      output_tokens      INTEGER NOT NULL,
      cache_read_tokens  INTEGER NOT NULL,
      cache_write_tokens INTEGER NOT NULL,
      usd                REAL
    ) STRICT;
    CREATE INDEX usage_at ON usage (at);

    CREATE TABLE notes (
      owner TEXT NOT NULL,
      key   TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (owner, key)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE people (
      channel  TEXT NOT NULL,
      id       TEXT NOT NULL,
      name     TEXT NOT NULL,
      standing TEXT NOT NULL,
      since    REAL NOT NULL,
      by       TEXT NOT NULL,
      PRIMARY KEY (channel, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE strangers (
      channel  TEXT NOT NULL,
      id       TEXT NOT NULL,
      name     TEXT NOT NULL,
      address  TEXT NOT NULL,
      language TEXT NOT NULL,
      told_at  REAL NOT NULL,
      code     TEXT UNIQUE,
      used     INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (channel, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE wrong_codes (
      who TEXT NOT NULL,
      at  REAL NOT NULL
    ) STRICT;
    """,
    """
    CREATE TABLE overheard (
      id          INTEGER PRIMARY KEY AUTOINCREMENT,
      address     TEXT NOT NULL,
      platform_id TEXT NOT NULL,
      name        TEXT NOT NULL,
      text        TEXT NOT NULL,
      UNIQUE (address, platform_id)
    ) STRICT;

    CREATE TABLE settings (
      address TEXT NOT NULL,
      key     TEXT NOT NULL,
      value   TEXT NOT NULL,
      PRIMARY KEY (address, key)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE groups (
      channel TEXT NOT NULL,
      id      TEXT NOT NULL,
      by      TEXT NOT NULL,
      at      REAL NOT NULL,
      PRIMARY KEY (channel, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE links (
      identity TEXT PRIMARY KEY,
      person   TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX links_person ON links (person);
    """,
    """
    ALTER TABLE usage ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
    """,
    """
    CREATE TABLE prompts (
      id     INTEGER PRIMARY KEY AUTOINCREMENT,
      turn   TEXT NOT NULL,
      step   INTEGER NOT NULL,
      model  TEXT NOT NULL,
      at     REAL NOT NULL,
      packed BLOB NOT NULL
    ) STRICT;
    CREATE INDEX prompts_turn ON prompts (turn);
    """,
)


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file to the newest step, each step in one transaction. Raises ``StoreError`` for a newer file."""
    done = known_version(db)
    for number, step in enumerate(STEPS[done:], start=done + 1):
        db.executescript(f"BEGIN IMMEDIATE;\n{step}\nPRAGMA user_version = {number};\nCOMMIT;")


def known_version(db: sqlite3.Connection) -> int:
    """How many steps the file has taken. Raises ``StoreError`` for more than there are."""
    done = int(db.execute("PRAGMA user_version").fetchone()[0])
    if done > len(STEPS):
        raise StoreError(
            f"The data folder was written by a newer Bowerbird (schema {done}, this one knows {len(STEPS)}): upgrade Bowerbird."
        )
    return done
