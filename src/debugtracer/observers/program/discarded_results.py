"""Finds calls of inspected steps whose result is thrown away where the same function exists in place."""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.discarded_call import discarded_call
from debugtracer.callsites.frames import RawFrames, frames_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.discarded_result import DiscardedResult
from debugtracer.trace.number import number

MOST_VALUES = 2**22  # values compared, once a line (ours)


@functools.cache
def has_twin(name: str) -> bool:
    """Whether a tensor has this function in place too."""
    plain = name.isidentifier() and not name.startswith("_") and not name.endswith("_")
    return plain and callable(getattr(Tensor, f"{name}_", None)) and callable(getattr(Tensor, name, None))


class DiscardedResultsObserver(Observer):
    """Looks at the caller's bytecode; compares values only of a call that is thrown away."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.told: set[RawFrames] = set()

    def reset(self) -> None:
        self.told.clear()

    @of_functions(has_twin)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Emit a call once it is seen to have thrown away a change."""
        name = getattr(function, "__name__", "")
        if not has_twin(name) or not isinstance(output, Tensor) or not args or not isinstance(args[0], Tensor):
            return
        at = discarded_call(name)
        if not at or at in self.told or kwargs.get("out") is not None:
            return
        share = changed(args[0], output)
        if share:
            self.told.add(at)
            self.run.emit(
                DiscardedResult(
                    ref=self.run.ref(), function=name, twin=f"{name}_", frame=frames_of(at)[0], changed=number(share)
                )
            )


def changed(given: Tensor, output: Tensor) -> float:
    """The share of values in which a result of the same shape differs; 0 where it is a view or another shape."""
    with torch.no_grad():
        if given.is_nested or output.is_nested:  # some tell no shape
            return 0.0
        if given.shape != output.shape or given.dtype != output.dtype or not 0 < given.numel() <= MOST_VALUES:
            return 0.0
        if given.layout != torch.strided or given.data_ptr() == output.data_ptr():
            return 0.0
        differ = (given != output) & ~(given.isnan() & output.isnan())
        return float(differ.float().mean())
