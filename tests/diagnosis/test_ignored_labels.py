"""Labels of which none counts."""

from __future__ import annotations

import weakref

import torch

from debugtracer.diagnosis.ignored_labels import all_ignored
from debugtracer.recorder.tape.batches import Batch, LoaderInfo


def batch(**leaves: torch.Tensor) -> Batch:
    info = LoaderInfo(weakref.ref(weakref.WeakSet()), "Pairs", 2, 0, "")
    return Batch(info, None, 0, 0.0, [(f"batch['{name}']", weakref.ref(leaf)) for name, leaf in leaves.items()], 2)


def test_a_tensor_of_one_negative_number_is_named():
    ids, labels = torch.tensor([[1, 2]]), torch.full((2, 3), -100)
    assert all_ignored(batch(ids=ids, labels=labels)) == ("batch['labels']", "all 6 values of batch['labels'] are -100")


def test_labels_of_which_one_counts_zeros_and_no_batch_at_all():
    some, zeros, signs = torch.tensor([-100, 3]), torch.zeros(4, dtype=torch.int64), torch.full((3,), -1.0)
    assert all_ignored(batch(some=some, zeros=zeros, signs=signs)) == ("", "")
    assert all_ignored(None) == ("", "")


def test_labels_without_a_value_are_passed_over():
    empty, elsewhere = torch.zeros(0, dtype=torch.int64), torch.full((3,), -100, device="meta")
    labels = torch.full((2,), -1, dtype=torch.int16)
    known = ("batch['labels']", "all 2 values of batch['labels'] are -1")
    assert all_ignored(batch(empty=empty, elsewhere=elsewhere, labels=labels)) == known
    whole, several = labels.int(), torch.tensor([-100, -1])
    assert all_ignored(batch(labels=whole)) == known and all_ignored(batch(labels=several)) == ("", "")
