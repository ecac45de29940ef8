"""Looks at what the first layer of each model receives: a program may scale its batches after the loader, or inside its
forward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import torch
from torch import Tensor, nn

from debugtracer.callsites.bound_names import bound_name
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.observers.numerics.tensor_health import sample_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.first_input import FirstInput
from debugtracer.trace.number import number

SMALL = 0.01  # of mean and deviation: below it the line that made the input is looked for (ours)
FRAMES = 8  # of the user's, from the call on (ours)


class FirstInputObserver(Observer):
    """One tensor of each root module, in its first inspected training call; one host sync."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.seen: ById[nn.Module, bool] = ById()
        self.running: nn.Module | None = None
        """The root whose first layer has not been met yet."""
        self.stack: Sequence[Frame] = ()
        self.name = ""
        """The user's lines that call it, the innermost first, and what they call it."""
        self.waiting: tuple[FirstInput, Tensor] | None = None
        """What was seen there, and its output until the call that takes it."""

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Begin to listen where a root is trained for the first time."""
        fresh = module not in self.seen and module.training and torch.is_grad_enabled()
        self.running = module if fresh else None
        if fresh:
            self.stack, self.name = user_frames(FRAMES), bound_name(module)

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Stop to listen at the end of the call."""
        self.running = None
        self.tell(normed=False)

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Read the input of the first function that takes a parameter, and see what takes its output."""
        taken = self.waiting is not None and isinstance(output, Tensor) and any(v is self.waiting[1] for v in args)
        if taken:
            self.tell(normed="norm" in getattr(function, "__name__", ""))
        module = self.running
        if module is None or not any(isinstance(v, nn.Parameter) for v in (*args, *kwargs.values())):
            return
        self.running = None
        given = next((v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)), None)
        if given is not None and given.grad_fn is not None:
            return  # made by layers: a part of a model whose forward is called by name is entered like a model
        self.seen[module] = True
        if given is None or isinstance(given, nn.Parameter) or given.is_nested:
            return
        with torch.no_grad():
            values = sample_of(given.detach())
            if values is None or values.numel() < 2:
                return
            std, mean = torch.std_mean(values, correction=0)
            whole = (values == values.round()).all()
            told = torch.stack([x.double() for x in (mean, std, *values.aminmax(), whole)]).tolist()
        fact = FirstInput(
            ref=self.run.ref(),
            root=type(module).__name__,
            function=getattr(function, "__name__", ""),
            shape=tuple(given.shape),
            mean=number(told[0]),
            std=number(told[1]),
            low=number(told[2]),
            high=number(told[3]),
            whole=bool(told[4]),
            frame=self.run.here(),
            made=self.made() if told[0] < SMALL and told[1] < SMALL else None,
        )
        self.waiting = (fact, output)

    def made(self) -> Frame | None:
        """The line that wrote the first argument of the root's call. Reads source."""
        links = argument_origin(self.stack, (self.name,), "", 0) if self.stack and self.name else ()
        return links[0].frame if links else None

    def tell(self, normed: bool) -> None:
        """Emit what was seen, and let its output go."""
        if self.waiting is not None:
            (fact, _), self.waiting = self.waiting, None
            self.run.emit(msgspec.structs.replace(fact, normed=normed))
