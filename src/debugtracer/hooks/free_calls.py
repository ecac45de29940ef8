"""Torch calls of the loop outside modules (the loss, the batch's preparation), written on the tape by a function
mode."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from debugtracer.callsites.caller import from_caller
from debugtracer.errors import StoppedByTracer, swallow
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.repeated_calls import RepeatedCalls
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.measuring import measuring
from debugtracer.recorder.tape.foreign_modes import dispatches as dispatch_modes
from debugtracer.recorder.tape.foreign_modes import functions as function_modes
from debugtracer.recorder.tape.function_calls import Pending, finish, is_idle, prepare
from debugtracer.recorder.tape.functions import FunctionMeaning, meaning
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape
from debugtracer.trace.facts.loss_call import COMPARISONS, CUTS, ERRORS, LOSSES
from debugtracer.trace.facts.own_neighbour import RANKED

PLAIN = (Tensor,)
MOVES = frozenset({Tensor.to, Tensor.cuda})  # may give the same values on another device
RANKS = frozenset(getattr(owner, name) for owner in (torch, Tensor) for name in RANKED)
Moved = Callable[[Tensor, Tensor], None]
transformed: Any = torch._C._are_functorch_transforms_active
traced: Any = torch._C._get_tracing_state


class FreeCallMode(TorchFunctionMode):
    """The function mode of calls outside modules."""

    def __init__(
        self,
        events: LoopEvents,
        thread: TrainingThread,
        tape: Tape,
        stack: ModeStack,
        inspection: Inspection,
        cost: CallCost,
        moved: Moved | None = None,
    ) -> None:
        """Take `moved`, which hears of a tensor and its copy on another device."""
        super().__init__()
        self.moved = moved
        self.events, self.thread, self.tape, self.stack, self.inspection = events, thread, tape, stack, inspection
        self.cost, self.repeated = cost, RepeatedCalls()
        stack.attach(self)
        thread.on_claim(self.claimed)

    def claimed(self, owner: int, home: int) -> None:
        """Move the mode to the training thread, when that is known."""
        if owner != home:
            self.stack.move()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Record one call; what the function raises is the user's and passes."""
        cost = self.cost
        cost.left -= 1
        begin = perf_counter() if cost.left <= 0 else 0.0
        kwargs = kwargs or {}
        owner = self.thread.owner
        unheard = self.stack.off or (owner is not None and owner != get_ident())
        what = FunctionMeaning.IGNORE if unheard else meaning(function)
        if what is FunctionMeaning.IGNORE or transformed() or traced() is not None:
            if begin:
                cost.add(perf_counter() - begin)
            return from_caller()(function, args, kwargs)
        if what is FunctionMeaning.PEEK and self.peek(args):
            begin = 0.0  # an alarm has its own account
        # no code of the program's is met while we look; methods written in C name their own class
        plain = not ((types and types != PLAIN) or function_modes() or dispatch_modes())
        try:
            # many rounds without a graph: what each of them does is dropped with the next
            idle = self.tape.rounds.many and plain and is_idle(self.tape, what, args, kwargs)
            pending = (
                None if idle else (prepare if plain else self.prepare_apart)(self.tape, what, function, args, kwargs)
            )
        except Exception as error:
            idle, pending = False, None
            self.refuse(error)
        forward = from_caller()
        called = perf_counter() if begin else 0.0
        output = forward(function, args, kwargs)
        returned = perf_counter() if begin else 0.0
        if pending is not None:
            try:
                (finish if plain else self.finish_apart)(self.tape, what, function, pending, output)
            except Exception as error:
                self.refuse(error)
        if plain and function in MOVES and self.moved is not None and is_elsewhere(args, output):
            self.moved(args[0], output)
        if begin:
            cost.add(perf_counter() - returned + called - begin)
        if self.inspection.on and not idle and not self.repeated.too_many(self.tape.current):
            self.events.called(function, args, kwargs, output)
        if (plain and function in RANKS and ranks_square(args)) or (
            not torch.is_grad_enabled() and scores(getattr(function, "__name__", ""), args, output)
        ):
            self.events.scored(function, args, kwargs, output)
        return output

    def prepare_apart(self, *args: Any) -> Pending | None:
        """Do our part before a call hidden from the modes and tensor classes of the program."""
        with measuring(False):
            return prepare(*args)

    def finish_apart(self, *args: Any) -> None:
        """Do our part after a call hidden from the modes and tensor classes of the program."""
        with measuring(False):
            finish(*args)

    def refuse(self, error: Exception) -> None:
        """Refuse the replay of this step, for our part of a call has failed; nothing else comes of it."""
        self.tape.current.refused = f"recording failed ({type(error).__name__})"
        swallow("recorder.tape.step_tape", error)

    def peek(self, args: Any) -> bool:
        """Raise the alarm of a bad loss when the user reads it, before their reaction; True if there was one. Adds no
        sync to theirs."""
        tensor = args[0] if args else None
        try:
            if isinstance(tensor, Tensor) and self.is_bad_loss(tensor):
                self.events.peeked(tensor)
                return True
        except StoppedByTracer:
            raise
        except Exception as error:
            swallow("hooks.free_calls", error)
        return False

    def is_bad_loss(self, tensor: Tensor) -> bool:
        """True for a loss in host memory that is not finite."""
        with measuring(False):
            return (
                tensor.device.type == "cpu"
                and self.tape.is_losslike(tensor)
                and not torch.isfinite(tensor.detach()).item()
            )

    def install(self) -> None:
        """Put the mode on this thread's stack."""
        self.stack.push()

    def remove(self) -> None:
        """Take the mode off this thread's stack, or disarm it if it lies under another one."""
        self.stack.pop()

    def pause(self) -> None:
        """Do nothing: the stack is suspended for all hooks."""

    def resume(self) -> None:
        """Do nothing, as the counterpart of pause()."""


def scores(name: str, args: Any, output: Any) -> bool:
    """Whether a call without gradients is a loss, compares tensors whose numbers of axes differ, or makes decisions of
    scores: an evaluation."""
    if name in CUTS:
        return bool(args) and not (len(args) > 1 and isinstance(args[1], Tensor))
    return name in LOSSES or (
        (name in COMPARISONS or name in ERRORS)
        and isinstance(output, Tensor)
        and len(args) > 1
        and isinstance(args[0], Tensor)
        and isinstance(args[1], Tensor)
        and 0 < args[0].dim() != args[1].dim() > 0
    )


def ranks_square(args: Any) -> bool:
    """Whether what is ranked is a square without a graph: rows of a set by their nearness to each other."""
    matrix = args[0] if args else None
    if not isinstance(matrix, Tensor) or matrix.dim() != 2 or matrix.requires_grad:
        return False
    return bool(matrix.shape[0] == matrix.shape[1])


def is_elsewhere(args: Any, output: Any) -> bool:
    """Whether a call has given a plain tensor that lies on another device than its first argument."""
    return bool(args and type(output) is Tensor is type(args[0]) and output.device != args[0].device)
