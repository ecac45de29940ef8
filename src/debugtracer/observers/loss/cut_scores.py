"""Learns which models give scores that the loss squashes, and looks at what an evaluation decides of such an output."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import is_dense, main_output
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.optimizer.score_gradients import share_memory
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.cut_scores import CutScores
from debugtracer.trace.facts.loss_call import CUTS

SQUASHES = frozenset({"binary_cross_entropy_with_logits", "sigmoid", "special_expit", "expit", "logsigmoid"})
LARGEST = frozenset({"argmax", "max"})
HALF = 0.5
LOOKS = 4  # inspected steps in which the loss squashes an output, or does not (ours)
LINES = 16  # of an evaluation (ours)
TIMES = 4  # at one line (ours)


class Squashed(NamedTuple):
    """What training does with the outputs of a model."""

    name: str
    raw: RawFrames


class LastOutput(NamedTuple):
    """The last output of a model: views of it share its memory."""

    module: WeakRef[nn.Module]
    tensor: WeakRef[Tensor]
    version: int
    """How often its memory was written to: a sigmoid in place makes probabilities of it."""


class CutScoresObserver(Observer):
    """Hears root calls until it is known that no output is squashed, and the decisions of evaluations."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.squashed: ById[nn.Module, Squashed] = ById()
        self.last: LastOutput | None = None
        self.steps: set[int] = set()
        self.seen: dict[RawFrames, int] = {}

    def reset(self) -> None:
        self.squashed, self.last = ById(), None
        self.steps.clear()
        self.seen.clear()

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember which tensor a model has given."""
        made = main_output(output)
        if made is not None and made.dim() and made.is_floating_point():
            self.last = LastOutput(WeakRef(module), WeakRef(made), version(made))

    @of_functions(SQUASHES, CUTS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note an output that is squashed outside of its model, and decisions of an evaluation with graphs on."""
        name = getattr(function, "__name__", "")
        if name in SQUASHES:
            self.squash(name, args[0] if args else kwargs.get("input"))
        elif name in CUTS and self.squashed.data and torch.is_grad_enabled() and args:
            self.decide(name, args, kwargs)

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at a decision of an evaluation."""
        if function.__name__ in CUTS and self.squashed.data:
            self.decide(function.__name__, args, kwargs)

    def squash(self, name: str, given: Any) -> None:
        """Note the model whose output a loss squashes."""
        last = self.last
        if last is None or not isinstance(given, Tensor) or not given.requires_grad:
            return
        module, tensor = last.module(), last.tensor()
        if module is None or tensor is None or not is_part(given, tensor):
            return
        running = running_module(2)
        if running is not None and any(running is part for part in module.modules()):
            return  # it squashes its own output
        if module not in self.squashed:
            self.squashed[module] = Squashed(name, raw_frames(2))

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Stop hearing root calls where the first steps have shown no such output."""
        self.steps.add(self.run.step)
        if len(self.steps) >= LOOKS:
            self.run.unsubscribe(self.backward_begins)
            if not self.squashed.data:
                self.run.unsubscribe(self.left, self.called, self.scored)

    def decide(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Emit a cut at one half, a rounding, or the largest of one column, of an output as it is."""
        last, given = self.last, args[0]
        if last is None or not isinstance(given, Tensor) or not given.is_floating_point() or not given.dim():
            return
        module, tensor = last.module(), last.tensor()
        squashed = self.squashed.get(module) if module is not None else None
        if squashed is None or module is None or tensor is None or not is_part(given, tensor):
            return
        column = name in LARGEST
        if not (one_column(name, given, args, kwargs) if column else is_half(name, args, kwargs)):
            return
        raw = raw_frames(2)
        if self.seen.get(raw, 0) >= TIMES or (raw not in self.seen and len(self.seen) >= LINES):
            return
        between = 0 if column else undecided(given, tensor)
        if last.version == version(tensor) and (column or between):
            self.seen[raw] = self.seen.get(raw, 0) + 1
            self.run.emit(
                CutScores(
                    ref=self.run.ref(), function=name.strip("_"), column=column, squashes=squashed.name,
                    root=type(module).__name__, shape=tuple(given.shape), values=given.numel(), between=between,
                    frame=first(raw), train_frame=first(squashed.raw),
                )
            )  # fmt: skip


def is_part(given: Tensor, output: Tensor) -> bool:
    """Whether it is an output as it is, or a view of it."""
    if given is output:
        return True
    if not is_dense(given) or not is_dense(output) or given.device != output.device or given.dtype != output.dtype:
        return False
    return share_memory(given, output)


def version(tensor: Tensor) -> int:
    """How often it was written to; 0 where torch does not count."""
    return 0 if tensor.is_inference() else int(tensor._version)


def undecided(given: Tensor, output: Tensor) -> int:
    """The values from 0 to one half; none where the whole output may be probabilities."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        scores = (output < 0).any() | (output > 1).any()
        return int((((given >= 0) & (given < HALF)) & scores).sum())


def is_half(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call cuts at one half: `scores > 0.5`, or a rounding to whole numbers."""
    if name == "round":
        return not kwargs.get("decimals")
    limit = args[1] if len(args) > 1 else kwargs.get("other")
    return isinstance(limit, float) and limit == HALF


def one_column(name: str, given: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call looks for the place of the largest along a dimension that has one place; `max` also gives the
    largest itself, which code for any number of classes may ask for."""
    if name == "max" and given.dim() != 2:
        return False
    dim = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
    if not isinstance(dim, int) or not -given.dim() <= dim < given.dim():
        return False
    return given.shape[dim] == 1 and given.numel() > 1
