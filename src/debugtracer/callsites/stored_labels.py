"""The line of a text file that a whole number of one record was read from, where the dataset keeps the numbers of all
records in a list and a column of the file holds the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from debugtracer.callsites.stored_place import ATTRIBUTES, FEWEST, MOST_NUMBERS, read_from
from debugtracer.trace.birth import Frame


def label_line(dataset: Any, index: int, known: Mapping[int, int]) -> Frame | None:
    """The line of the record at an index, by the list that holds what is known of that and other records. None where no
    list does, and where no column of one file alone is this list."""
    for labels in lists_of(dataset):
        fits = all(0 <= at < len(labels) and labels[at] == value for at, value in known.items())
        if fits and index in known and len(known) >= FEWEST:
            read = read_from(dataset, labels.astype(float), index)
            return read[0] if read is not None else None
    return None


def lists_of(dataset: Any) -> Iterator[NDArray[Any]]:
    """Yield the rows of whole numbers among the attributes of a dataset."""
    for held in list(getattr(dataset, "__dict__", {}).values())[:ATTRIBUTES]:
        sized = isinstance(held, (list, tuple, np.ndarray)) or hasattr(held, "__array__")
        if not sized or not FEWEST <= len(held) <= MOST_NUMBERS:
            continue
        if isinstance(held, (list, tuple)) and not all(type(one) is int for one in held):
            continue
        values = np.asarray(held)
        if values.ndim == 1 and values.dtype.kind in "iu":
            yield values
