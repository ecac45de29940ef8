"""Pairs of tokens that come again."""

from __future__ import annotations

import torch

from debugtracer.observers.data.repeated_pairs import joined, repeated


def drawn(count, seed=0):
    return torch.randint(0, 50, (count,), generator=torch.Generator().manual_seed(seed))


def test_a_text_repeats_its_pairs_and_a_draw_does_not():
    first = drawn(600)
    assert repeated(torch.stack((first, (first * 7 + 3) % 50))) > 20
    assert abs(repeated(torch.stack((first, drawn(600, 1))))) < 5


def test_pairs_that_are_known_are_counted_beside_chance():
    first = drawn(600)
    pairs = torch.stack((first, (first * 7 + 3) % 50))
    found, expected, spread = joined(pairs[:, :40], pairs)
    assert found == 40 and expected < 5 and spread >= 0.5
    assert joined(torch.stack((drawn(40, 2), drawn(40, 3))), pairs)[0] < 6


def test_no_number_of_the_program_is_drawn():
    before = torch.get_rng_state()
    repeated(torch.stack((drawn(100), drawn(100, 1))))
    assert torch.equal(before, torch.get_rng_state())
