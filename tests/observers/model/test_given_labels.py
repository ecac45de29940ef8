"""The tensor of a batch that targets are made of."""

from __future__ import annotations

import weakref

import pytest
import torch

from debugtracer.observers.model.given_labels import batch_of, is_made_of, labels_in, leaf_of
from debugtracer.recorder.tape.batches import Batch, BatchLog, LoaderInfo

LABELS = torch.tensor([[1, 2, 3, 4], [5, 6, -100, -100]])


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (LABELS.flatten(), True),
        (LABELS[:, 1:].reshape(-1), True),
        (torch.nn.functional.pad(LABELS, (0, 1), value=-100)[:, 1:].flatten(), True),
        (LABELS[:, 2:].reshape(-1), False),
        (LABELS.flatten() + 1, False),
        (LABELS[0], False),
    ],
)
def test_targets_are_labels_as_they_are_or_moved_on_by_one(target, expected):
    assert is_made_of(target, LABELS) is expected


def test_the_leaf_of_a_batch_that_a_model_was_given_a_part_of():
    tokens, labels = torch.arange(8).reshape(2, 4), LABELS.clone()
    owner = torch.utils.data.DataLoader([0])
    info = LoaderInfo(weakref.ref(owner), "list", 1, 0, "SequentialSampler")
    leaves = [("batch['x']", weakref.ref(tokens)), ("batch['y']", weakref.ref(labels))]
    log = BatchLog()
    log.add(Batch(info, None, 0, 0.0, leaves, 2))
    assert leaf_of(log, labels.view(-1)) == (info, "batch['y']")
    batch = batch_of(log, (None, tokens))
    assert batch is not None
    assert batch_of(log, (torch.ones(2), 3)) is None
    assert labels_in(batch, labels[:, 1:].flatten()) == (info, "batch['y']")
    assert labels_in(batch, torch.ones(5).long()) is None
    assert leaf_of(log, labels.clone()) is None
