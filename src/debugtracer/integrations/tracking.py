"""`debugtracer.track(tensor, "name")`: follows one intermediate tensor and its gradient."""

from __future__ import annotations

from torch import Tensor

from debugtracer.errors import UsageError, guarded
from debugtracer.observers.numerics.health import HealthObserver
from debugtracer.session import active


def track(tensor: Tensor, name: str) -> Tensor:
    """Follow a tensor of any shape and floating dtype: series `tracked/NAME` (L2 norm, each step) and
    `tracked/NAME.grad`, rows in `report --layers`.

    Gives the tensor back unchanged, so that it can stand inside an expression; without a watch it does nothing else. On
    a device each call costs one host sync. Raises UsageError when it is given no tensor or no name.
    """
    if not isinstance(tensor, Tensor):
        raise UsageError(f"track() was given a {type(tensor).__name__}; expected a tensor")
    if not isinstance(name, str) or not name:
        raise UsageError("track() was given no name; expected a word such as 'scores'")
    session = active()
    observer = session.dispatcher.observers.get("health") if session is not None else None
    if isinstance(observer, HealthObserver) and tensor.is_floating_point():
        guarded("integrations.tracking")(observer.track)(tensor, name)
    return tensor
