"""Measures the health snapshot of an inspected step: weights, gradients, activations, the update, tracked tensors."""

from __future__ import annotations

import math
import sys
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.chosen_class import chosen_line
from debugtracer.callsites.frames import user_frames
from debugtracer.observers.numerics.dynamics import dynamics_of
from debugtracer.observers.numerics.leaf_outputs import LeafOutputs
from debugtracer.observers.numerics.tensor_health import dead_share, health_of, l2_of, saturated_share
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health, ParamDynamics, Role, TensorHealth

FLATTENING = ("Sigmoid", "Tanh", "Softsign")  # classes of layers through many of which no gradient comes
SQUASHING = ("relu", "leaky_relu", "tanh", "sigmoid", "softmax", "gelu", "silu")
# rows of one role in a snapshot; a model of a thousand layers has more parameters than a reader reads (ours)
MOST_TENSORS = 2000
COPY_BYTES = 1024**3  # weights copied before the step to measure its update; a larger model has no update_l2 (ours)


class HealthObserver(Observer):
    """Statistics of an even sample of each tensor; nothing is kept alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.activations: dict[str, TensorHealth] = {}
        self.tensors: dict[str, TensorHealth] = {}
        self.before: dict[int, Tensor] = {}
        self.leaves = LeafOutputs(run, lambda: run.inspecting, self.gave)
        self.lines: dict[str, Frame | None] = {}
        """Where the program chooses a class of layers."""

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Follow the module path while this root runs."""
        self.leaves.follow(module)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remove the hooks when the root has returned."""
        self.leaves.leave()

    def gave(self, path: str, output: Tensor, kind: str) -> None:
        """Measure the output of a leaf."""
        if len(self.activations) < MOST_TENSORS:
            self.look_at(path, output, kind)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Measure the output of a squashing function, wherever it is called."""
        word = getattr(function, "__name__", "").rstrip("_")
        if word not in SQUASHING or not isinstance(output, Tensor) or len(self.activations) >= MOST_TENSORS:
            return
        path = self.leaves.inside[-1] if self.leaves.inside else ""
        frame = self.run.here()
        name = f"{path}:{word}" if path else f"{word} at line {frame.line}" if frame else word
        if frame and name in self.activations and self.activations[name].frame not in (None, frame):
            name = f"{name} at line {frame.line}"  # relu is written twice in one forward: neither call hides the other
        score = args[0] if args and isinstance(args[0], Tensor) else None
        self.look_at(name, output, word, score)

    def look_at(self, name: str, output: Tensor, function: str, score: Tensor | None = None) -> None:
        """Measure one activation; of a module called several times the last one counts. Jagged tensors are left out."""
        # the inspection would emit our own calls too
        with self.run.state.owned(), torch.no_grad(), torch._C.DisableTorchFunction():
            if output.is_nested:
                return
            output = output.detach()
            more: dict[str, Any] = {
                "dead_units": dead_share(output) if function == "relu" else None,
                "saturated": saturated_share(function, output),
            }
            if function == "softmax" and output.dim() and output.shape[-1] > 1 and output.numel():
                more |= attention_of(output, score)
            row = health_of(
                name,
                "activation",
                output,
                function=function,
                frame=self.run.here() if ":" in name or " at " in name else self.chosen(function),
                **more,
            )
        if row is not None:
            self.activations[name] = row

    def chosen(self, kind: str) -> Frame | None:
        """The line of the program that chooses this class of layers, of one that flattens the gradient."""
        if kind not in FLATTENING:
            return None
        if kind not in self.lines:
            homes = [getattr(sys.modules.get(type(m).__module__), "__file__", None) for m in self.run.modules()]
            files = [*(home for home in homes if home), *(frame.file for frame in user_frames())]
            self.lines[kind] = chosen_line(kind, files)
        return self.lines[kind]

    def track(self, tensor: Tensor, name: str) -> None:
        """Follow one tensor of the user's: its norm each step, its row on inspected steps, its gradient likewise."""
        with self.run.state.owned(), self.run.paused(), torch.no_grad(), torch._C.DisableTorchFunction():
            self.follow(tensor.detach(), name, "tracked", f"tracked/{name}")

        def gradient(grad: Tensor) -> None:
            with self.run.state.owned(), torch.no_grad(), torch._C.DisableTorchFunction():
                self.run.attempt(self.follow, (grad.detach(), name, "tracked_gradient", f"tracked/{name}.grad"))

        if tensor.requires_grad:
            tensor.register_hook(gradient)

    def follow(self, tensor: Tensor, name: str, role: Role, series: str) -> None:
        """Measure a tracked tensor or its gradient."""
        self.run.put(series, l2_of(tensor))
        row = health_of(name, role, tensor) if self.run.inspecting else None
        if row is not None:
            self.tensors[f"{role} {name}"] = row

    def names(self) -> dict[int, str]:
        """The paths of the parameters by id; where two roots have the same path the later one gets a number."""
        return distinct(self.run.names())

    @inspected
    def step_begins(self, optimizer: Optimizer) -> None:
        """Measure the final gradients, and copy the weights."""
        if not self.run.inspecting:
            return
        names = self.names()
        held = parameters(optimizer)
        with torch.no_grad():
            for p in held[:MOST_TENSORS]:
                row = health_of(names[id(p)], "gradient", p.grad) if p.grad is not None and id(p) in names else None
                if row is not None:
                    self.tensors[f"gradient {row.name}"] = row
            if sum(held_bytes(p) for p in held) <= COPY_BYTES:
                self.before = {
                    id(p): p.detach().clone() for p in held if p.grad is not None and p.layout is torch.strided
                }

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Measure weights and what changed, and emit the snapshot."""
        if not self.run.inspecting:
            return
        names = self.names()
        params: list[ParamDynamics] = []
        with torch.no_grad():
            for p in parameters(optimizer)[:MOST_TENSORS]:
                if id(p) not in names:
                    continue
                row = health_of(names[id(p)], "weight", p)
                if row is not None:
                    self.tensors[f"weight {row.name}"] = row
                one = dynamics_of(names[id(p)], p, optimizer, self.before.get(id(p)))
                if one is not None:
                    params.append(one)
        rows = (*self.tensors.values(), *self.activations.values())
        self.run.emit(Health(ref=self.run.ref("update", self.run.iteration - 1), tensors=rows, params=tuple(params)))
        self.clear()

    def incident(self) -> None:
        """Measure weights and gradients as the alarm found them; activations when the step was inspected."""
        names = self.names()
        with torch.no_grad():
            for module in self.run.modules():
                for p in [p for p in module.parameters() if id(p) in names][:MOST_TENSORS]:
                    for role, tensor in (("weight", p), ("gradient", p.grad)):
                        row = health_of(names[id(p)], role, tensor) if tensor is not None else None  # type: ignore[arg-type]
                        if row is not None:
                            self.tensors[f"{role} {row.name}"] = row
        self.run.emit(
            Health(
                ref=self.run.ref("update", self.run.iteration),
                tensors=(*self.tensors.values(), *self.activations.values()),
                at_alarm=True,
            )
        )
        self.clear()

    def clear(self) -> None:
        """Drop everything of the step."""
        self.activations, self.tensors, self.before = {}, {}, {}

    def reset(self) -> None:
        self.leaves.leave()
        self.clear()

    def remove(self) -> None:
        """Drop hooks and values, so that nothing stays behind."""
        self.reset()


def distinct(names: dict[int, str]) -> dict[int, str]:
    """Give names that come again a number: the second `fc.weight` is `fc.weight (2)`."""
    met: dict[str, int] = {}
    told: dict[int, str] = {}
    for key, name in names.items():
        met[name] = met.get(name, 0) + 1
        told[key] = name if met[name] == 1 else f"{name} ({met[name]})"
    return told


def attention_of(output: Tensor, score: Tensor | None) -> dict[str, Any]:
    """Measure entropy and confidence of the rows of a softmax over its last dimension, and the largest score."""
    rows = output.reshape(-1, output.shape[-1])
    rows = rows[:: max(1, rows.shape[0] // 4096)].float()
    entropy = torch.special.entr(rows).sum(-1).mean() / math.log(rows.shape[-1])
    sure = (rows.amax(-1) > 0.999).float().mean()
    largest = None
    if score is not None and score.is_floating_point() and score.numel():
        finite = score.detach().reshape(-1)[:: max(1, score.numel() // 65536)]
        finite = finite[torch.isfinite(finite)]
        largest = float(finite.amax().item()) if finite.numel() else None  # a fill value for masks is negative
    return {"entropy": float(entropy.item()), "saturated": float(sure.item()), "logit_max": largest}
