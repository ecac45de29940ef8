"""The contract of a fact: one thing an observer has seen at one place of the run, a value without judgement."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.number import symbolic
from debugtracer.trace.step import StepRef


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all facts. Fields are plain JSON values, Frames and other Structs; floats that may be NaN or infinite are
    `Number`.

    A fact is written to events.jsonl when it is new: the first of its `key()`, or different from the last one of that
    key in anything but `ref`."""

    KEEP: ClassVar[int] = 64
    """Last facts of this kind that a check can see."""

    ABOUT: ClassVar[str] = ""
    """What a run must have for a fact of this kind to be possible (`a DataLoader`, `a scheduler`): without it what
    asks for the fact is not measurable. Empty: any training has it."""

    ref: StepRef

    def key(self) -> object:
        """What two facts about the same thing have in common: a parameter, a loader, an optimizer; by default the kind
        itself."""
        return None

    @classmethod
    def word(cls) -> str:
        """Return the name on disk: the file it lives in, with dashes, and the class when a file holds several."""
        return f"{cls.__module__.rsplit('.', 1)[-1].replace('_', '-')}/{cls.__name__}"


@functools.cache
def fact_kinds() -> dict[str, type[Fact]]:
    """Every kind of fact by its word. The folder is the registry."""
    import debugtracer.trace.facts as room

    for info in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{info.name}")
    return {kind.word(): kind for kind in below(Fact)}


def below(kind: type[Fact]) -> Iterator[type[Fact]]:
    """Yield subclasses of all levels."""
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


def to_plain(fact: Fact) -> dict[str, Any]:
    """A fact as JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(fact, enc_hook=symbolic)
    return plain


def from_plain(word: str, plain: dict[str, Any]) -> Fact | None:
    """A fact from its JSON values; None for a kind that this version does not know. Raises TraceError when the values
    do not fit."""
    kind = fact_kinds().get(word)
    if kind is None:
        return None
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise TraceError(
            f"a fact of kind {word} cannot be read ({error}); it was written by another version of debug-tracer."
        ) from None
