"""The rows of the passes of one loader."""

from __future__ import annotations

import weakref

import torch

from debugtracer.observers.loaders.pass_pairs import ENOUGH, PassPairs
from debugtracer.recorder.tape.batches import Batch, LoaderInfo

INFO = LoaderInfo(loader=lambda: None, dataset="Rows", batch_size=8, num_workers=0, sampler="")
KEPT = []


def batch(number, indices, *leaves):
    KEPT.extend(leaves)
    named = [(f"batch[{n}]", weakref.ref(leaf)) for n, leaf in enumerate(leaves)]
    rows = len(leaves[0])
    return Batch(INFO, tuple(indices) if indices is not None else None, number, 0.0, named, rows)


def given(pairs, x, y, indices=None, number=0):
    pairs.add(batch(number, range(len(x)) if indices is None else indices, x, y))


def test_two_passes_are_compared_once_enough_came_again():
    torch.manual_seed(0)
    x, y = torch.randn(ENOUGH, 6), torch.randint(3, (ENOUGH,))
    pairs = PassPairs()
    given(pairs, x, y)
    assert not pairs.due
    given(pairs, x[torch.randperm(ENOUGH)], y)
    assert pairs.due
    found = pairs.compare("batch[1]", ENOUGH)
    assert found is not None
    assert found.moved == "inputs"
    assert not pairs.due


def test_a_number_that_counts_the_samples_is_no_part_of_the_input():
    torch.manual_seed(0)
    x, y, number = torch.randn(ENOUGH, 6), torch.randint(3, (ENOUGH,)), torch.arange(ENOUGH)
    pairs = PassPairs()
    for rows in (x, x[torch.randperm(ENOUGH)]):
        pairs.add(batch(0, range(ENOUGH), rows, number, y))
    found = pairs.compare("batch[2]", ENOUGH)
    assert found is not None


def test_another_input_beside_it_counts():
    """Of pairs with a drawn partner, the same partner has the same label."""
    torch.manual_seed(0)
    x, kind = torch.randn(ENOUGH, 6), torch.randint(2, (ENOUGH,))
    pairs = PassPairs()
    for _ in range(2):
        partner = torch.randint(ENOUGH, (ENOUGH,))
        pairs.add(batch(0, range(ENOUGH), x, x[partner], (kind == kind[partner]).long()))
    assert pairs.compare("batch[2]", ENOUGH) is None


def test_batches_of_another_form_end_it():
    pairs = PassPairs()
    given(pairs, torch.randn(8, 6), torch.zeros(8))
    pairs.add(batch(1, range(8), torch.randn(8, 6)))
    assert pairs.over
    unknown = PassPairs()
    unknown.add(batch(0, None, torch.randn(8, 6), torch.zeros(8)))
    assert unknown.over
    assert unknown.compare("batch[1]", 8) is None
