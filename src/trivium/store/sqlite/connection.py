"""Connections to one store file: one a thread, a fair queue for writers, SQLite's errors in our words."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.errors import InvalidInput, NotAStore, ReadOnlyStore, StoreBusy, StoreError, StoreFull
from trivium.store.sqlite import schema
from trivium.store.sqlite.where import register_functions

if sys.platform != "win32":  # there SQLite's own waiting must do
    import fcntl

__all__ = ["Connections", "fcntl", "translated"]

BUSY_TIMEOUT_S = 60.0  # writers queue at the lock file first; this bounds the wait for a checkpoint or a foreign tool
CACHE_KIB = 65_536
MMAP_BYTES = 1 << 30


class Connections:
    """Opens, checks and migrates a file, and hands out connections to it."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._opened_lock = threading.Lock()
        self._writers = threading.RLock()
        self._writing: sqlite3.Connection | None = None
        self._closed = False
        self._lock_file: int | None = None
        try:
            with translated(path), translated_system(path):
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        exists = _is_there(self.path)
        if self.read_only or (exists and not os.access(self.path, os.W_OK)):
            if not exists:
                raise NotAStore(f"{self.path.name} does not exist; open it for writing once to make it")
            self.read_only = True
            if schema.check(self.own(), self.path.name) < schema.SCHEMA_VERSION:
                raise ReadOnlyStore(f"{self.path.name} has an older format; open it once for writing to migrate it")
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        version = schema.check(self.own(), self.path.name)  # before anything is written: it may be another program's
        self._use_log()
        if version == schema.SCHEMA_VERSION:
            return
        with self.exclusive() as connection:
            version = schema.check(connection, self.path.name)  # another process may have migrated meanwhile
            if version < schema.SCHEMA_VERSION:
                schema.migrate(connection, version)

    def _use_log(self) -> None:
        """Bring the file into WAL mode, which it remembers. In the queue: SQLite does not wait for this by itself."""
        connection = self.own()
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            with self._queued():
                connection.execute("PRAGMA journal_mode = WAL")

    def own(self) -> sqlite3.Connection:
        """This thread's connection."""
        self._refuse_closed()
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
            with self._opened_lock:
                self._opened.append(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        mode = "rwc"
        if self.read_only:
            mode = "ro&immutable=1" if _on_read_only_disk(self.path) else "ro"
        connection = sqlite3.connect(
            f"file:{_quoted(self.path)}?mode={mode}",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,  # each thread keeps to its own; close() ends them all
            cached_statements=256,
        )
        register_functions(connection)
        connection.execute("PRAGMA synchronous = FULL")  # an acknowledged write survives a power cut
        connection.execute("PRAGMA secure_delete = ON")  # what is forgotten leaves no bytes behind in the file
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute(f"PRAGMA mmap_size = {MMAP_BYTES}")
        connection.execute("PRAGMA temp_store = MEMORY")
        return connection

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """One writing transaction. Writers of all threads and processes wait in a queue at a lock file: SQLite's own
        waiting is a back-off that can starve one of them."""
        if self.read_only:
            raise ReadOnlyStore(f"{self.path.name} is open for reading only; nothing was written")
        self._refuse_closed()
        with self._writers, self._queued(), translated(self.path):
            connection = self._writer()
            if connection.in_transaction:
                raise StoreError("a write was begun inside another write of the same thread; end that one first")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise

    def _writer(self) -> sqlite3.Connection:
        """The connection for writing, apart from those for reading: a thread may write while it reads older state."""
        self._refuse_closed()
        if self._writing is None:
            self._writing = self._connect()
        return self._writing

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError("this store is closed; open it again")

    @contextmanager
    def _queued(self) -> Iterator[None]:
        if sys.platform == "win32":
            yield
            return
        if self._lock_file is None:
            with translated_system(self.path):
                self._lock_file = os.open(f"{self.path}-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._lock_file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """One state of the file for the whole block; nested blocks join the outer one."""
        connection = self.own()
        if connection.in_transaction:
            yield connection
            return
        with translated(self.path):
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone()  # BEGIN alone does not fix the state yet
            try:
                yield connection
            finally:
                _roll_back(connection)

    @contextmanager
    def apart(self) -> Iterator[sqlite3.Connection]:
        """A state of its own for a reader that hands out rows one by one: what its thread does between two of them sees
        the present. Inside a `snapshot` it reads that state."""
        if self.own().in_transaction:
            yield self.own()
            return
        with self.latest() as connection:
            yield connection

    @contextmanager
    def latest(self) -> Iterator[sqlite3.Connection]:
        """The newest state, also inside a `snapshot`."""
        self._refuse_closed()
        with translated(self.path):
            connection = self._connect()
            with self._opened_lock:
                self._opened.append(connection)
            try:
                yield connection
            finally:
                connection.close()
                with self._opened_lock:
                    if connection in self._opened:
                        self._opened.remove(connection)

    def truncate_log(self) -> None:
        """Let what was forgotten leave the write-ahead log as well, unless someone still reads from it."""
        with self._writers, translated(self.path):
            connection = self._writer()
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")

    def close(self) -> None:
        self._closed = True
        with self._opened_lock:
            for connection in (*self._opened, *([self._writing] if self._writing else ())):
                connection.close()
            self._opened.clear()
            self._writing = None
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # a full disk, for one, has rolled back already
        connection.execute("ROLLBACK")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours, each with what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        text = str(error)
        code = getattr(error, "sqlite_errorname", "") or ""
        if code.startswith("SQLITE_FULL") or "disk is full" in text:
            raise StoreFull(
                f"no room left to write {path.name}: nothing of this write was kept; free some space"
            ) from error
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise StoreBusy(
                f"{path.name} stayed locked for {BUSY_TIMEOUT_S:.0f} s by another program; try again"
            ) from error
        if code.startswith("SQLITE_READONLY"):
            raise ReadOnlyStore(
                f"{path.name} cannot be written; check the rights of the file and its folder"
            ) from error
        if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")) or "not a database" in text or "malformed" in text:
            raise NotAStore(f"{path.name} is damaged or not a Trivium store ({text}); restore a backup") from error
        raise StoreError(f"{path.name}: {text}") from error


@contextmanager
def translated_system(path: Path) -> Iterator[None]:
    """The system's errors as ours. Only around our own calls: an OSError of the caller's stays the caller's."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFull(f"no room left to make {path}; free some space") from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise ReadOnlyStore(f"{path} cannot be written; check the rights of the file and its folder") from error
        raise StoreError(f"{path} cannot be opened: {error.strerror}; give the name of a file") from error


def _is_there(path: Path) -> bool:
    """Whether there is a file to open. Never opens it: closing it would drop SQLite's locks of this process."""
    if "\0" in str(path):
        raise InvalidInput("db: the name of the file has a NUL character in it")
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(found.st_mode):
        raise NotAStore(f"{path.name} is a folder; give the name of a file")
    if found.st_size == 1:  # SQLite takes such a file for an empty one and would overwrite it
        raise NotAStore(f"{path.name} is not a Trivium store; choose another file")
    return True


def _on_read_only_disk(path: Path) -> bool:
    """Where nobody can write, SQLite cannot make the files that WAL mode wants, and needs none."""
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY) and not path.with_name(f"{path.name}-wal").exists()


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
