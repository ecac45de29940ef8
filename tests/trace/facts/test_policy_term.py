"""A term of a policy's loss as a value."""

from __future__ import annotations

from typing import Any

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.policy_term import PolicyTerm
from debugtracer.trace.step import StepRef


def term(**more: Any) -> PolicyTerm:
    known: dict[str, Any] = {
        "ref": StepRef(iteration=0, step=0), "term": "entropy", "frame": Frame(file="train.py", line=31),
        "made": Frame(file="train.py", line=30),
    }  # fmt: skip
    return PolicyTerm(**(known | more))


def test_it_survives_json():
    fact = term(term="advantage", parameters=4)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_another_line_is_news():
    assert term().key() == term(ref=StepRef(iteration=1, step=1)).key()
    assert term().key() != term(frame=Frame(file="train.py", line=32)).key()
