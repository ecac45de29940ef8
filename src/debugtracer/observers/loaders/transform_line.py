"""The line of a transform that wrote a part of the sample last. Source and attributes are read, nothing is called."""

from __future__ import annotations

from typing import Any

from debugtracer.callsites.origins.sample_origin import PART, of_function
from debugtracer.callsites.origins.value_origin import Link
from debugtracer.observers.loaders.refetch import transforms_of
from debugtracer.trace.birth import Frame


def transform_line(dataset: Any, called: Frame | None, path: str) -> Frame | None:
    """The line inside the transform that the line `called` of a dataset calls; that line where it calls none of the
    user's. `path` names the tensor in the batch (`batch[0]`)."""
    links = transform_links(dataset, called, path)
    return links[0].frame if links else called


def transform_links(dataset: Any, called: Frame | None, path: str) -> tuple[Link, ...]:
    """The lines inside that transform which wrote the tensor, the last writer first."""
    while hasattr(dataset, "dataset") and hasattr(dataset, "indices"):  # a Subset hands on
        dataset = dataset.dataset
    named = PART.search(path)
    part = None if named is None else int(named[1]) if named[1] is not None else named[2]
    for container, key in list(transforms_of(dataset)) if called is not None else ():
        if called is None or not isinstance(key, str) or f".{key}(" not in called.code:
            continue
        kind = type(container[key])
        for function in (container[key], *(getattr(kind, name, None) for name in ("forward", "__call__"))):
            links = of_function(function, part)
            if links:
                return links
    return ()
