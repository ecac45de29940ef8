"""The library of cured incidents: a JSON object a line, appended by several writers; damaged lines are skipped and
reported."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from debugtracer.errors import UsageError
from debugtracer.library.fingerprint import Signature, signature_of
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.stored_json import DamagedJson, decode_stored
from debugtracer.trace.verdict import Verdict

VERSION = 1
NAME = "debug-tracer-library.jsonl"


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One incident that was cured. `at` is seconds since the epoch: when the incident happened, or was remembered if
    that is not known."""

    version: int = VERSION
    fingerprint: str
    signature: Signature
    run: str
    step: int = 0
    at: float
    fix: str
    summary: str = ""

    @property
    def date(self) -> str:
        """The day of the entry in UTC."""
        return time.strftime("%Y-%m-%d", time.gmtime(self.at))


@dataclass(frozen=True)
class Library:
    """Entries in the order they were written, and one sentence for each line that was skipped."""

    entries: tuple[Entry, ...]
    problems: tuple[str, ...]


def library_of(run: Path, setting: Path | None = None) -> Path:
    """The file of the setting `library` (or in that folder); else beside the folder of runs, in the project."""
    if setting is not None:
        return setting / NAME if setting.is_dir() else setting
    return run.resolve().parent.parent / NAME


def read_library(path: Path) -> Library:
    """Read all entries; none when there is no file. Raises UsageError if it cannot be read."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Library((), ())
    except OSError as error:
        raise UsageError(
            f"{path}: the library cannot be read ({error.strerror}); check the setting library and that you may read it"
        ) from None
    entries, problems = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entries.append(decode_stored(line, Entry))
        except DamagedJson as error:
            problems.append(f"{path}, line {number}: {error}; this line is skipped")
    return Library(tuple(entries), tuple(problems))


def remember(path: Path, entry: Entry) -> None:
    """Append one entry, whole; a line that another writer left torn is ended first. Raises UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with locked(file):
                torn = os.fstat(file).st_size > 0 and last_byte(file) != b"\n"
                line = b"\n" * torn + msgspec.json.encode(entry) + b"\n"
                if os.write(file, line) != len(line):
                    raise OSError(28, "the disk is full")
        finally:
            os.close(file)
    except OSError as error:
        raise UsageError(
            f"{path}: the library cannot be written ({error.strerror}); check the setting library and that you may "
            "write there"
        ) from None


def last_byte(file: int) -> bytes:
    """The last byte of an open file."""
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1)


@contextlib.contextmanager
def locked(file: int) -> Iterator[None]:
    """The file for this writer alone, where the system and the disk can lock; a single append is whole without it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):
        yield
        return
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def entry_of(facts: IncidentFacts | None, verdict: Verdict, *, run: str, at: float, fix: str) -> Entry:
    """The entry of an incident and what cured it."""
    signature = signature_of(facts, verdict)
    return Entry(
        fingerprint=signature.fingerprint,
        signature=signature,
        run=run,
        step=verdict.step,
        at=at,
        fix=" ".join(fix.split()),
        summary=verdict.summary,
    )


def seen_before(facts: IncidentFacts | None, verdict: Verdict, library_path: Path, run: str = "") -> str | None:
    """Return `seen in run X on DATE, cured by: Y`, None if never. `run` asks and is no recurrence of itself. Raises
    nothing."""
    try:
        library = read_library(library_path)
    except UsageError as error:
        return str(error)
    wanted = signature_of(facts, verdict).fingerprint
    known = [entry for entry in library.entries if entry.fingerprint == wanted and entry.run != run]
    if not known:
        return None
    latest = max(known, key=lambda entry: entry.at)
    runs = len({entry.run for entry in known}) - 1
    more = f" (and in {runs} more run{'s' * (runs > 1)})" if runs else ""
    skipped = (
        f"; {len(library.problems)} damaged line{'s' * (len(library.problems) > 1)} of the library skipped"
        if library.problems
        else ""
    )
    return f"seen in run {latest.run} on {latest.date}{more}, cured by: {latest.fix}{skipped}"
