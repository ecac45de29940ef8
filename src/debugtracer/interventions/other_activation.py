"""The activations of the step replaced by smooth ones that cannot die or explode."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import Entry

GELU = (
    "relu",
    "relu_",
    "relu6",
    "leaky_relu",
    "leaky_relu_",
    "elu",
    "elu_",
    "selu",
    "selu_",
    "celu",
    "celu_",
    "prelu",
    "threshold",
    "threshold_",
)
SOFTPLUS = ("exp", "exp_", "exp2", "expm1", "cosh", "sinh")
TANH = ("hardtanh", "hardtanh_", "hardswish", "hardsigmoid", "tan", "softsign")
SMOOTH: dict[str, Any] = {
    **dict.fromkeys(GELU, F.gelu),
    **dict.fromkeys(SOFTPLUS, F.softplus),
    **dict.fromkeys(TANH, lambda x: x.tanh()),
}
WORDS = {**dict.fromkeys(GELU, "gelu"), **dict.fromkeys(SOFTPLUS, "softplus"), **dict.fromkeys(TANH, "tanh")}


class OtherActivation(Intervention):
    """gelu for rectifiers, softplus for exponentials (grows linearly), tanh for the clipped ones. Heals where the
    activation is the fault."""

    scope: ClassVar[Scope] = "structure"

    def apply(self, rerun: Rerun) -> str:
        """Exchange every call in the step's modules and in its loop."""
        mode = Smooth()

        def around(entry: Entry) -> TorchFunctionMode:
            return mode

        rerun.around.append(around)
        rerun.doubts.append(lambda: "" if mode.seen else "the step calls no activation that has a smooth counterpart")
        rerun.described = lambda: ", ".join(
            f"{WORDS[name]} in place of {name.strip('_')}" for name in dict.fromkeys(mode.seen)
        )
        return "smooth activations"


class Smooth(TorchFunctionMode):
    """Exchanges activations; notes which."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that dynamo never traces this mode: replays run eagerly."""
        return False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The smooth one, in place where the call was in place."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        x = args[0] if args else kwargs.get("input")
        if name not in SMOOTH or not isinstance(x, Tensor) or not x.is_floating_point():
            return func(*args, **kwargs)
        self.seen.append(name)
        made = SMOOTH[name](x)
        return x.copy_(made) if name.endswith("_") or kwargs.get("inplace") is True else made
