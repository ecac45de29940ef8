"""Other readers of the same folder: the slow tokenizer and the bare tokenizer.json, which serve the same model
elsewhere."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from debugtracer.errors import UsageError
from debugtracer.tokenizer.difference import Difference, noted, short
from debugtracer.tokenizer.encoding import ids_text, probe
from debugtracer.tokenizer.loaded import Loaded, from_file, from_object, library


def readers(side: Loaded, name: str, others: list[Loaded], texts: list[str]) -> Iterator[Difference]:
    """Yield other readers of this folder that give other ids. A note: who serves decides which one counts."""
    for other in others:
        probed = probe(side, other, texts)
        if probed.parted:
            first = min(probed.parted, key=lambda p: (not p.text.strip(), len(p.text)))
            seen = f"{other.kind} parts from {side.kind} on {len(probed.parted)} of {probed.count} probe texts"
            expected = (
                f"the same ids; {short(first.text)} has {ids_text(other, first.serve)} instead of "
                f"{ids_text(side, first.train)}"
            )
            yield noted("readers", f"{name} {side.path}", seen, expected, "train and serve through the same reader")


def others(side: Loaded) -> list[Loaded]:
    """The other readers that exist for this folder."""
    return [other for other in (bare(side), slow(side)) if other is not None]


def bare(side: Loaded) -> Loaded | None:
    """Load tokenizer.json as a server without transformers reads it: the loader may have rebuilt it from its own
    class."""
    file = side.path / "tokenizer.json"
    return from_file(file) if side.path.is_dir() and file.is_file() else None


def slow(side: Loaded) -> Loaded | None:
    """The Python tokenizer of the same folder; None if this version of transformers, or the folder, has none."""
    if side.own is None or not side.path.is_dir() or not getattr(side.own, "is_fast", False):
        return None
    try:
        own = slow_object(side)
    except (ImportError, OSError, ValueError, TypeError, AttributeError, KeyError, UsageError):
        return None  # a folder saved by the fast one alone lacks the files of the slow one
    return None if own is None or own.is_fast else from_object(own, side.path)


def slow_object(side: Loaded) -> Any:
    """Load the slow tokenizer: transformers 4 has `use_fast=False`; 5 keeps some as `...Legacy` beside the fast
    class."""
    transformers = library("transformers")
    own = transformers.AutoTokenizer.from_pretrained(
        str(side.path), local_files_only=True, trust_remote_code=False, use_fast=False
    )
    if not own.is_fast:
        return own
    family = type(side.own)
    legacy = importlib.import_module(f"{family.__module__}_legacy")
    return getattr(legacy, f"{family.__name__}Legacy").from_pretrained(str(side.path), local_files_only=True)
