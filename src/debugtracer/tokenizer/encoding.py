"""Ids: the probe texts encoded by both sides, for equal tables do not make equal ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from debugtracer.tokenizer.difference import Difference, different, short
from debugtracer.tokenizer.loaded import REFUSED, Loaded


@dataclass(frozen=True)
class Parted:
    """One text that gets other ids: the first place where they part, and the ids from there."""

    text: str
    position: int
    train: list[int]
    serve: list[int]


@dataclass(frozen=True)
class Probed:
    """All probe texts of one comparison."""

    count: int
    parted: list[Parted]
    bare: int
    """How many part without the special tokens around them."""
    decoded: int
    """How many texts with equal ids are decoded to other texts."""


def probe(train: Loaded, serve: Loaded, texts: list[str]) -> Probed:
    """Every text encoded by both, with and without special tokens."""
    here, there = train.encode(texts, True), serve.encode(texts, True)
    parted = [Parted(text, *parting(a, b)) for text, a, b in zip(texts, here, there, strict=True) if a != b]
    bare = (
        sum(a != b for a, b in zip(train.encode(texts, False), serve.encode(texts, False), strict=True))
        if parted
        else 0
    )
    decoded = sum(train.decode(a) != serve.decode(a) for a, b in zip(here, there, strict=True) if a == b != [REFUSED])
    return Probed(len(texts), parted, bare, decoded)


def parting(here: list[int], there: list[int], most: int = 6) -> tuple[int, list[int], list[int]]:
    """The first position that differs, and a few ids from it on."""
    at = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), min(len(here), len(there)))
    return at, here[at : at + most], there[at : at + most]


def ids(train: Loaded, serve: Loaded, probed: Probed) -> Iterator[Difference]:
    """How many probe texts get other ids, the first of them, and whether only the special tokens around them differ."""
    if probed.parted:
        first = min(probed.parted, key=lambda p: (not p.text.strip(), len(p.text)))  # the shortest one that can be seen
        alone = (
            "; without special tokens all agree, so only what is put around a text differs" if not probed.bare else ""
        )
        seen = (
            f"{len(probed.parted)} of {probed.count} probe texts get other ids{alone}; {short(first.text)} has "
            f"{ids_text(serve, first.serve)}"
        )
        expected = f"{ids_text(train, first.train)} at position {first.position}, as in train"
        yield different(
            "ids",
            "serve",
            seen,
            expected,
            "encode with the training tokenizer; look at the aspects above for the setting that parts them",
        )
    if probed.decoded:
        seen = f"{probed.decoded} of {probed.count} probe texts with equal ids decode to another text"
        yield different(
            "ids",
            "serve",
            seen,
            "the text that train decodes",
            "compare the decoder section and clean_up_tokenization_spaces",
        )


def ids_text(side: Loaded, numbers: list[int]) -> str:
    """Format ids with their tokens, at most three."""
    if numbers == [REFUSED]:
        return "no ids: the tokenizer refuses the text"
    names = {number: token for token, number in side.vocab.items()}
    return (
        ", ".join(f"{n} {names.get(n, '?')!r}" for n in numbers[:3]) + (", ..." if len(numbers) > 3 else "")
        if numbers
        else "nothing"
    )
