"""The contract of checks."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from debugtracer.causes.cause import causes
from debugtracer.checks.check import HEADINGS, checks, find_check, page
from debugtracer.errors import UsageError
from debugtracer.trace.finding import LAYERS


@pytest.mark.parametrize("slug", checks())
def test_every_check_has_five_headings_in_order(slug):
    text = page(checks()[slug]).splitlines()
    assert [line for line in text if line in HEADINGS] == list(HEADINGS)


@pytest.mark.parametrize("slug", checks())
def test_every_check_is_frozen_lives_in_a_layer_and_needs_something(slug):
    check = checks()[slug]
    assert dataclasses.is_dataclass(check)
    assert type(check).__dataclass_params__.frozen
    assert check.layer in LAYERS
    assert check.needs


@pytest.mark.parametrize("slug", checks())
def test_every_suspect_is_a_cause(slug):
    assert set(checks()[slug].suspects) <= set(causes())


@pytest.mark.parametrize("slug", checks())
def test_every_check_is_proved_by_a_planted_fault_or_says_why_not(slug):
    check = checks()[slug]
    fault = Path(__file__).parents[2] / "faults" / check.proved_by
    assert bool(check.proved_by) != bool(check.unproved), "either a planted fault, or why there is none"
    assert check.unproved or ((fault / "train.py").is_file() and (fault / "healthy.py").is_file())


def test_a_check_is_found_by_its_last_part_with_dashes_or_underscores():
    assert find_check("nan_loss") is find_check("numerics/nan-loss")


def test_an_unknown_check_is_one_sentence_with_the_nearest_ones():
    with pytest.raises(
        UsageError,
        match=r"no check is called 'nan-los'; nearest are numerics/nan-loss, .*; `debug-tracer checks` lists all \d+$",
    ):
        find_check("nan-los")
