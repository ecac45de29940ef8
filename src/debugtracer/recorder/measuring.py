"""The context of our own measurements: neither the program nor another rank notices them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from debugtracer.recorder.foreign_modes import foreign, without_modes
from debugtracer.recorder.sharded import Locally


def measuring(sharded: bool) -> contextlib.AbstractContextManager[Any]:
    """No mode of the program's and no `__torch_function__` of its tensors sees what torch is asked inside; of sharded tensors it is this rank's part."""
    return apart(sharded) if sharded or foreign() else torch._C.DisableTorchFunctionSubclass()


@contextlib.contextmanager
def apart(sharded: bool) -> Iterator[None]:
    """All of it, for the few programs that have modes or shards."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch._C.DisableTorchFunctionSubclass())
        if foreign():
            stack.enter_context(without_modes())
        if sharded:
            stack.enter_context(Locally())
        yield
