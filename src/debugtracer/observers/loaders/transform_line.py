"""The line of a transform that wrote a part of the sample last. Source and attributes are read, nothing is called."""

from __future__ import annotations

import inspect
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
    return listed_links(dataset, called, part) if called is not None else ()


def listed_links(dataset: Any, called: Frame, part: int | str | None) -> tuple[Link, ...]:
    """The same lines in the transforms of a list, of an object that the line calls (`self.transform`, a Compose): those
    of the last transform first."""
    held = [value for name, value in getattr(dataset, "__dict__", {}).items() if f".{name}(" in called.code]
    lists = [one for value in held for one in vars(value).values() if isinstance(one, list)] if all_plain(held) else []
    links: list[Link] = []
    for one in reversed(lists[0] if len(lists) == 1 else []):
        calls = [one] if inspect.isfunction(one) else [getattr(type(one), n, None) for n in ("forward", "__call__")]
        links += next((found for call in calls if (found := of_function(call, part))), ())
    return tuple(links)


def all_plain(held: list[Any]) -> bool:
    """Whether all are objects with attributes of their own."""
    return all(hasattr(value, "__dict__") for value in held)
