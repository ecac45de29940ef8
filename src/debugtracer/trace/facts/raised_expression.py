"""The expression of the program that it died of, and what the names in it were."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class ElementSeen(msgspec.Struct, frozen=True):
    """One element of a list or tuple that was gone through: the name of that, the place in it, its length."""

    text: str
    index: int
    length: int


class ConditionSeen(msgspec.Struct, frozen=True):
    """An `if` of the program: its line, and what it asks."""

    frame: Frame
    text: str


class RaisedExpression(Fact, frozen=True, kw_only=True):
    """Emitted once, when the program dies of an exception raised by one of its own lines or below."""

    KEEP: ClassVar[int] = 1

    error: str
    """Name of the class of the exception."""
    message: str
    """The first line of its text, at most 200 characters."""
    text: str
    """The expression as it is written."""
    frame: Frame
    values: tuple[tuple[str, str], ...] = ()
    """Names in it and what they were, in words."""
    suspect: str = ""
    """The name whose value the exception is about; empty where that is not clear."""
    made: Frame | None = None
    """The line that wrote the value of the suspect last, where that is another one."""
    setting: Frame | None = None
    """The line that sets the suspect to its number, where nothing in the expression depends on a record."""
    set_where: ConditionSeen | None = None
    """The only condition under which the suspect, which is None, gets another value."""
    used_where: ConditionSeen | None = None
    """The condition around the expression, where that is known too."""
    record: Frame | None = None
    """The only line of the data files that holds the suspect's text."""
    files: tuple[str, ...] = ()
    """Data files that the line held under names while it was at the sample or element, the last one named first."""
    sample: int | None = None
    """Dataset index of the sample that was being made."""
    element: ElementSeen | None = None
    """The element in hand of what a loop around the expression goes through."""
    deliberate: bool = False
    """The program raised it by its own `raise` or `assert`."""

    @property
    def row(self) -> int | None:
        """The sample, else the element, by its index; None where neither is known."""
        return self.sample if self.sample is not None else self.element.index if self.element is not None else None


class SqueezedBatch(Fact, frozen=True, kw_only=True):
    """A call of squeeze without a dimension that took away one that was longer in other steps, when the program dies at
    a line that takes what it gave."""

    KEEP: ClassVar[int] = 2

    name: str
    """The value at the failing line."""
    given: tuple[int, ...]
    """The shape that squeeze was given."""
    usual: tuple[int, ...]
    """The shape that it was given in another step."""
    lost: int
    """The dimension that it took away."""
    frame: Frame | None
    symptom: Frame | None
