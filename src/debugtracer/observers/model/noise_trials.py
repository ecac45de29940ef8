"""Trials of a model whose output differs from run to run in evaluation mode: is it a dropout that is never off?"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.keywords_given import written_arguments
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import ShadowModel

DROPOUTS = frozenset(
    {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "feature_dropout"}
)
ATTENTION = "scaled_dot_product_attention"
PLACE = 4  # of its argument dropout_p


class DropoutsOff(TorchFunctionMode):
    """Turns off what drops values in evaluation mode, where nobody has asked for it."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model, self.registered = model, {id(part) for part in model.modules()}
        self.found: list[tuple[RawFrames, str | None]] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function; a dropout that was to be off is off."""
        kwargs, name = dict(kwargs or {}), getattr(function, "__name__", "")
        if name in DROPOUTS and kwargs.get("training") is True and self.is_left_on():
            self.note()
            kwargs["training"] = False
        elif name == ATTENTION and attention_dropout(args, kwargs) > 0:  # it knows of no mode: the caller is to give 0
            self.note()
            args, kwargs = without_dropout(args, kwargs)
        return function(*args, **kwargs)

    def note(self) -> None:
        """Remember the line that calls it, and the module that runs."""
        owner = running_module()
        path = path_of(owner, [self.model]) if owner is not None else None
        self.found.append((raw_frames(3), path))

    def is_left_on(self) -> bool:
        """Whether it is on by default: a module that the model does not hold, or a call without the argument."""
        owner = running_module()
        if isinstance(owner, nn.modules.dropout._DropoutNd):
            return id(owner) not in self.registered
        written = written_arguments(2)
        return written is not None and "training" not in written[1] and written[0] - len(written[1]) < 3


def attention_dropout(args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """The dropout_p that an attention is called with."""
    given = args[PLACE] if len(args) > PLACE else kwargs.get("dropout_p", 0.0)
    return float(given) if isinstance(given, (int, float)) else 0.0


def without_dropout(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same arguments with a dropout_p of 0."""
    if len(args) > PLACE:
        return (*args[:PLACE], 0.0, *args[PLACE + 1 :]), kwargs
    return args, {**kwargs, "dropout_p": 0.0}


def dropout_left_on(shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """Run it twice more without the dropouts that stay on: do the two agree where they differed before?"""
    off = DropoutsOff(shadow.model)
    with off:
        first, _ = shadow.run(args, kwargs)
        lines = list(off.found)
        second, _ = shadow.run(args, kwargs)
    if not lines or first is None or second is None or not torch.equal(first, second):
        return None
    frames = frames_of(lines[0][0])
    return {"changed": True, "frame": frames[0] if frames else None, "module": lines[0][1]}
