"""Inputs of a size that layers cannot work with."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.unnormalised import Unnormalised
from debugtracer.trace.facts.batch_content import LeafProfile
from tests.checks.data.batches import a_profile, a_window

PIXELS = LeafProfile(path="batch[0]", role="float", mean=127.0, std=73.9, low=0.0, high=255.0)


def test_raw_pixels_are_a_note():
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
