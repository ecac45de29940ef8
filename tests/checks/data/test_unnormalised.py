"""Inputs of a size that layers cannot work with."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.unnormalised import Unnormalised
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import LeafProfile
from debugtracer.trace.facts.first_input import FirstInput
from debugtracer.trace.facts.stored_rows import StoredLeaf, StoredRows
from tests.checks.data.batches import a_profile, a_window, at

MADE = Frame("/home/someone/train.py", 30, "main", "x = x / 255")
CALL = Frame("/home/someone/train.py", 31, "main", "loss = criterion(model(x), y)")
PIXELS = LeafProfile(path="batch[0]", role="float", mean=127.0, std=73.9, low=0.0, high=255.0)


def given(mean: float = 126.0, std: float = 73.0, high: float = 255.0, **more: object) -> FirstInput:
    known = {"root": "Net", "function": "conv2d", "shape": (16, 3, 8, 8), "low": 0.0, "whole": True}
    return FirstInput(ref=at(0), mean=mean, std=std, high=high, **{**known, **more})  # type: ignore[arg-type]


def test_pixels_that_the_first_layer_is_given_raw_are_a_warning():
    (finding,) = Unnormalised().judge(a_window(given(), a_profile(PIXELS, seen=1)))
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    "other", [{"whole": False}, {"low": -3.0}, {"high": 9e4}, {"high": 60.0}, {"shape": (16, 8)}], ids=str
)
def test_other_raw_columns_are_a_note(other):
    (finding,) = Unnormalised().judge(a_window(given(**other), a_profile(PIXELS, seen=1)))
    assert finding.severity == "note"


def test_what_is_scaled_before_the_first_layer_is_silent_and_one_raw_model_of_two_is_not():
    scaled, norm = given(0.1, 1.0), given(function="batch_norm")
    assert not list(Unnormalised().judge(a_window(scaled, a_profile(PIXELS, seen=1))))
    assert not list(Unnormalised().judge(a_window(norm, a_profile(PIXELS, seen=1))))
    assert list(Unnormalised().judge(a_window(scaled, given(root="Critic"), a_profile(PIXELS, seen=1))))


def test_raw_pixels_are_a_note_where_the_first_layer_was_not_seen():
    (finding,) = Unnormalised().judge(a_window(a_profile(PIXELS, seen=1)))
    assert finding.message == (
        "step 0, rank 0: batch[0] of Corpus has mean 127 and std 73.9 (0..255), and Conv2d takes it; expected about 0 "
        "and 1. Normalise in the dataset."
    )
    assert finding.severity == "note"


@pytest.mark.parametrize("first", ["BatchNorm1d", "LayerNorm", "Embedding", ""])
def test_a_module_that_normalises_or_embeds_first_is_left_alone(first):
    assert not list(Unnormalised().judge(a_window(a_profile(PIXELS, first_layer=first))))


def test_scaled_inputs_ids_and_validation_are_silent():
    scaled = LeafProfile(path="batch[0]", role="float", mean=0.1, std=1.0)
    ids = LeafProfile(path="batch[0]", role="ids", mean=5000.0)
    assert not list(Unnormalised().judge(a_window(a_profile(scaled), a_profile(ids))))
    assert not list(Unnormalised().judge(a_window(a_profile(PIXELS, training=False))))


def test_it_is_said_once_for_a_loader():
    assert len(list(Unnormalised().judge(a_window(a_profile(PIXELS), a_profile(PIXELS, seen=200))))) == 1


def test_large_targets_are_nobodys_fault():
    x = LeafProfile(path="batch[0]", role="float", mean=0.0, std=1.0)
    assert not list(Unnormalised().judge(a_window(a_profile(x, PIXELS))))


def of_rows(mean=127.0, path="input"):
    leaf = StoredLeaf(path=path, name="grey", whole=False, mean=mean, std=73.9, low=0.0, high=255.0)
    return StoredRows(
        ref=at(1), length=900, rows=30, looks=2, in_order=False, same=False, first_layer="Conv2d", leaves=(leaf,)
    )


def test_stored_rows_that_the_first_layer_is_given_raw_are_told_once():
    memories = {}
    (finding,) = Unnormalised().judge(a_window(given(), of_rows(), memories=memories))
    assert finding.message == (
        "step 1, rank 0: the 900 rows of grey have mean 127 and std 73.9 (0..255), and Conv2d takes them; expected "
        "about 0 and 1. Normalise them where they are read."
    )
    assert finding.severity == "warning"
    assert not list(Unnormalised().judge(a_window(given(), of_rows(), memories=memories)))


def test_stored_rows_that_are_scaled_on_the_way_or_are_targets_are_silent():
    assert not list(Unnormalised().judge(a_window(of_rows())))
    assert not list(Unnormalised().judge(a_window(given(0.1, 1.0), of_rows())))
    assert not list(Unnormalised().judge(a_window(given(), of_rows(mean=0.0))))
    assert not list(Unnormalised().judge(a_window(given(), of_rows(path="target"))))


def test_pixels_that_were_divided_twice_are_a_warning():
    (finding,) = Unnormalised().judge(a_window(given(0.0019, 0.0011, 0.0039, whole=False)))
    assert finding.severity == "warning"
    assert finding.message == (
        "step 0, rank 0: conv2d is given inputs with mean 0.0019 and std 0.0011 (0..0.0039); expected about 0 and 1. "
        "These are pixels that were divided by 255 twice: divide once."
    )


@pytest.mark.parametrize("other", [{"low": -0.003}, {"high": 0.006}, {"high": 0.003}, {"shape": (16, 8)}], ids=str)
def test_other_inputs_that_are_next_to_nothing_are_a_note(other):
    tiny = given(**{"mean": 0.0019, "std": 0.0011, "high": 0.0039, "whole": False, **other})
    (finding,) = Unnormalised().judge(a_window(tiny))
    assert finding.severity == "note" and finding.message.endswith("expected about 0 and 1. Scale them.")


@pytest.mark.parametrize("other", [{"std": 0.003}, {"std": 0.0}, {"mean": 0.5}, {"normed": True}], ids=str)
def test_small_spreads_that_a_layer_can_work_with_are_silent(other):
    tiny = given(**{"mean": 0.0019, "std": 0.0011, "high": 0.0039, "whole": False, **other})
    assert not list(Unnormalised().judge(a_window(tiny)))


def test_the_line_that_made_tiny_inputs_is_the_place_where_it_is_known():
    (finding,) = Unnormalised().judge(a_window(given(0.0019, 0.0011, 0.0039, whole=False, frame=CALL, made=MADE)))
    assert finding.place is not None
    assert (finding.place.frame, finding.place.symptom_frame) == (MADE, CALL)
