"""Two tokenizers compared in every aspect: the answer of `debug-tracer tokenizers`."""

from __future__ import annotations

from dataclasses import dataclass

from debugtracer.tokenizer import limits, tables, template, texts
from debugtracer.tokenizer.difference import Difference, unmeasured
from debugtracer.tokenizer.encoding import Probed, ids, probe
from debugtracer.tokenizer.loaded import Loaded
from debugtracer.tokenizer.pipeline import pipeline
from debugtracer.tokenizer.readers import others, readers

KIND = "tokenizer_mismatch"  # the class of cases/README.md
ASPECTS = (
    "vocabulary",
    "added tokens",
    "special tokens",
    "padding",
    "truncation",
    "chat template",
    "pipeline",
    "ids",
    "readers",
)


@dataclass(frozen=True)
class Parity:
    """What was compared and what differs."""

    train: Loaded
    serve: Loaded
    probed: Probed
    differences: list[Difference]
    readers: list[str]
    """The second readers (fast against slow, tokenizer.json alone) that were compared with the first."""

    @property
    def equal(self) -> bool:
        """True if nothing but notes was found."""
        return not any(d.state == "different" for d in self.differences)

    def state(self, aspect: str) -> str:
        """The worst state of an aspect: different, note, not measurable, same."""
        states = {d.state for d in self.differences if d.aspect == aspect}
        return next((s for s in ("different", "note", "not measurable") if s in states), "same")


def compare(train: Loaded, serve: Loaded, own_texts: list[str] | None = None) -> Parity:
    """Every aspect. `own_texts` are probed beside the built-in ones and those made of the special tokens of both
    sides."""
    marks = frozenset({*train.added, *serve.added, *(train.special or ()), *(serve.special or ())})
    probes = list(dict.fromkeys([*texts.BUILT_IN, *texts.about(marks), *(own_texts or [])]))
    probed = probe(train, serve, probes)
    found = [*tables.vocabulary(train, serve), *tables.added(train, serve), *tables.special(train, serve)]
    found += [*limits.padding(train, serve), *limits.truncation(train, serve), *template.chat(train, serve)]
    found += [*pipeline(train, serve, probed), *ids(train, serve, probed)]
    read = {"train": (train, others(train))}
    if serve.path.resolve() != train.path.resolve():
        read["serve"] = (serve, others(serve))
    for name, (side, rest) in read.items():
        found += readers(side, name, rest, probes)
    kinds = [f"{name}: {other.kind}" for name, (_, rest) in read.items() for other in rest]
    return Parity(
        train,
        serve,
        probed,
        found if kinds else [*found, unmeasured("readers", "neither folder has a second reader here")],
        kinds,
    )
