"""Follows noise that is added to a batch: does the model get it as its input and the loss as its target?"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.loss.drawn_targets import DRAWS
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.loss_call import ELEMENTWISE, LOSSES
from debugtracer.trace.facts.noisy_target import NoisyTarget

SUMS = frozenset({"add", "__add__", "__radd__", "add_", "__iadd__", "sub", "__sub__", "__rsub__", "lerp", "addcmul"})
MOST = 256  # tensors followed in a step (ours)


class Followed:
    """A tensor that comes from a draw, from a batch, or from both."""

    def __init__(self, tensor: Tensor, draw: Followed | None, loaded: bool, raw: RawFrames = ()) -> None:
        self.tensor = WeakRef(tensor)
        self.draw, self.loaded, self.raw = draw, loaded, raw
        self.mixed = False
        """Data and noise were added."""


class NoisyTargetsObserver(Observer):
    """Hears the functions of inspected steps; keeps no tensor alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: dict[int, Followed] = {}
        self.inputs: list[weakref.ref[Tensor]] = []
        self.found: tuple[str, Followed, Tensor | None, RawFrames] | None = None
        self.losses = self.number = 0

    def reset(self) -> None:
        self.known.clear()
        self.inputs, self.found = [], None

    def followed(self, value: Any) -> Followed | None:
        """What is known of an argument; a tensor of a fetched batch is known, too."""
        if not isinstance(value, Tensor) or not value.is_floating_point() or value.requires_grad:
            return None
        one = self.known.get(id(value))
        if one is not None and one.tensor() is value:
            return one
        return Followed(value, None, True) if self.run.batches.find(value) is not None else None

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow a draw, what is computed with it, and a loss."""
        name = getattr(function, "__name__", "")
        if name in DRAWS:
            if isinstance(output, Tensor) and output.numel() > 1 and len(self.known) < MOST:
                self.known[id(output)] = Followed(output, None, False, raw_frames(1))
            return
        if not self.known:
            return
        if name in LOSSES:
            self.compared(name, args, kwargs)
        elif isinstance(output, Tensor) and output.is_floating_point() and not output.requires_grad:
            self.computed(name, (*args, *kwargs.values()), output)

    def computed(self, name: str, given: tuple[Any, ...], output: Tensor) -> None:
        """Follow the result of a function of tensors that are followed."""
        parts = [one for value in given if (one := self.followed(value)) is not None]
        if not parts or len(self.known) >= MOST:
            return
        mixed = name in SUMS and any(one.loaded for one in parts) and any(not one.loaded for one in parts)
        # what is added to data is the noise; a draw of another shape is its strength
        sources = [one for one in parts if not (mixed and one.loaded)]
        draws = [one.draw if one.draw is not None or one.loaded else one for one in sources]
        sizes = [(d, t.shape == output.shape) for d in draws if d is not None and (t := d.tensor()) is not None]
        draw = max(sizes, key=lambda pair: pair[1], default=(None, False))[0]
        result = Followed(output, draw, any(one.loaded for one in parts))
        result.mixed = mixed or any(one.mixed for one in parts)
        self.known[id(output)] = result

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Keep the noisy inputs of a model."""
        if not self.known or not torch.is_grad_enabled() or next(iter(module.parameters()), None) is None:
            return
        for value in [v for v in args if isinstance(v, Tensor)]:
            one = self.known.get(id(value))
            if one is not None and one.mixed and one.tensor() is value:
                self.inputs.append(WeakRef(value))

    def compared(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note a loss whose target is a noisy input."""
        if not torch.is_grad_enabled():
            return
        self.losses += 1
        given = [*args[:2], *(kwargs[word] for word in ("input", "target") if word in kwargs)]
        targets = [v for v in given if isinstance(v, Tensor) and not v.requires_grad]
        if name not in ELEMENTWISE or len(given) != 2 or len(targets) != 1:
            return
        one = self.known.get(id(targets[0]))
        if one is not None and one.draw is not None and any(r() is targets[0] for r in self.inputs):
            self.found = name, one, one.draw.tensor(), raw_frames(2)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit it where it is the only loss, and begin anew."""
        found, count = self.found, self.losses
        self.found, self.inputs, self.losses = None, [], 0
        if not self.known:
            return
        self.known.clear()
        if found is None or count != 1:
            return
        name, one, noise, raw = found
        target = one.tensor()
        if target is None or noise is None or noise.shape != target.shape or one.draw is None:
            return
        with torch.no_grad():
            pair = torch.stack([target.flatten().double(), noise.flatten().double()])
            together = float(torch.corrcoef(pair)[0, 1])
        self.run.emit(
            NoisyTarget(
                ref=self.run.ref(),
                loss=name,
                number=self.number,
                noise=together,
                frame=first(raw),
                drawn=first(one.draw.raw),
            )
        )
        self.number += 1
