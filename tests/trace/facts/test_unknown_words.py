"""Unknown words of a vocabulary."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.unknown_words import UnknownWords
from debugtracer.trace.step import StepRef


def test_it_survives_json_and_is_known_by_its_vocabulary_and_step():
    fact = UnknownWords(
        ref=StepRef(iteration=1, step=1),
        name="words",
        entries=62,
        spelt="<unk>",
        number=1,
        columns=("batch[0]", "batch[1]"),
        words=(300, 180),
        unknown=(0, 60),
        shared=(300, 120),
        frame=Frame("/p/train.py", 58),
        read_frame=Frame("/p/train.py", 44),
        written=Frame("/p/train.py", 38),
    )
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact
    assert fact.key() == ("words", 1)
