"""Follows what trained networks made past the end of its graph: does it become a term of the loss as a mean or a
sum?"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.observers.graph.constant_terms import SUMS
from debugtracer.observers.graph.graph_cut import CHOICES
from debugtracer.observers.graph.graph_walk import node_of
from debugtracer.observers.graph.summands import ALONG
from debugtracer.observers.graph.summands import SUMS as SUM_NODES
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.entry import tensors
from debugtracer.source.source import GRADIENT_OFF
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.cut_term import CutTerm
from debugtracer.trace.facts.loss_call import LOSSES

REDUCES = frozenset({"mean", "sum", "norm", "vector_norm", *LOSSES})
ENDS = {"detach": "detach", "__get__": "data"}
MOST = 256  # tensors followed in a step (ours)
LOOKS = 16  # inspected steps (ours)


@dataclass
class End:
    """One call at which a graph ended, and what became of it."""

    function: str
    raw: RawFrames
    uses: int = 0
    """By what has a graph."""


@dataclass
class Past:
    """A tensor that is made of what lies past an end."""

    tensor: WeakRef[Tensor]
    ends: list[End]
    reduced: str = ""
    """What made one number of many."""


@dataclass
class Added:
    """Such a number, where it was added to a loss."""

    past: Past
    raw: RawFrames


@dataclass
class StepTerms:
    """What was followed in one step."""

    past: dict[int, Past] = field(default_factory=dict)
    added: dict[int, Added] = field(default_factory=dict)
    """By the number of the node of the sum."""


class CutTermsObserver(Observer):
    """Follows identities in inspected steps; keeps no tensor alive and reads no value."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.now, self.looks = StepTerms(), 0

    def reset(self) -> None:
        self.now = StepTerms()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.now = StepTerms()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Begin where a graph ends, go on through what has none, and note where it is added to what has one."""
        if not isinstance(output, Tensor) or not output.is_floating_point() or not is_dense(output):
            return
        name = getattr(function, "__name__", "")
        handed = list(tensors((args, kwargs)))
        if not self.now.past and not any(value.requires_grad for value in handed):
            return  # no graph was there yet, and none is
        given = [value for value in handed if is_dense(value)]
        past = [one for value in given if (one := self.of(value)) is not None] if self.now.past else []
        if output.requires_grad:
            if past:
                self.used(name, past, output)
            return
        self.follow(name, given, past, output)

    def follow(self, name: str, given: list[Tensor], past: list[Past], output: Tensor) -> None:
        """Note what has no graph and was made of what has one, or of what such a thing made."""
        ends = [end for one in past for end in one.ends]
        if name not in CHOICES and any(begins(name, value) for value in given):
            how = ENDS.get(name, "no_grad") if torch.is_grad_enabled() else "no_grad"
            ends.append(End(how, raw_frames(2)))
        if ends and len(self.now.past) < MOST:
            many = name in REDUCES and output.numel() == 1 and any(value.numel() > 1 for value in given)
            reduced = name if many else next((one.reduced for one in past if one.reduced), "")
            self.now.past[id(output)] = Past(WeakRef(output), ends, reduced)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow what a model makes without a graph: the functions inside are not heard there."""
        if torch.is_grad_enabled():
            return
        given = [value for value in tensors((args, kwargs)) if is_dense(value)]
        past = [one for value in given if (one := self.of(value)) is not None]
        for value in tensors(output):
            if is_dense(value) and value.is_floating_point() and not value.requires_grad and self.of(value) is None:
                self.follow("", given, past, value)

    def of(self, value: Tensor) -> Past | None:
        """What is known of a tensor."""
        one = self.now.past.get(id(value))
        return one if one is not None and one.tensor() is value else None

    def used(self, name: str, past: list[Past], output: Tensor) -> None:
        """Count a use by what has a graph; a sum of scalars is noted."""
        for one in past:
            for end in one.ends:
                end.uses += 1
        if output.numel() == 1 and name in SUMS and len(past) == 1 and past[0].reduced and (node := node_of(output)):
            self.now.added[int(node._sequence_nr())] = Added(past[0], raw_frames(2))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what is a summand of the loss, and nothing else."""
        now, self.now = self.now, StepTerms()
        if not now.added:
            return
        for number in sums_of(losses) & now.added.keys():
            added = now.added[number]
            if any(end.uses != 1 for end in added.past.ends):
                continue  # a target, a weight, or what is subtracted again
            end = added.past.ends[0]
            self.run.emit(
                CutTerm(
                    ref=self.run.ref(),
                    function=end.function,
                    reduced=added.past.reduced,
                    frame=context_line(frames_of(end.raw)) if end.function == "no_grad" else first(end.raw),
                    sum_frame=first(added.raw),
                )
            )

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step; the form of a loss is known after some."""
        self.now = StepTerms()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_begins, self.step_closed)


def begins(name: str, value: Tensor) -> bool:
    """Whether a call that gives no graph is the end of one: of what was computed, or of a weight as it is."""
    return node_of(value) is not None or (value.requires_grad and name in ENDS)


def sums_of(losses: Iterable[Tensor]) -> set[int]:
    """The numbers of the sums of scalars that a loss is made by, past factors."""
    stack: list[Any] = [node for loss in losses if loss.numel() == 1 and (node := node_of(loss)) is not None]
    found: set[int] = set()
    while stack and len(found) < MOST:
        node = stack.pop()
        if node.name() in SUM_NODES:
            found.add(int(node._sequence_nr()))
        if node.name() in ALONG:
            stack += [child for child, _ in node.next_functions if child is not None]
    return found


def context_line(frames: tuple[Frame, ...]) -> Frame | None:
    """The innermost `with torch.no_grad():`, or the function that is decorated so, around lines that run; the first
    line where the source has none. Reads source."""
    for frame in frames:
        program = program_of(frame.file)
        nodes = [node for node in program.nodes if is_around(node, frame.line)] if program is not None else []
        line = max(map(turned_off, nodes), default=0)
        if line:
            return Frame(frame.file, line, frame.function, linecache.getline(frame.file, line).strip())
    return frames[0] if frames else None


def is_around(node: ast.AST, line: int) -> bool:
    """Whether a node reaches over a line."""
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0)


def turned_off(node: ast.AST) -> int:
    """The line at which a node turns gradients off; 0 where it does not."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        written = [item.context_expr for item in node.items]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        written = node.decorator_list
    else:
        return 0
    found = [one for one in written if any(word in ast.unparse(one) for word in GRADIENT_OFF)]
    return found[0].lineno if found else 0
