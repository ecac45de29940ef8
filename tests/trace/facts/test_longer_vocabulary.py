"""A vocabulary longer than its table as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.longer_vocabulary import LongerVocabulary
from debugtracer.trace.step import StepRef


def test_it_survives_json():
    fact = LongerVocabulary(
        ref=StepRef(iteration=3, step=3),
        name="Words.numbers",
        entries=25,
        table=22,
        number=24,
        entry="'clove'",
        filled=Frame("/p/words.py", 25),
        sized=Frame("/p/train.py", 61),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
