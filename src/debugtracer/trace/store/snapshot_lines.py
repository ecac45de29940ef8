"""The lines of events.jsonl that hold a health snapshot: the longest by far, decoded only when asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.facts.health import Health
from debugtracer.trace.store.schema import EVENTS
from debugtracer.trace.stored_json import DamagedJson, decode_with

STEP = re.compile(rb'"step":(\d+)')  # within the first bytes, where the place of a fact is written
HEAD = 300


class Span(NamedTuple):
    """Number of the line, where it begins and ends in the file, and the step of its snapshot."""

    number: int
    begin: int
    end: int
    step: int


class SnapshotLine(msgspec.Struct, frozen=True):
    """What is read of such a line."""

    fact: Health


decoder = msgspec.json.Decoder(SnapshotLine)


def start_of(word: str) -> bytes:
    """The first bytes of the line of a fact of that word, as `encode_event` writes it."""
    return f'{{"type":"observed","word":"{word}"'.encode()


START = start_of(Health.word())


def is_snapshot(line: bytes) -> bool:
    """Whether a line holds a snapshot; a damaged one may not be told."""
    return line.startswith(START)


def span_of(number: int, begin: int, end: int, head: bytes) -> Span:
    """Where the line of a snapshot stands that begins with these bytes."""
    step = STEP.search(head)
    return Span(number, begin, end, int(step[1]) if step else 0)


def snapshot_spans(folder: Path) -> list[Span]:
    """Where the snapshots of a rank stand, in the order they were written. Raises TraceError."""
    found: list[Span] = []
    begin = 0
    try:
        with (folder / EVENTS).open("rb") as file:
            for number, line in enumerate(file, 1):
                if is_snapshot(line) and line.endswith(b"\n"):
                    found.append(span_of(number, begin, begin + len(line), line[:HEAD]))
                begin += len(line)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(folder / EVENTS, error) from None
    return found


def read_snapshots(folder: Path, spans: Sequence[Span]) -> tuple[list[Health], list[str]]:
    """The snapshots at these places, and a sentence per line that is damaged. Raises TraceError."""
    found: list[Health] = []
    problems: list[str] = []
    for number, line in lines_at(folder / EVENTS, spans) if spans else []:
        try:
            found.append(decode_with(partial(decoder.decode, line)).fact)
        except DamagedJson as error:
            problems.append(f"{folder / EVENTS}, line {number}: {error}; this line is skipped.")
    return found, problems


def lines_at(path: Path, spans: Iterable[Span]) -> Iterable[tuple[int, bytes]]:
    """Yield number and bytes of the lines. Raises TraceError."""
    try:
        with path.open("rb") as file:
            for span in spans:
                file.seek(span.begin)
                yield span.number, file.read(span.end - span.begin)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: OSError) -> TraceError:
    """The sentence for a file that the system does not give."""
    return TraceError(f"{path} cannot be read ({error.strerror}); check that it is a file and that you may read it.")
