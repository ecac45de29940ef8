"""Models of which not one parameter asks for a gradient: no loss of theirs can teach them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from torch import Tensor, nn

from debugtracer.callsites.freezing import calling_line, freezing_line, refreezing_line
from debugtracer.trace.birth import Frame


class FrozenModels(NamedTuple):
    """How many parameters they have together, the class of the first, the only line of the program that freezes, and
    the line of the loop that calls its function again and again."""

    parameters: int = 0
    model: str = ""
    by: Frame | None = None
    called_at: Frame | None = None


def frozen_models(
    models: Sequence[nn.Module], frame: Frame | None, updates: int = 0, learnt: Iterable[Tensor] = ()
) -> FrozenModels:
    """Return what is frozen where all of it is; nothing where one parameter asks for a gradient, nor where a tensor
    that is no parameter of theirs is `learnt`, held by an optimizer: the models may be meant to stand still. `frame` is
    the line of the loop, whose file is read, too; after `updates` a line that runs again and again must have done it.
    No host sync."""
    held = [parameter for model in models for parameter in model.parameters()]
    if not held or any(parameter.requires_grad for parameter in held):
        return FrozenModels()
    if not {id(tensor) for tensor in learnt} <= {id(parameter) for parameter in held}:
        return FrozenModels()
    made = [getattr(sys.modules.get(type(model).__module__), "__file__", None) for model in models]
    files = [file for file in [frame.file if frame is not None else None, *made] if file]
    by = refreezing_line(files) if updates else freezing_line(files)
    called_at = calling_line(files, by) if updates and by is not None else None
    return FrozenModels(len(held), type(models[0]).__name__, by, called_at)
