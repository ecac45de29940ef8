"""last-words.txt of a rank: the stack it stood in when it waited, died or was killed; text that also a C signal handler
can write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from debugtracer.trace.plain_text import plain_text

LAST_WORDS = "last-words.txt"
# code of ours that calls on in the name of a user's line (callsites/caller.py); no line of a stack
FORWARDS = "_forwarded_by_debug_tracer"
How = Literal["waits", "crashed", "killed"]
LINE = re.compile(r'  File "(.*)", line (\d+) in (.+)')
OWN = re.compile(r"== (waits|crashed|moved) after (\d+) updates(?:: (.*))?")
THREAD = re.compile(r"(?:Current thread|Thread) (0x[0-9a-f]+)")  # faulthandler
FATAL = re.compile(r"Fatal Python error: (.*)")


class Entry(NamedTuple):
    """One line of a stack."""

    file: str
    line: int
    function: str


class Words(NamedTuple):
    """What a rank said last; its stack is innermost first."""

    how: How
    stack: tuple[Entry, ...]
    updates: int | None = None
    """Updates done; None where a signal handler wrote it."""
    message: str = ""
    """Type and text of the exception, or the name of the fatal error."""


def section(how: str, updates: int, stack: Iterable[Entry] = (), message: str = "") -> str:
    """Format one section as it is appended to the file."""
    text = f": {' '.join(plain_text(message).split())}" if message else ""
    return f"== {how} after {updates} updates{text}\n" + "".join(
        f'  File "{e.file}", line {e.line} in {e.function}\n' for e in stack
    )


def last_words(text: str) -> Words | None:
    """What the file says: the exception, else the first death by a signal, else the stand it still waits in; None when
    it says nothing."""
    waits = killed = None
    for head, lines in sections(text.splitlines()):
        own = OWN.match(head)
        if own is None:
            stack = main_thread(lines)
            killed = killed or (
                Words("killed", stack, None, next((m[1] for line in lines if (m := FATAL.match(line))), ""))
                if stack
                else None
            )
        elif own[1] == "crashed":
            return Words("crashed", stack_of(lines), int(own[2]), own[3] or "")
        else:
            waits = Words("waits", stack_of(lines), int(own[2])) if own[1] == "waits" else None
    return killed or waits


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (our heading or "", lines); a dump of faulthandler ends a section, for a handler writes where it likes."""
    head, held = "", list[str]()
    for line in lines:
        begins = line.startswith("== ")
        if begins or (head and (FATAL.match(line) or THREAD.match(line))):
            yield head, held
            head, held = (line if begins else ""), []
        if not begins:
            held.append(line)
    yield head, held


def stack_of(lines: list[str]) -> tuple[Entry, ...]:
    """The lines that are entries of the program's stack."""
    return tuple(Entry(m[1], int(m[2]), m[3]) for line in lines if (m := LINE.match(line)) and m[3] != FORWARDS)


def main_thread(lines: list[str]) -> tuple[Entry, ...]:
    """The oldest thread of the first dump; faulthandler writes the newest first."""
    seen: set[str] = set()
    begins = 0
    for number, line in enumerate(lines):
        thread = THREAD.match(line)
        if thread and thread[1] in seen:  # a second dump
            return stack_of(lines[begins:number])
        if thread:
            seen.add(thread[1])
            begins = number
    return stack_of(lines[begins:])
