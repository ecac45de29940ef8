"""The context of our own measurements: neither the program nor another rank notices them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from debugtracer.recorder.state.sharded import Locally
from debugtracer.recorder.tape.foreign_modes import foreign, without_modes


def measuring(sharded: bool) -> contextlib.AbstractContextManager[Any]:
    """Hide our calls of torch from the program's modes and tensor classes; sharded tensors are read as this rank's
    part."""
    return apart(sharded) if sharded or foreign() else torch._C.DisableTorchFunctionSubclass()


@contextlib.contextmanager
def apart(sharded: bool) -> Iterator[None]:
    """Hide everything, for the few programs that have modes or shards."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._C.DisableTorchFunctionSubclass())
        if foreign():
            stack.enter_context(without_modes())
        if sharded:
            stack.enter_context(Locally())
        yield
