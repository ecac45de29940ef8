"""The events file of a rank: one JSON object a line, appended whole; a torn line is skipped by the reader."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.events import AnyEvent, Observed
from debugtracer.trace.number import symbolic
from debugtracer.trace.store.schema import EVENTS
from debugtracer.trace.store.series.live import write_whole
from debugtracer.trace.store.snapshot_lines import is_snapshot, start_of, unreadable
from debugtracer.trace.stored_json import DamagedJson, decode_with

encode_event = msgspec.json.Encoder(enc_hook=symbolic).encode
decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def decode_event(line: bytes) -> AnyEvent:
    """The event of one line. Raises DamagedJson."""
    return decode_with(lambda: decoder.decode(line))


class Journal:
    """Appends lines to a rank's events.jsonl, unbuffered."""

    def __init__(self, folder: Path) -> None:
        """Open or make the file; a line that a killed writer left torn is ended first. Raises OSError."""
        self.path = folder / EVENTS
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        if os.fstat(self.file).st_size:
            os.lseek(self.file, -1, os.SEEK_END)
            if os.read(self.file, 1) != b"\n":
                self.append(b"")

    def append(self, lines: bytes) -> None:
        """Append lines, given without their last newline, in one write. Raises OSError; nothing of them is kept
        then."""
        write_whole(self.file, lines + b"\n", os.fstat(self.file).st_size)

    def close(self) -> None:
        os.close(self.file)


def read_events(folder: Path, *, snapshots: bool = True) -> tuple[list[AnyEvent], list[str]]:
    """The events of a rank in the order they were written, and a sentence per line that is damaged (a torn last line is
    none). Without `snapshots`, those that hold one are left out and not decoded.

    Raises TraceError if no line at all can be read though there are some.
    """
    path = folder / EVENTS
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise unreadable(path, error) from None
    events: list[AnyEvent] = []
    problems: list[str] = []
    for number, line in enumerate(lines, 1):
        try:
            if line.strip() and (snapshots or not is_snapshot(line)):
                events.append(decode_event(line))
        except DamagedJson as error:
            if number < len(lines):
                problems.append(f"{path}, line {number}: {error}; this line is skipped.")
    if problems and not events:
        raise TraceError(f"{path} holds no readable event ({problems[0]}) - it is damaged, or of a newer debug-tracer.")
    return events, problems


def read_facts(folder: Path, word: str) -> Iterator[Observed]:
    """Yield the facts of one word that a rank has written, oldest first; no other line is decoded, and a damaged one is
    left out. Raises OSError."""
    start = start_of(word)
    with (folder / EVENTS).open("rb") as lines:
        for line in lines:
            if not line.startswith(start):
                continue
            try:
                event = decode_event(line)
            except DamagedJson:
                continue
            if isinstance(event, Observed):
                yield event
