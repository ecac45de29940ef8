"""Follows random draws into what they are mixed with: is the mixture ever read, or does a layer get what it was made
of?"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.program_stack import program_stack
from debugtracer.observers.loss.drawn_targets import LOOKS_ONLY, tensors, writes
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.unread_draw import UnreadDraw
from debugtracer.trace.step import StepRef

DRAWS = frozenset(
    {"randn", "randn_like", "rand", "rand_like", "normal", "randperm", "randint", "randint_like", "bernoulli"}
)
LAYERS = frozenset({"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"})
MOST = 128  # tensors followed in a step (ours)
ENOUGH, AT_END = 5, 2  # looks at a line, all of them unread; in a short run (ours)


class Call(NamedTuple):
    """One call of the program's text: a line may have several."""

    raw: RawFrames
    name: str
    number: int


NOWHERE = Call((), "", 0)


class Mixture:
    """A draw, or what was computed of one."""

    def __init__(self, tensor: Tensor, sources: list[WeakRef[Tensor]], call: Call) -> None:
        self.tensor, self.sources, self.call = WeakRef(tensor), sources, call
        self.shape = tensor.shape
        self.read = False
        self.plain: RawFrames = ()
        """The line that gave a layer what it was made of."""


class UnreadDrawsObserver(Observer):
    """Hears the functions of inspected steps; keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, Mixture] = {}
        self.unread: dict[Call, list[tuple[StepRef, Mixture]]] = {}
        self.read: set[Call] = set()
        """Calls whose mixture was read at least once."""

    def reset(self) -> None:
        self.known.clear()
        self.unread.clear()
        self.read.clear()

    def missed(self) -> None:
        """Forget a step that was not seen to its end."""
        self.known.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a draw, what is computed of it, and who reads that."""
        name = getattr(function, "__name__", "")
        if name in DRAWS:
            if isinstance(output, Tensor) and is_dense(output) and output.numel() > 1:
                self.keep(output, [], NOWHERE)
            return
        if not self.known or name in LOOKS_ONLY or (name == "__get__" and not isinstance(output, Tensor)):
            return
        handed = list(tensors((*args, *kwargs.values())))
        if name not in LAYERS and not any(id(value) in self.known for value in handed):
            return
        given = [value for value in handed if is_dense(value)]
        if name in LAYERS and given:
            self.handed(given[0], raw_frames(1))
        parts = [one for value in given if (one := self.of(value)) is not None]
        for part in parts:
            part.read = True
        plain = isinstance(output, Tensor) and is_dense(output) and not writes(name, kwargs)
        if parts and plain and output.numel() > 1:
            self.computed(name, given, parts, output)

    def computed(self, name: str, given: list[Tensor], parts: list[Mixture], output: Tensor) -> None:
        """Follow what is no result of a layer: of such a one it is known that it read."""
        if any(isinstance(value, nn.Parameter) for value in given):
            return
        sources = [source for part in parts for source in part.sources]
        same = [value for value in given if self.of(value) is None and value.is_floating_point()]
        sources += [WeakRef(value) for value in same if value.shape == output.shape]
        sources = sources if output.is_floating_point() else []  # a mask is a draw again
        raw = raw_frames(2)
        number = sum(one.call.raw == raw and one.call.name == name for one in self.known.values())
        self.keep(output, sources, Call(raw, name, number))

    def keep(self, output: Tensor, sources: list[WeakRef[Tensor]], call: Call) -> None:
        """Remember a tensor by its identity."""
        if len(self.known) < MOST or id(output) in self.known:
            self.known[id(output)] = Mixture(output, sources, call)

    def of(self, value: Tensor) -> Mixture | None:
        """What is known of a tensor."""
        one = self.known.get(id(value))
        return one if one is not None and one.tensor() is value else None

    def handed(self, value: Tensor, raw: RawFrames) -> None:
        """Note what a layer or a model reads at the mixtures that were made of it."""
        own = self.of(value)
        if own is not None:
            own.read = True
        if own is not None or not torch.is_grad_enabled() or not is_dense(value):
            return
        for one in self.known.values():
            if (
                not one.plain
                and not one.read
                and one.shape == value.shape
                and any(source() is value for source in one.sources)
            ):
                one.plain = raw

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Note what a model is given."""
        if self.known and next(iter(module.parameters()), None) is not None:
            raw = raw_frames(1)
            for value in tensors(args):
                self.handed(value, raw)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note what it was given by name, and what it gives back: somebody may read that."""
        if self.known:
            for value in tensors(kwargs.values()):
                self.handed(value, raw_frames(1))

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Count the mixtures of the step at their lines; what code of its own reads is not heard."""
        unheard = self.run.compiles or self.run.function_calls
        mixtures = [one for one in self.known.values() if one.sources and not unheard]
        self.known = {}
        for one in mixtures:
            if one.read or not one.plain:
                self.read |= {one.call} if one.read else set()
            elif is_nobodys(one):
                looks = self.unread.setdefault(one.call, [])
                looks.append((self.run.ref(), one))
                if len(looks) == ENOUGH:
                    self.tell(looks)

    def ended(self) -> None:
        """Emit the lines that were seen in few steps."""
        for looks in self.unread.values():
            if AT_END <= len(looks) < ENOUGH:
                self.tell(looks)

    def tell(self, looks: list[tuple[StepRef, Mixture]]) -> None:
        """Emit a line whose mixture nobody has ever read."""
        ref, one = looks[0]
        if one.call in self.read:
            return
        own = {code for code, _ in one.call.raw}
        at = next(((pair,) for pair in one.plain if pair[0] in own), one.plain)
        self.run.emit(UnreadDraw(ref=ref, frame=first(one.call.raw), looks=len(looks), given=first(at)))


def is_nobodys(one: Mixture) -> bool:
    """Whether a mixture is gone, or held by one variable of a function that runs: no buffer or list has it."""
    tensor = one.tensor()
    if tensor is None:
        return True
    if sys.getrefcount(tensor) > 3:  # this variable, the argument, and one of the program's
        return False
    return any(value is tensor for frame in program_stack(sys._getframe(1)) for value in locals_of(frame).values())
