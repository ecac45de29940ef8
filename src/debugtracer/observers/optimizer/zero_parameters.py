"""Looks for parameters that are 0 and have gradients of exactly 0, in few updates of each optimizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.definitions import zeroed_at
from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.consumers import consumers
from debugtracer.observers.numerics.tensor_health import l2s_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.zero_parameters import ZeroParameter, ZeroParameters

LAST = 64  # the last update looked at: 50 and more lie between it and the first (ours)
SHOWN, NAMED = 16, 4  # parameters described, and named behind them
FLAT = {
    "ReluBackward": "relu",
    "HardtanhBackward": "hardtanh",
    "ThresholdBackward": "threshold",
    "AbsBackward": "abs",
    "PowBackward": "pow",
    "LinalgVectorNormBackward": "norm",
}
"""Nodes whose derivative at an argument of 0 is 0, where the gradient says so, too."""


class ZeroLooks:
    """What the looks at one optimizer have left."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.updates = self.looks = 0
        self.stuck: set[int] | None = None
        self.behind: set[int] = set()
        self.flat: dict[int, str] = {}

    @property
    def over(self) -> bool:
        """Whether there is nothing left to look at: no parameter is stuck, or all looks are done."""
        return self.updates > LAST or (self.stuck is not None and not self.stuck)


class ZeroParametersObserver(Observer):
    """Seven looks at an optimizer, one host sync each; between them one lookup an update."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Optimizer, ZeroLooks] = ById()
        self.asked: dict[int, ZeroLooks] = {}
        """Parameters of which it is to be found out who uses them."""
        self.used: dict[int, RawFrames] = {}

    def reset(self) -> None:
        self.known.clear()
        self.asked.clear()
        self.used.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the line that hands such a parameter to a function."""
        wanted = self.asked and args and id(args[0]) in self.asked and id(args[0]) not in self.used
        if wanted and getattr(function, "__name__", "") not in ("__get__", "detach", "size", "dim"):
            self.used[id(args[0])] = raw_frames(1)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Find out which operations use the parameters that were found."""
        if not self.asked:
            return
        asked, self.asked = self.asked, {}
        for key, nodes in consumers(losses, set(asked)).items():
            names = {FLAT.get(node.rstrip("0123456789"), "") for node in nodes}
            if "" not in names:
                asked[key].flat[key] = " and ".join(sorted(names))

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Listen again: a new one has not been looked at."""
        self.run.subscribe(self.step_begins, self.backward_begins, self.called)

    def rest(self) -> None:
        """Stop listening to updates once no optimizer has anything to be looked at."""
        if all(o in self.known and self.known[o].over for o in self.run.optimizers):
            self.run.unsubscribe(self.step_begins, self.backward_begins, self.called)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Look before the updates 1, 2, 4, 8 and so on."""
        looks = self.known.get(optimizer)
        if looks is None:
            looks = self.known[optimizer] = ZeroLooks(len(self.known))
        if looks.over:
            self.rest()
            return
        looks.updates += 1
        if looks.updates & (looks.updates - 1):
            return
        held = [p for p in parameters(optimizer) if readable(p)]
        flags = zero_flags(held, self.run.state.norms.of_gradients(parameters(optimizer)) or {})
        stuck = {id(p) for p, (weight, grad) in zip(held, flags, strict=True) if weight and grad}
        behind = {id(p) for p, (weight, grad) in zip(held, flags, strict=True) if grad and not weight}
        looks.behind = behind if looks.stuck is None else looks.behind & behind
        looks.stuck = stuck if looks.stuck is None else looks.stuck & stuck
        looks.looks += 1
        if looks.looks == 1:
            self.asked |= dict.fromkeys(looks.stuck, looks)
        if looks.stuck:
            self.tell(optimizer, looks, [p for p in held if id(p) in (looks.stuck | looks.behind)], flags)

    def tell(
        self, optimizer: Optimizer, looks: ZeroLooks, found: list[Tensor], flags: Sequence[tuple[bool, bool]]
    ) -> None:
        """Emit what one look has left."""
        names = self.run.names()
        stuck = [p for p in found if id(p) in (looks.stuck or ())]
        behind = [p for p in found if id(p) in looks.behind]
        self.run.emit(
            ZeroParameters(
                ref=self.run.ref("update", self.run.iteration - 1),
                optimizer=looks.number,
                kind=type(optimizer).__name__,
                built=self.run.built_at(optimizer),
                updates=looks.updates,
                looks=looks.looks,
                stuck=tuple(self.described(p, names, looks) for p in stuck[:SHOWN]),
                stuck_count=len(stuck),
                behind=tuple(names.get(id(p), "") for p in behind[:NAMED]),
                behind_count=len(behind),
                live=sum(not grad for _, grad in flags),
            )
        )

    def described(self, parameter: Tensor, names: dict[int, str], looks: ZeroLooks) -> ZeroParameter:
        """Describe one parameter: its name, where it is made, who uses it."""
        name = names.get(id(parameter), f"parameter of shape {tuple(parameter.shape)}")
        return ZeroParameter(
            name=name,
            shape=tuple(parameter.shape),
            flat=looks.flat.get(id(parameter), ""),
            made=filled_in(self.run.modules(), name),
            used=first(self.used.get(id(parameter), ())),
        )


def readable(parameter: Tensor) -> bool:
    """Whether weight and gradient are plain dense tensors."""
    grad = parameter.grad
    return (
        grad is not None
        and grad.layout is torch.strided
        and parameter.layout is torch.strided
        and parameter.numel() > 0
        and not parameter.is_meta
        and type(grad) is Tensor
    )


def zero_flags(held: list[Tensor], read: Mapping[int, float]) -> list[tuple[bool, bool]]:
    """Whether the weight and the gradient of each are 0 everywhere (NaN is not); the weights of those alone whose
    gradient is, and each gradient alone whose norm is: squares of small values may vanish. `read` are the norms of
    gradients that are known, by the id of their parameter."""
    with torch.no_grad():
        new = [p for p in held if id(p) not in read]
        norms = {**read, **dict(zip(map(id, new), l2s_of([g for p in new if (g := p.grad) is not None]), strict=True))}
        grads = [norms[id(p)] == 0 and not bool(p.grad.any()) for p in held]  # type: ignore[union-attr]
        weights = [grad and not bool(p.any()) for p, grad in zip(held, grads, strict=True)]
    return list(zip(weights, grads, strict=True))


def filled_in(modules: Sequence[nn.Module], name: str) -> Frame | None:
    """The line that fills a parameter with zeros or sets it, in the class of its module or of one above."""
    parts = name.split(".")
    for root in modules:
        owners: list[object] = [root]
        for part in parts[:-1]:
            owners.append(getattr(owners[-1], part, None))
        if not isinstance(owners[-1], nn.Module) or not hasattr(owners[-1], parts[-1]):
            continue
        made = (zeroed_at(type(owner), part) for owner, part in zip(reversed(owners), reversed(parts), strict=True))
        return next((frame for frame in made if frame is not None), None)
    return None
