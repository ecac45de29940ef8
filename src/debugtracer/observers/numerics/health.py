"""Measures the health snapshot of an inspected step: weights, gradients, activations, the update, tracked tensors."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.chosen_class import chosen_line
from debugtracer.callsites.frames import user_frames
from debugtracer.observers.numerics.dynamics import dynamics_of
from debugtracer.observers.numerics.even_sample import sample_size
from debugtracer.observers.numerics.leaf_outputs import LeafOutputs
from debugtracer.observers.numerics.tensor_health import (
    Sampled,
    dead_share,
    health_of,
    healths_of,
    l2_of,
    l2s_of,
    rows_of,
    sampled,
    saturated_share,
)
from debugtracer.observers.numerics.weights_before import WeightsBefore
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.run_state import parameters
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.health import Health, Role, TensorHealth

FLATTENING = ("Sigmoid", "Tanh", "Softsign")  # classes of layers through many of which no gradient comes
SQUASHING = ("relu", "leaky_relu", "tanh", "sigmoid", "softmax", "gelu", "silu")
# rows of one role in a snapshot; a model of a thousand layers has more parameters than a reader reads (ours)
MOST_TENSORS = 2000


class HealthObserver(Observer):
    """Statistics of an even sample of each tensor; nothing is kept alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.activations: dict[str, Sampled] = {}
        self.tensors: dict[str, TensorHealth] = {}
        self.before: WeightsBefore | None = None
        self.grad_norms: dict[int, float] = {}
        """Those of the gradients that the update was given, by the id of their parameter."""
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

    @of_functions(lambda name: name.rstrip("_") in SQUASHING)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Measure the output of a squashing function, wherever it is called."""
        word = getattr(function, "__name__", "").rstrip("_")
        if word not in SQUASHING or not isinstance(output, Tensor) or len(self.activations) >= MOST_TENSORS:
            return
        path = self.leaves.inside[-1] if self.leaves.inside else ""
        frame = self.run.here()
        name = f"{path}:{word}" if path else f"{word} at line {frame.line}" if frame else word
        if frame and name in self.activations and self.activations[name].told["frame"] not in (None, frame):
            name = f"{name} at line {frame.line}"  # relu is written twice in one forward: neither call hides the other
        score = args[0] if args and isinstance(args[0], Tensor) else None
        self.look_at(name, output, word, score, outside=not path)

    def look_at(
        self, name: str, output: Tensor, function: str, score: Tensor | None = None, outside: bool = False
    ) -> None:
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
            seen = sampled(
                name,
                "activation",
                output,
                sample_size(len(self.leaves.paths)),
                function=function,
                outside=outside,
                frame=self.run.here() if ":" in name or " at " in name else self.chosen(function),
                **more,
            )
        if seen is not None:
            self.activations[name] = seen

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
        graded = [p for p in held if p.grad is not None]
        read = self.run.state.norms.of_gradients(held)  # the gate has just read them, or took the loop's word
        with torch.no_grad():
            norms = l2s_of([grad for p in held if (grad := p.grad) is not None]) if read is None else ()
            self.grad_norms = dict(zip(map(id, graded), norms, strict=True)) if read is None else read
            known = [p for p in graded[:MOST_TENSORS] if id(p) in names]
            self.keep("gradient", known, names, self.grad_norms)
            plain = [p for p in graded if p.layout is torch.strided and not p.is_meta]
            self.before = WeightsBefore(plain[:MOST_TENSORS])

    def keep(self, role: Role, held: list[Tensor], names: dict[int, str], norms: dict[int, float] | None) -> None:
        """Measure the weights or gradients of these parameters; `norms` are those that were read already."""
        told = [norms[id(p)] for p in held] if norms is not None else None
        named = [(names[id(p)], p.grad if role == "gradient" else p) for p in held]
        rows = healths_of(role, [(name, t) for name, t in named if t is not None], told)
        self.tensors |= {f"{role} {row.name}": row for row in rows}

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Measure weights and what changed, and emit the snapshot."""
        if not self.run.inspecting:
            return
        names, held = self.names(), parameters(optimizer)
        norms = self.run.state.norms.of_weights(held)  # read by the gate, after the update
        known = [p for p in held[:MOST_TENSORS] if id(p) in names]
        with torch.no_grad():
            self.keep("weight", known, names, norms)
            params = dynamics_of([(names[id(p)], p) for p in known], optimizer, self.before, self.grad_norms)
            rows = (*self.tensors.values(), *rows_of([*self.activations.values()]))
        self.run.emit(Health(ref=self.run.ref("update", self.run.iteration - 1), tensors=rows, params=tuple(params)))
        self.clear()

    def incident(self) -> None:
        """Measure weights and gradients as the alarm found them; activations when the step was inspected."""
        names = self.names()
        with torch.no_grad():
            for module in self.run.modules():
                held = [*named_in(module, names)][:MOST_TENSORS]
                self.keep("weight", held, names, None)
                self.keep("gradient", held, names, None)
            rows = (*self.tensors.values(), *rows_of([*self.activations.values()]))
        self.run.emit(Health(ref=self.run.ref("update", self.run.iteration), tensors=rows, at_alarm=True))
        self.clear()

    def clear(self) -> None:
        """Drop everything of the step."""
        self.activations, self.tensors, self.before, self.grad_norms = {}, {}, None, {}

    def reset(self) -> None:
        self.leaves.leave()
        self.clear()

    def remove(self) -> None:
        """Drop hooks and values, so that nothing stays behind."""
        self.reset()


def named_in(module: nn.Module, names: dict[int, str]) -> Iterator[Tensor]:
    """Yield the parameters of a module that have a name."""
    yield from (p for p in module.parameters() if id(p) in names)


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
