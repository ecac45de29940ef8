"""Training and inference encode text differently."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class TokenizerMismatch(Cause):
    """Another vocabulary, another template or another special token at inference: each id then means another piece of
    text."""

    kind: ClassVar[str] = "tokenizer_mismatch"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("one-line-fix",)
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "lower-lr")
    supports: ClassVar[tuple[str, ...]] = ("data/token-out-of-table",)
    remedies: ClassVar[tuple[str, ...]] = (
        "save the tokenizer with the checkpoint and load both from the same folder",
        "compare them on your own text: `debug-tracer tokenizers TRAINING SERVING --probes FILE`",
    )
