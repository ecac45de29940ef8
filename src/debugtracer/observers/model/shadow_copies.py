"""Copies of the program's models that observers call: one for all of them, where they want it of the same moment."""

from __future__ import annotations

import weakref
from typing import Any

from torch import nn

from debugtracer.observers.model.shadow_model import ShadowModel


class ShadowCopies:
    """One per process. Holds no copy: it lives as long as an observer keeps it."""

    def __init__(self) -> None:
        self.made: weakref.WeakValueDictionary[tuple[int, int], ShadowModel] = weakref.WeakValueDictionary()

    def of(self, model: nn.Module, autocast: Any, iteration: int) -> ShadowModel:
        """A copy of the model as it is in this iteration. Raises what copying raises."""
        key = id(model), iteration
        known = self.made.get(key)
        if known is None or known.autocast != autocast:
            known = self.made[key] = ShadowModel(model, autocast)
        return known
