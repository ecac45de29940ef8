"""How a text is cut: normaliser, pre-tokenizer, model with its merges, post-processor and decoder, as tokenizer.json
has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from debugtracer.tokenizer.difference import Difference, different, noted, unmeasured
from debugtracer.tokenizer.encoding import Probed
from debugtracer.tokenizer.loaded import Loaded

SECTIONS = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")
MOST = 160  # characters of a setting shown


def pipeline(train: Loaded, serve: Loaded, probed: Probed) -> Iterator[Difference]:
    """A section that differs is a difference if ids differ too, else a note: versions of the library write the same
    thing in several ways."""
    if train.pipeline is None or serve.pipeline is None:
        slow = train if train.pipeline is None else serve
        yield unmeasured(
            "pipeline", f"{slow.path} is loaded as {slow.kind}: its steps are Python code, only the ids can be compared"
        )
        return
    for name in SECTIONS:
        here, there = train.pipeline[name], serve.pipeline[name]
        if here != there:
            yield section(name, here, there, probed)


def section(name: str, here: Any, there: Any, probed: Probed) -> Difference:
    """Compare one section that differs: a fault when ids differ, a note otherwise."""
    path, old, new = first_leaf(here, there)
    where = f"serve, {name}{path}"
    merged = name == "model" and path.startswith(".merges")
    if probed.parted or probed.decoded or merged:
        return different(
            "pipeline",
            where,
            clipped(new),
            f"{clipped(old)}, as in train",
            "load the tokenizer that was saved with the trained model",
        )
    seen = f"{clipped(new)}, and the same ids for all {probed.count} probe texts"
    return noted("pipeline", where, seen, f"{clipped(old)}, as in train", "probe with your own texts (--probes FILE)")


def first_leaf(here: Any, there: Any, path: str = "") -> tuple[str, Any, Any]:
    """The first setting that differs below two nested ones: its path, and both values."""
    if isinstance(here, dict) and isinstance(there, dict) and here.get("type") == there.get("type"):
        for key in sorted(here.keys() | there.keys()):
            if here.get(key) != there.get(key):
                return first_leaf(here.get(key), there.get(key), f"{path}.{key}")
    if isinstance(here, list) and isinstance(there, list):
        for n, (a, b) in enumerate(zip(here, there, strict=False)):
            if a != b:
                return first_leaf(a, b, f"{path}[{n}]")
        return path, f"{len(here)} entries", f"{len(there)} entries"
    return path, here, there


def clipped(value: Any) -> str:
    """A setting as text; a section by its type and a few of its settings."""
    if isinstance(value, dict) and "type" in value:
        text = f"{value['type']} { ({key: rest for key, rest in value.items() if key != 'type'}) }"
    else:
        text = "none" if value is None else repr(value)
    return text if len(text) <= MOST else text[:MOST] + "..."
