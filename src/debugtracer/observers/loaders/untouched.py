"""Runs the user's dataset for a question of ours and leaves it as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from debugtracer.observers.loaders.refetch import restored
from debugtracer.recorder.tape.batches import BatchLog


def inner(dataset: Any) -> Any:
    """The dataset below a Subset."""
    while hasattr(dataset, "dataset") and hasattr(dataset, "indices"):
        dataset = dataset.dataset
    return dataset


def last_dataset(batches: BatchLog) -> Any:
    """The dataset of the last batch, below a Subset; None before the first, and where it is gone."""
    batch = batches.last()
    return inner(batch.loader.dataset_held()) if batch is not None else None


@contextlib.contextmanager
def untouched(dataset: Any) -> Iterator[None]:
    """Restore generators, plain attributes, standard streams, and what the dataset below a Subset holds by name (an
    opened file is let go)."""
    attributes = vars(inner(dataset))
    before = dict(attributes)
    try:
        with restored(dataset), torch.no_grad():
            yield
    finally:
        for name in [name for name in attributes if name not in before]:
            del attributes[name]
        # one by one: a thread of the dataset never finds it empty
        attributes.update({n: v for n, v in before.items() if n not in attributes or attributes[n] is not v})
