"""A change of the loop as a value."""

from __future__ import annotations

import msgspec

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.step import StepRef

REF, LINE = StepRef(iteration=90, step=90), Frame("/here/train.py", 30, "main")


def test_it_survives_json():
    fact = LoopChange(ref=REF, function="mul", before=0.5, after=40.0, steps=25, frame=LINE)
    assert from_plain(fact.word(), msgspec.json.decode(msgspec.json.encode(to_plain(fact)))) == fact


def test_it_says_what_was_written_or_given():
    write = LoopChange(ref=REF, function="copy_", params=("a", "b", "c"), steps=25, frame=LINE)
    assert write.words == "`copy_` at train.py:30 wrote a and 2 more parameters, in none of the 25 steps before"
    number = LoopChange(ref=REF, function="mul", before=0.5, after=40.0, steps=25, frame=LINE)
    assert number.words == "`mul` at train.py:30 was given 40, in the 25 steps before 0.5 as a rule"


def test_only_a_sudden_number_explains_a_jump_and_down_counts_as_up():
    number = LoopChange(ref=REF, function="mul", before=-8.0, after=2.0, steps=25, frame=LINE)
    assert number.explains(4.0) and not number.explains(4.1)
    assert not msgspec.structs.replace(number, sudden=False).explains(1.0)
    assert not msgspec.structs.replace(number, params=("w",)).explains(1.0)


def test_it_says_what_computes_the_loss_otherwise():
    weights = LoopChange(ref=REF, function="weight", what="weights", of_loss=True, steps=25, frame=LINE)
    assert weights.words == "`weight` at train.py:30 has other values than in the 25 steps before"
    term = LoopChange(ref=REF, function="mse_loss", what="term", of_loss=True, steps=25, frame=LINE)
    assert term.words == "`mse_loss` at train.py:30 is a part of it, in none of the 25 steps before"
    criterion = LoopChange(ref=REF, function="Focal", what="criterion", of_loss=True, steps=25, frame=LINE)
    assert criterion.words == "`Focal` at train.py:30 computes it, in none of the 25 steps before"
    assert not term.explains(1.0)
