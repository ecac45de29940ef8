"""Facts about batches as values."""

from __future__ import annotations

import math

from debugtracer.trace.facts.batch_content import (
    BatchChange,
    BatchOddity,
    BatchProfile,
    BatchSchema,
    LeafProfile,
    LeafSchema,
    LoaderNote,
)
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef

REF, LOADER = StepRef(iteration=3, step=3), LoaderNote(number=0)


def test_each_survives_its_file():
    facts = [
        BatchSchema(
            ref=REF,
            loader=LOADER,
            leaves=(LeafSchema(path="batch[0]", dtype="float32", device="cpu", layout="strided", shape=(4, 3)),),
        ),
        BatchChange(
            ref=REF,
            loader=LOADER,
            batch=3,
            path="batch[0]",
            what="dtype",
            before="int64",
            after="float32",
            batches=9,
            samples=(1, 2),
        ),
        BatchProfile(
            ref=REF,
            loader=LOADER,
            seen=4,
            looked=4,
            rows=4,
            training=True,
            leaves=(LeafProfile(path="batch[0]", role="float", mean=number(math.inf)),),
        ),
        BatchOddity(ref=REF, loader=LOADER, batch=3, what="range", value=number(math.nan), samples=(7,)),
    ]
    for fact in facts:
        assert from_plain(fact.word(), to_plain(fact)) == fact


def test_a_profile_is_news_of_its_loader_and_every_oddity_is_news():
    one = BatchOddity(ref=REF, loader=LOADER, batch=3, what="blank", path="batch[0]")
    other = BatchOddity(ref=StepRef(iteration=4, step=4), loader=LOADER, batch=4, what="blank", path="batch[0]")
    assert one.key() != other.key()
    assert BatchProfile(ref=REF, loader=LOADER, seen=1, looked=1, rows=2, training=True).key() == 0
