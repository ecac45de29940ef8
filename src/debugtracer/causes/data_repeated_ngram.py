"""A row of tokens repeats one n-gram."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.causes.cause import Cause, Edit
from debugtracer.checks.data.repeated_ngram import RepeatedNgram
from debugtracer.trace.finding import Layer


class DataRepeatedNgram(Cause):
    """Crawler junk, tables of zeros, a decoding loop in the training text: learnt in a few steps, and the embedding
    gradient spikes."""

    kind: ClassVar[str] = "data_repeated_ngram"
    layer: ClassVar[Layer] = "data"
    edit: ClassVar[Edit] = "data"
    proved_by: ClassVar[tuple[str, ...]] = ("without-sample", "other-batch")
    refuted_by: ClassVar[tuple[str, ...]] = ("full-precision", "fresh-moments", "older-weights")
    supports: ClassVar[tuple[str, ...]] = ("optimizer/embedding-gradient", "optimizer/loss-spike")
    remedies: ClassVar[tuple[str, ...]] = RepeatedNgram.remedies
