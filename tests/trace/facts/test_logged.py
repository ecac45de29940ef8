"""A logged number as a value."""

from __future__ import annotations

from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.step import StepRef


def test_numbers_are_told_apart_by_logger_and_name():
    fact = Logged(ref=StepRef(iteration=1, step=1), source="tensorboard", name="train/loss", value=0.5)
    assert fact.key() == ("tensorboard", "train/loss")
