"""How texts are filled up and cut: padding side, truncation side, maximal length, and what a tokenizer.json does by
itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from debugtracer.tokenizer.difference import Difference, different, noted, unmeasured
from debugtracer.tokenizer.loaded import Loaded

UNTOLD = "a tokenizer.json alone does not tell it; give the folder"


def padding(train: Loaded, serve: Loaded) -> Iterator[Difference]:
    """Compare padding sides; right in training and left in serving is how decoders generate, the reverse is not."""
    if train.padding_side is None or serve.padding_side is None:
        yield unmeasured("padding", f"padding side: {UNTOLD}")
    elif (train.padding_side, serve.padding_side) == ("right", "left"):
        expected = "right as in train, or left where a decoder-only model generates in batches"
        yield noted(
            "padding",
            "serve",
            "pads on the left",
            expected,
            "nothing to do for generation; set padding_side='right' otherwise",
        )
    elif train.padding_side != serve.padding_side:
        seen, expected = f"pads on the {serve.padding_side}", f"{train.padding_side}, as in train"
        yield different(
            "padding",
            "serve",
            seen,
            expected,
            f"set padding_side={train.padding_side!r}; a decoder that generates after right padding reads pads",
        )
    yield from block("padding", train, serve, noted)


def truncation(train: Loaded, serve: Loaded) -> Iterator[Difference]:
    """Compare truncation side and maximal length."""
    if train.truncation_side is None or serve.truncation_side is None:
        yield unmeasured("truncation", f"truncation side and maximal length: {UNTOLD}")
    else:
        if train.truncation_side != serve.truncation_side:
            remedy = f"set truncation_side={train.truncation_side!r}"
            yield different(
                "truncation",
                "serve",
                f"cuts on the {serve.truncation_side}",
                f"{train.truncation_side}, as in train",
                remedy,
            )
        if train.max_length != serve.max_length:
            remedy = "set model_max_length to the length the model was trained with"
            yield different(
                "truncation", "serve", f"maximal length {length(serve)}", f"{length(train)}, as in train", remedy
            )
    yield from block("truncation", train, serve, different)


def length(side: Loaded) -> str:
    """Format the maximal length in tokens."""
    return f"{side.max_length} tokens" if side.max_length else "unlimited"


def block(name: str, train: Loaded, serve: Loaded, verdict: Any) -> Iterator[Difference]:
    """The section of tokenizer.json that pads or cuts whatever the caller asks for."""
    if train.pipeline is None or serve.pipeline is None:
        return
    here, there = train.pipeline[name], serve.pipeline[name]
    if here != there:
        remedy = (
            f"save without it (tokenizer.backend_tokenizer.no_{name}()), and ask for {name} where texts are encoded"
        )
        yield verdict(
            name, "serve, tokenizer.json", f"{name} {switched(there)}", f"{switched(here)}, as in train", remedy
        )


def switched(section: dict[str, Any] | None) -> str:
    """Format a section as on with its settings, or off."""
    return "off" if section is None else "on (" + ", ".join(f"{key} {value}" for key, value in section.items()) + ")"
