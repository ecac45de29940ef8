"""`debug-tracer tokenizers`: does serving encode text as training did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from debugtracer.commands._terminal import columns
from debugtracer.errors import STOPPED, UsageError
from debugtracer.tokenizer.document import as_json, terminal
from debugtracer.tokenizer.loaded import load
from debugtracer.tokenizer.parity import compare
from debugtracer.tokenizer.texts import lines


def tokenizers(
    train: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN", help="The tokenizer of training: a folder of save_pretrained, or a tokenizer.json."
        ),
    ],
    serve: Annotated[Path, typer.Argument(metavar="SERVE", help="The tokenizer of serving.")],
    probes: Annotated[
        Path | None,
        typer.Option(
            "--probes", metavar="FILE", help="Own texts to encode beside the built-in ones, one a line, UTF-8."
        ),
    ] = None,
    form: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
) -> None:
    """Compare two tokenizers: tables, special tokens, padding, truncation, template, pipeline, and the ids of probe
    texts.

    Status 0 if they are the same (notes allowed), 3 if they differ, 2 if one of them cannot be read.
    """
    if form not in ("terminal", "json"):
        raise UsageError(f"--format {form}: expected terminal or json")
    own_texts = lines(probes) if probes is not None else None
    parity = compare(load(train), load(serve), own_texts)
    sys.stdout.write(as_json(parity) if form == "json" else terminal(parity, columns(100)))
    if not parity.equal:
        raise typer.Exit(STOPPED)
