"""The line that splits the data of a loader from the rest. The source is read, nothing is executed."""

from __future__ import annotations

import re

from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.trace.birth import Frame

SPLITS = re.compile(r"\b(\w*random_split|\w*Subset|randperm|permutation|shuffle|train_test_split|sample)\(")
"""Calls that choose rows."""


def split_line(*loaders: Frame | None) -> Frame | None:
    """The line that chose the rows of the first of these loaders for which there is one."""
    for built in loaders:
        links = argument_origin((built,), ("DataLoader",), "dataset", 0) if built is not None else ()
        found = next((link.frame for link in links if SPLITS.search(link.frame.code)), None)
        if found is not None:
            return found
    return None
