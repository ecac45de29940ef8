"""A token id is beyond the embedding table."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.trace.finding import Layer


class TokenOutOfRange(Cause):
    """An embedding has ids 0 .. num_embeddings-1; a tokenizer with added tokens, or a pad id of -1, reaches outside."""

    kind: ClassVar[str] = "token_out_of_range"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("sanitised-batch", "without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("stable-op", "full-precision", "lower-lr")
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "resize the table to the tokenizer: model.resize_token_embeddings(len(tokenizer)), or "
            "nn.Embedding(len(tokenizer), dim)"
        ),
        "map unknown and padding ids to ids of the table",
    )
