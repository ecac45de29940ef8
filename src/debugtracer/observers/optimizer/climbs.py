"""Measures whether the first updates go up or down the loss function that they are made of."""

from __future__ import annotations

import ast
import inspect
import math
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.value_origin import Use, program_of
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, leaves
from debugtracer.observers.graph.loss_sign import SIMILARITY, LossSign, sign_of
from debugtracer.observers.numerics.even_sample import evenly
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.optimizer.score_gradients import is_plain
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.climb import Climb
from debugtracer.trace.step import StepRef

LOOKS = 3  # updates in a row, the first of the run (ours): they are inspected steps
MOST_BACKWARDS = 48  # in which they are made (ours): 16 microbatches each
MOST = 512  # tensors that are compared (ours)
SAMPLE = 2048  # values of each (ours)
ALONG = 0.2  # least cosine of the first change and its gradient (ours: noise in 2048 values is 0.02)
NOTHING = 1e-6  # share of the gradient that is rounding: a bias before a batch norm has no other
CHANCE = {"cross-entropy": 0.7, "binary cross-entropy": 0.5 / math.log(2)}
"""Shares of what a guess costs: who begins below knows something already, and may be meant to forget it."""
TURNS = frozenset({"neg", "neg_", "negative", "__neg__", "rsub", "__rsub__", "mul", "__mul__", "__rmul__", "sub"})
WRITES = frozenset({"add_", "sub_", "__iadd__", "__isub__", "subtract_", "addcdiv_", "copy_"})


@dataclass
class BeforeUpdate:
    """Weights and gradients between a backward and what is to move them."""

    held: list[WeakRef[Tensor]]
    weights: list[Tensor]
    slopes: list[Tensor]


class ClimbsObserver(Observer):
    """Silent where weights were loaded, a second optimizer was built, or a part of what has a gradient stands still:
    then somebody is an opponent of the rest. Over after three updates."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.reset()

    def reset(self) -> None:
        self.sign: LossSign | None = None
        self.reached: list[WeakRef[Tensor]] = []
        """What the last backward gave gradients to."""
        self.look: BeforeUpdate | None = None
        self.cosines: list[float] = []
        self.factors: list[float] = []
        """Of each update that was seen to climb: what its loss function was multiplied with."""
        self.start = 0.0
        self.ref: StepRef | None = None
        """The first update."""
        self.turn: RawFrames = ()
        """The last line that turned a loss round."""
        self.reduced: RawFrames = ()
        """The last line that made one number of what has a graph."""
        self.write: RawFrames = ()
        """The first line that added to a weight."""
        self.backward: RawFrames = ()

    def restored(self, word: str, owner: Any) -> None:
        """End where weights were loaded: a network that knows something may be meant to forget it."""
        if word == "weights":
            self.end()

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """End with a second one: two may be opponents."""
        if self.run.built > 1:
            self.end()

    def missed(self) -> None:
        """End, for an update was not seen."""
        self.end()

    @of_functions(TURNS, {"mean", "sum"}, WRITES)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the line that turns a number round, that makes one number, and that writes into a weight."""
        name = getattr(function, "__name__", "")
        if name in TURNS:
            if isinstance(output, Tensor) and output.requires_grad:
                self.turn = raw_frames(1) if sign_changes(name, args) else self.turn
        elif name in ("mean", "sum") and isinstance(output, Tensor) and output.requires_grad and output.dim() == 0:
            self.reduced = raw_frames(1)
        elif self.look is not None and not self.write and name in WRITES and isinstance(args[0], Tensor):
            home = args[0].data_ptr()
            if any(p.data_ptr() == home for r in self.look.held if (p := r()) is not None):
                self.write = raw_frames(1)

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Measure the update of a loop that writes its weights itself; read the loss."""
        if self.look is not None and not self.run.state.stepped:
            self.measure("")
        if len(losses) != 1 or self.over():
            self.end()
            return
        loss = self.run.state.scaled.unscaled(losses[0])
        self.sign = sign_of(loss) if loss.numel() == 1 else None
        if self.sign is None:
            self.end()
            return
        if not self.start:
            self.start, self.ref = float(loss.detach()), self.run.ref("update")
            if self.knows(self.sign):
                self.end()
                return
        self.reached = [WeakRef(t) for t in leaves([loss], MOST_PART_NODES).values()]
        self.backward = raw_frames(1)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Keep what the loop itself is about to move."""
        if not self.run.built and not self.over():
            self.keep([p for r in self.reached if (p := r()) is not None])

    def step_begins(self, optimizer: Optimizer) -> None:
        """Keep what the optimizer is about to move."""
        if self.sign is None or self.over():
            self.end()
            return
        held = {id(p) for p in parameters(optimizer)}
        reached = [p for r in self.reached if (p := r()) is not None]
        if any(id(p) not in held for p in reached):
            self.end()  # an opponent, or an input that is attacked
            return
        self.keep(reached)

    def step_ended(self, optimizer: Optimizer) -> None:
        """Measure the change that the optimizer has made."""
        self.measure(type(optimizer).__name__, optimizer)

    def keep(self, held: list[Tensor]) -> None:
        """Copy samples of the weights and of their gradients."""
        held = [p for p in held if p.grad is not None and not p.is_complex()]
        frozen = any(not p.requires_grad for module in self.run.modules() for p in module.parameters())
        odd = self.run.state.roots.sharded or any(not is_plain(p) or not is_plain(p.grad) for p in held)
        if not held or len(held) > MOST or frozen or odd:
            self.end()
            return
        with torch.no_grad():
            self.look = BeforeUpdate(
                [WeakRef(p) for p in held],
                [evenly(p, SAMPLE).clone() for p in held],
                [evenly(p.grad, SAMPLE).clone() for p in held if p.grad is not None],
            )

    def measure(self, kind: str, optimizer: Optimizer | None = None) -> None:
        """Compare the change of each weight with its gradient; the first update that goes down ends the looks."""
        look, self.look = self.look, None
        if look is None or self.sign is None:
            return
        held = [r() for r in look.held]
        with torch.no_grad():
            changes = [evenly(p, SAMPLE) - old for p, old in zip(held, look.weights, strict=True) if p is not None]
        cosine = common_cosine(changes, look.slopes, not self.cosines) if len(changes) == len(held) else None
        turned = self.sign.factor < 0
        if cosine is None or (abs(cosine) < ALONG and not self.cosines) or (cosine > 0) == turned:
            self.end()
            return
        self.cosines.append(abs(cosine))
        self.factors.append(self.sign.factor)
        if len(self.cosines) >= LOOKS:
            self.tell(kind, optimizer)
            self.end()

    def tell(self, kind: str, optimizer: Optimizer | None) -> None:
        """Emit what all of the first updates had in common."""
        if self.sign is None or not math.isclose(min(self.factors), max(self.factors), rel_tol=1e-5):
            return  # a weight that differs from step to step may be what an action has cost
        maximize = optimizer is not None and any(group.get("maximize") for group in optimizer.param_groups)
        self.run.emit(
            Climb(
                ref=self.ref or self.run.ref("update"),
                function=self.sign.function,
                updates=len(self.cosines),
                cosine=sum(self.cosines) / len(self.cosines),
                turned=self.factors[0] < 0,
                maximize=maximize,
                optimizer=kind,
                start=self.start,
                frame=self.line(optimizer, maximize),
                backward=first(self.backward),
            )
        )

    def line(self, optimizer: Optimizer | None, maximize: bool) -> Frame | None:
        """Where a person turns it back."""
        if self.factors[0] < 0 and self.sign is not None and self.sign.function == SIMILARITY:
            return first(self.reduced) or first(self.backward)
        if self.factors[0] < 0:
            return first(self.turn) or first(self.backward)
        if optimizer is None:
            return first(self.write) or first(self.backward)
        own = None if maximize else writing_line(type(optimizer))
        outside = tuple(pair for pair in self.run.optimizers.get(optimizer) or () if pair[0].co_name != "__init__")
        return own or first(outside) or self.run.built_at(optimizer)

    def knows(self, sign: LossSign) -> bool:
        """Whether the first loss is below what a guess would cost."""
        share = CHANCE.get(sign.function)
        guess = math.log(2) if sign.function.startswith("binary") else math.log(max(sign.classes, 1))
        return share is not None and abs(self.start / sign.factor) < share * guess

    def over(self) -> bool:
        """Whether the first updates are over, or there is more than one optimizer."""
        return self.run.built > 1 or self.run.iteration > MOST_BACKWARDS

    def end(self) -> None:
        """Listen to nothing any more."""
        self.look, self.sign, self.reached = None, None, []
        self.run.unsubscribe(self.called, self.backward_begins, self.backward_ended, self.step_begins, self.step_ended)


