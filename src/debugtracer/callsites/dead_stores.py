"""Where a function, or the script itself, gives a name a value that no path of its code reads; by bytecode, nothing is
executed."""

from __future__ import annotations

import dis
import functools
import inspect
from bisect import bisect_left
from types import CodeType
from typing import NamedTuple

from debugtracer.callsites.frame_locals import uses_locals
from debugtracer.callsites.nested_code import with_nested

MOST = 10_000  # instructions of a function that is looked at (ours)
OTHERS = frozenset({
    "FOR_ITER", "COPY", "DUP_TOP", "BEFORE_WITH", "MAKE_FUNCTION", "IMPORT_NAME", "IMPORT_FROM", "GET_ANEXT",
})  # fmt: skip
"""What stands before a store that is no assignment: loops, `with ... as`, `a = b = ...`, def."""
UNPACKED = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX", "SWAP", "ROT_TWO", "ROT_THREE"})
STOPS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
LOOKS_AT_ALL = frozenset({"globals", "locals", "vars", "eval", "exec", "dir"})


class DeadStore(NamedTuple):
    """An assignment to one name whose value is read on no path."""

    name: str
    line: int
    offset: int
    live: frozenset[str]
    """The names whose values of that moment are read afterwards."""
    until: int
    """The instruction that gives the name its next value, in the order of the code."""
    alone: bool
    """It is the only name that the assignment writes."""
    made_at: int
    """The instruction before it, which gives the value where the assignment writes one name."""


@functools.lru_cache(1024)
def dead_stores(code: CodeType) -> tuple[DeadStore, ...]:
    """The assignments to plain names of a function or a script; none for a class's own code, names that a function
    inside reads, names that begin with an underscore, and code that looks at all its names."""
    script = code.co_name == "<module>"
    inner = names_inside(code) if script else frozenset()
    if script and (LOOKS_AT_ALL & (inner | set(code.co_names)) or not code.co_filename.endswith(".py")):
        return ()
    if not script and (not code.co_flags & inspect.CO_OPTIMIZED or uses_locals(code)):
        return ()
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    if len(steps) > MOST:
        return ()
    after = live_after(steps, followers(code, steps))
    own = ("STORE_NAME", "STORE_GLOBAL") if script else ("STORE_FAST",)
    stores = [(place, step) for place, step in enumerate(steps) if step.opname.startswith(own)]
    return tuple(
        DeadStore(
            str(step.argval), line_of(code, step.offset), step.offset, after[place],
            min((s.offset for _, s in stores if s.offset > step.offset and step.argval == s.argval), default=1 << 30),
            not (steps[place - 1].opname in UNPACKED or steps[place - 1].opname.startswith("STORE_")),
            steps[place - 1].offset,
        )
        for place, step in stores
        if isinstance(step.argval, str)
        and not step.argval.startswith("_")
        and step.argval not in after[place] | inner
        and place
        and steps[place - 1].opname not in OTHERS
    )  # fmt: skip


def first_read(code: CodeType, name: str, offset: int) -> int | None:
    """The line of the first instruction behind this one that reads a name."""
    for step in dis.get_instructions(code):
        if step.offset > offset and name in used(step)[0]:
            return line_of(code, step.offset)
    return None


def rewritten(code: CodeType, name: str, offset: int, until: int) -> bool:
    """Whether an instruction between these two gives a name another value."""
    return any(offset < step.offset <= until and name in used(step)[1] for step in dis.get_instructions(code))


def names_inside(code: CodeType) -> frozenset[str]:
    """The names that functions and classes inside speak of."""
    return frozenset(name for one in with_nested(code) if one is not code for name in one.co_names)


def line_of(code: CodeType, offset: int) -> int:
    """Find where in the source an instruction stands."""
    found = code.co_firstlineno
    for begin, end, line in code.co_lines():
        if begin <= offset < end and line is not None:
            found = line
    return found


def followers(code: CodeType, steps: list[dis.Instruction]) -> list[list[int]]:
    """Which instructions may come after each, those of a handler that catches its error too."""
    offsets = [step.offset for step in steps]
    jumps = {*dis.hasjrel, *dis.hasjabs}

    def from_offset(offset: int) -> list[int]:
        place = bisect_left(offsets, offset)
        return [place] if place < len(offsets) else []

    found: list[list[int]] = []
    for place, step in enumerate(steps):
        ends = step.opname.startswith(STOPS) or place + 1 == len(steps)
        found.append([] if ends else [place + 1])
        if step.opcode in jumps:
            found[place] += from_offset(int(step.argval))
    for entry in getattr(dis.Bytecode(code), "exception_entries", ()):  # from Python 3.11 on
        handler = from_offset(entry.target)
        for place in range(bisect_left(offsets, entry.start), bisect_left(offsets, entry.end)):
            found[place] += handler
    return found


def live_after(steps: list[dis.Instruction], follow: list[list[int]]) -> list[frozenset[str]]:
    """The names that are read after each instruction before they are written anew, on one path at least."""
    after: list[frozenset[str]] = [frozenset()] * len(steps)
    before = list(after)
    names = [used(step) for step in steps]
    moved = True
    while moved:
        moved = False
        for place in range(len(steps) - 1, -1, -1):
            nexts, (read, written) = follow[place], names[place]
            # most instructions have one that follows, and speak of no name: sets are made for the others alone
            out = before[nexts[0]] if len(nexts) == 1 else frozenset().union(*(before[one] for one in nexts))
            into = (out - written) | read if read or written else out
            if out != after[place] or into != before[place]:
                after[place], before[place], moved = out, into, True
    return after


def used(step: dis.Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """The names that an instruction reads, and those that it writes; `del` counts as a read."""
    word, names = step.opname, step.argval
    if not word.startswith(("LOAD_", "STORE_", "DELETE_")) or not any(k in word for k in ("_FAST", "_NAME", "_GLOBAL")):
        return frozenset(), frozenset()
    if word.startswith("STORE_FAST_LOAD_FAST"):
        return frozenset(names[1:]) - {names[0]}, frozenset(names[:1])
    some = frozenset(map(str, names)) if isinstance(names, tuple) else frozenset({str(names)})
    return (frozenset(), some) if word.startswith("STORE_") else (some, frozenset())
