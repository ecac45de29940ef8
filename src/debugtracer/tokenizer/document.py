"""A comparison as a document: what a person reads, and what a program does (schema debug-tracer.tokenizers/1)."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from debugtracer.tokenizer.loaded import Loaded
from debugtracer.tokenizer.parity import ASPECTS, KIND, Parity

SCHEMA = "debug-tracer.tokenizers/1"
WORDS = {"different": "DIFF", "note": "note", "not measurable": "-", "same": "same"}
EXAMPLES = 20  # probe texts listed in the JSON


def terminal(parity: Parity, width: int = 100) -> str:
    """The verdict first, then one line an aspect with what was seen below it."""
    count = sum(parity.state(aspect) == "different" for aspect in ASPECTS)
    verdict = (
        f"the same for {parity.probed.count} probe texts"
        if parity.equal
        else f"{KIND}: {count} of {len(ASPECTS)} aspects differ"
    )
    lines = [
        f"debug-tracer tokenizers: {verdict}",
        f"  train  {side_text(parity.train)}",
        f"  serve  {side_text(parity.serve)}",
        "",
    ]
    for aspect in ASPECTS:
        lines.append(f"  {WORDS[parity.state(aspect)]:4}  {aspect}{extra(aspect, parity)}")
        for one in (d for d in parity.differences if d.aspect == aspect):
            lines += textwrap.wrap(
                one.message, max(width, 40), initial_indent=" " * 8, subsequent_indent=" " * 10, break_long_words=False
            )
    return "\n".join(lines) + "\n"


def extra(aspect: str, parity: Parity) -> str:
    """What the second readers were, behind their line."""
    return f"  ({'; '.join(parity.readers)})" if aspect == "readers" and parity.readers else ""


def side_text(side: Loaded) -> str:
    """Describe one side in one line."""
    return f"{side.path}  {side.kind}, {len(side.vocab)} tokens"


def data(parity: Parity) -> dict[str, Any]:
    """Convert a comparison to plain values for a program."""
    probed = parity.probed
    parted = [
        {"text": p.text[:200], "position": p.position, "train": p.train, "serve": p.serve}
        for p in probed.parted[:EXAMPLES]
    ]
    return {
        "schema": SCHEMA,
        "equal": parity.equal,
        "class": None if parity.equal else KIND,
        "layer": "data",
        **{
            name: {"path": str(side.path), "kind": side.kind, "tokens": len(side.vocab)}
            for name, side in (("train", parity.train), ("serve", parity.serve))
        },
        "aspects": {aspect: parity.state(aspect) for aspect in ASPECTS},
        "readers": parity.readers,
        "findings": [{"aspect": d.aspect, "state": d.state, "message": d.message} for d in parity.differences],
        "probes": {
            "count": probed.count,
            "different": len(probed.parted),
            "different_without_special_tokens": probed.bare,
            "examples": parted,
        },
    }


def as_json(parity: Parity) -> str:
    """The JSON document, ending in a newline."""
    return json.dumps(data(parity), indent=2, ensure_ascii=True) + "\n"