def common_cosine(changes: list[Tensor], slopes: list[Tensor], first_look: bool) -> float | None:
    """The cosine of all changes and all gradients together; None where a tensor with a gradient (beyond rounding)
    stands still, or goes the other way than the rest in the first update: later its moments may carry it. Waits for a
    device."""
    with torch.no_grad():
        pairs = [(c.double(), s.double()) for c, s in zip(changes, slopes, strict=True)]
        rows = [torch.stack([(c * s).sum(), c.square().sum(), s.square().sum()]).tolist() for c, s in pairs]
    large = sum(row[2] for row in rows if math.isfinite(row[2]))
    rows = [row for row in rows if not row[2] <= NOTHING**2 * large]
    total = [sum(column) for column in zip(*rows, strict=True)]
    if not rows or not all(map(math.isfinite, total)) or any(row[1] == 0 for row in rows):
        return None
    if first_look and any((row[0] > 0) != (total[0] > 0) for row in rows):
        return None
    return float(total[0] / math.sqrt(total[1] * total[2]))


def sign_changes(name: str, args: tuple[Any, ...]) -> bool:
    """Whether a call turns a number round."""
    if "neg" in name:
        return True
    if "mul" in name:
        return any(isinstance(a, (int, float)) and a < 0 for a in args)
    return "rsub" in name or bool(args and isinstance(args[0], Tensor) and not args[0].requires_grad)


def writing_line(kind: type[Optimizer]) -> Frame | None:
    """The last line of the step of a user's optimizer that adds something to something. Reads source."""
    code = getattr(inspect.unwrap(kind.step), "__code__", None)
    program = program_of(code.co_filename) if code is not None and is_user_file(code.co_filename) else None
    if program is None or code is None:
        return None
    step = next((f for f in program.nodes if isinstance(f, ast.FunctionDef) and is_of(f, code)), None)
    found = [node for node in ast.walk(step) if adds(node)] if step is not None else []
    lines = [int(getattr(node, "lineno", 0)) for node in found]
    return Use(program, step, ast.Name("p")).frame(ast.Pass(lineno=max(lines))) if lines else None


def is_of(function: ast.FunctionDef, code: CodeType) -> bool:
    """Whether a function of the source is this code: its first line is that of its decorators."""
    first_line = min([function.lineno, *(d.lineno for d in function.decorator_list)])
    return function.name == code.co_name and first_line == code.co_firstlineno


def adds(node: ast.AST) -> bool:
    """Whether a node adds something in place."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, (ast.Add, ast.Sub))
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES
