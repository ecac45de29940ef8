"""Runs the user's dataset for a question of ours and leaves it as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from debugtracer.observers.loaders.refetch import restored


def inner(dataset: Any) -> Any:
    """The dataset below a Subset."""
    while hasattr(dataset, "dataset") and hasattr(dataset, "indices"):
        dataset = dataset.dataset
    return dataset


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
