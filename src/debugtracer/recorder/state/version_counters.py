"""Version counters that come back with the values: a graph of the user's that is still to be walked backward compares
them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from torch import Tensor
from torch.autograd.grad_mode import _unsafe_preserve_version_counter

from debugtracer.recorder.state.sharded import local


def version_counters(tensors: Iterable[Tensor]) -> list[_unsafe_preserve_version_counter]:
    """Return contexts that restore the present counters, each tensor once; one object a tensor, torch 2.6 takes no
    more."""
    known = {id(t): t for t in map(local, tensors) if not t.is_inference()}
    return [_unsafe_preserve_version_counter(t) for t in known.values()]


def kept_versions(tensors: Iterable[Tensor]) -> contextlib.ExitStack[bool | None]:
    """A context after which they are as they are now."""
    stack = contextlib.ExitStack()
    for counter in version_counters(tensors):
        stack.enter_context(counter)
    return stack
