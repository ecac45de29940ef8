"""The table of patterns.toml: torch's own words and those of the usual trainers, and the class of fault each is
evidence of."""

from __future__ import annotations

import functools
import re
import sys
from importlib import resources

import msgspec

from debugtracer.trace.finding import Layer
from debugtracer.trace.step import Phase

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message and what it is worth."""

    slug: str
    text: str
    """A plain string that is in every line with this message; looked for before the pattern."""
    pattern: str
    kind: str = msgspec.field(name="class")
    certainty: float
    """Of that class from these words alone, 0..0.9."""
    because: str
    """One clause; `{name}` stands for a group of the pattern."""
    others: tuple[str, ...] = ()
    symptom: str = "crash"
    op: str | None = None
    phase: Phase | None = None
    remedy: tuple[str, ...] = ()
    """What to do about this message, before what its class says."""
    sample: str = ""
    """The sample that the message names, with its groups; "" if it names none."""
    source: str = ""
    """Where the words were seen, when torch on a CPU does not print them."""

    def find(self, line: str) -> re.Match[str] | None:
        """The message in a line."""
        return compiled(self.pattern).search(line) if self.text in line else None


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One autograd node that anomaly mode may name."""

    op: str
    kind: str = msgspec.field(name="class")
    because: str
    others: tuple[str, ...] = ()
    only_passes: bool = False
    """Its derivative is finite where its inputs are: it only hands on what is bad already."""


class Class(msgspec.Struct, frozen=True):
    """Layer of a class of fault, and what to do about it, best first."""

    layer: Layer
    remedy: tuple[str, ...]


class Patterns(msgspec.Struct, frozen=True):
    """The whole table."""

    message: tuple[Message, ...]
    node: dict[str, Node]
    number: dict[str, dict[str, tuple[float, str]]]
    """Situation of the curves -> class -> what it is worth, and why."""
    classes: dict[str, Class] = msgspec.field(name="class")


@functools.cache
def patterns() -> Patterns:
    """The table, read once."""
    text = (resources.files("debugtracer.logs") / "patterns.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Patterns)


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled once."""
    return re.compile(pattern)
