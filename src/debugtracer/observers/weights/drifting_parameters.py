"""Follows a few numbers that are trained beside the layers (weights of tasks, temperatures, scales): do they come to
rest?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.observers.weights.drift import Drift, furthest
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.drifting_parameter import DriftingParameter
from debugtracer.trace.number import number

NUMBERS, MOST = 16, 4  # of one parameter, and parameters that are followed (ours)
LOOKS = (8, 16, 32, 64)  # after which the drift is judged; none is kept beyond the last (ours)
PARTS = frozenset({"unbind", "__getitem__", "select", "__iter__"})


class Look(NamedTuple):
    """One look at a parameter before an update: copies, read when the drift is judged."""

    value: Tensor
    gradient: Tensor
    loss: Tensor


class SmallParameter:
    """One parameter."""

    def __init__(self, weight: Tensor, name: str) -> None:
        self.weight: Callable[[], Tensor | None] = WeakRef(weight)
        self.name = name
        self.looks: list[Look] = []
        self.used: RawFrames = ()


class DriftingParametersObserver(Observer):
    """Copies a few numbers in inspected steps; hears nothing more in a program without such parameters."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.followed: list[SmallParameter] = []
        self.loss: Tensor | None = None
        self.found = False
        self.parts: dict[int, tuple[Any, SmallParameter]] = {}
        """Parts of a followed parameter made in this step."""

    def reset(self) -> None:
        self.followed.clear()
        self.parts.clear()
        self.loss, self.found = None, False

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note where a followed parameter, or a part of it, is used first."""
        for one in self.followed if args else ():
            weight, part = one.weight(), self.parts.get(id(args[0]))
            if args[0] is weight or (part is not None and part[0] is args[0] and part[1] is one):
                if getattr(function, "__name__", "") in PARTS:
                    made = output if isinstance(output, (tuple, list)) else (output,)
                    self.parts.update({id(each): (each, one) for each in made})
                elif not one.used and isinstance(output, Tensor) and output.requires_grad:
                    one.used = raw_frames(1)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Keep the loss of the step."""
        self.parts.clear()
        self.loss = losses[0].detach().clone() if len(losses) == 1 and losses[0].numel() == 1 else None

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Find such parameters, once; look at those that this optimizer holds."""
        if not self.found:
            self.found = True
            self.followed = [SmallParameter(weight, name) for weight, name in small_parameters(self.run, optimizer)][
                :MOST
            ]
            if not self.followed:
                self.run.unsubscribe(self.called, self.backward_begins, self.step_begins)
        if self.loss is None or not self.followed:
            return
        held = {id(p) for p in parameters(optimizer)}
        for one in list(self.followed):
            weight = one.weight()
            if weight is None or id(weight) not in held or weight.grad is None or not is_dense(weight.grad):
                continue
            one.looks.append(Look(weight.detach().clone(), weight.grad.detach().clone(), self.loss))
            if len(one.looks) in LOOKS:
                self.judge(one)

    def ended(self) -> None:
        """Judge what was seen since."""
        for one in list(self.followed):
            self.judge(one)

    def judge(self, one: SmallParameter) -> None:
        """Emit a parameter that drifts and takes the loss along. Waits for a device."""
        if len(one.looks) < LOOKS[0]:
            return
        values, gradients = (
            [each.double().flatten().tolist() for each in column] for column in list(zip(*one.looks, strict=True))[:2]
        )
        losses = [float(look.loss) for look in one.looks]
        drifts = [Drift([v[n] for v in values], [g[n] for g in gradients]) for n in range(len(values[0]))]
        going = [drift for drift in drifts if drift.goes_on()]
        if going:
            self.emit(one, going, losses)
        if going or len(one.looks) >= LOOKS[-1]:
            self.followed.remove(one)

    def emit(self, one: SmallParameter, going: list[Drift], losses: list[float]) -> None:
        """Emit the number that went furthest."""
        drift, half, frames = furthest(going), len(losses) // 2, frames_of(one.used)
        self.run.emit(
            DriftingParameter(
                ref=self.run.ref("update", self.run.iteration - 1), name=one.name, numbers=len(going),
                first=number(drift.values[0]), last=number(drift.values[-1]), gradient=number(drift.gradients[-1]),
                kept=number(drift.kept()), loss=number(losses[-1]), fall=number(losses[half] - losses[-1]),
                explained=number(sum(each.explained() for each in going)), looks=len(losses),
                frame=frames[0] if frames else None,
            )
        )  # fmt: skip


def small_parameters(run: ObservedRun, stepping: Optimizer) -> list[tuple[Tensor, str]]:
    """List trained parameters of few numbers that no layer of torch holds, with their paths."""
    names = run.names()
    of_layers = {
        id(p)
        for root in run.modules()
        for module in root.modules()
        if type(module).__module__.startswith("torch.") and not isinstance(module, (nn.ParameterList, nn.ParameterDict))
        for p in nn.Module.parameters(module, recurse=False)
    }
    trained = {id(p): p for optimizer in [stepping, *run.optimizers] for p in parameters(optimizer)}
    return [
        (p, names.get(id(p), ""))
        for p in trained.values()
        if is_dense(p) and p.dim() < 2 and p.numel() <= NUMBERS and id(p) not in of_layers and p.is_floating_point()
    ]
