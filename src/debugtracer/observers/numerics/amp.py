"""Follows each GradScaler: its arguments, the scale, skipped updates, calls it will refuse; and the autocast that
training forwards run under."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.hooks.hook import Patches
from debugtracer.hooks.scaler import current_scale
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.entry import autocast_state
from debugtracer.trace.facts.amp import AutocastSeen, ScalerRefused, ScalerSetup
from debugtracer.trace.number import number
from debugtracer.trace.window import LOSS_SCALE, SCALER_SKIPPED, SKIPPED_ROW


class AmpObserver(Observer):
    """Reads the scale on the CPU; on a device only on inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.scalers: ById[Any, int] = ById()
        self.count = 0
        self.pending: list[tuple[Any, RawFrames]] = []
        self.calls: dict[tuple[int, int], RawFrames] = {}
        self.running = self.wrote = False
        self.rows: dict[tuple[int, int], int] = {}
        """Updates skipped in a row, of each scaler and optimizer that has written once: before, the scale is sought."""
        self.pair = (0, 0)
        """Scaler and optimizer of the step in flight."""
        self.scaling = False
        """A loss was multiplied since the last backward."""
        self.cast: tuple[str, str, RawFrames] | None = None

    def install(self) -> None:
        """Note where scalers are built, those that are disabled included."""
        self.patches.wrap(torch.amp.GradScaler, "__init__", self.constructor)

    def remove(self) -> None:
        self.patches.undo()

    def reset(self) -> None:
        self.calls.clear()
        self.rows.clear()
        self.pending.clear()
        self.cast = None

    def constructor(self, original: Any) -> Any:
        """Wrap GradScaler.__init__ to note the user's line."""

        @functools.wraps(original)
        def init(scaler: Any, /, *args: Any, **kwargs: Any) -> None:
            original(scaler, *args, **kwargs)
            self.pending.append((weakref.ref(scaler), raw_frames(1)))

        return init

    def emit_setups(self) -> None:
        """Emit the arguments of scalers built since the last call."""
        waiting, self.pending = self.pending, []
        for reference, raw in waiting:
            scaler = reference()
            if scaler is None or scaler in self.scalers:
                continue
            self.scalers[scaler] = self.count
            enabled = bool(scaler.is_enabled())
            self.run.emit(
                ScalerSetup(
                    ref=self.run.ref(),
                    scaler=self.count,
                    frame=first(raw),
                    enabled=enabled,
                    init_scale=number(float(scaler._init_scale)) if enabled else 0.0,
                    growth_factor=number(float(scaler._growth_factor)) if enabled else 0.0,
                    backoff_factor=number(float(scaler._backoff_factor)) if enabled else 0.0,
                    growth_interval=int(scaler._growth_interval) if enabled else 0,
                )
            )
            self.count += 1

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Remember the autocast of a forward with a graph."""
        if self.run.inspecting and torch.is_grad_enabled():
            on = next((kind for kind, _ in autocast_state()), None)
            self.cast = (
                None if on is None else (on, str(torch.get_autocast_dtype(on)).removeprefix("torch."), raw_frames(1))
            )

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the autocast of that forward, which is now trained."""
        if self.pending:
            self.emit_setups()
        cast, self.cast = self.cast, None
        scaling, self.scaling = self.scaling, False
        if cast is not None and losses:
            self.run.emit(
                AutocastSeen(
                    ref=self.run.ref("forward"), device=cast[0], dtype=cast[1], frame=first(cast[2]), scaled=scaling
                )
            )

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Emit a call that will be refused before it is."""
        if word not in ("unscale", "step"):
            self.scaling = self.scaling or word == "scale"
            if word == "update":
                self.calls = {key: raw for key, raw in self.calls.items() if key[0] != id(scaler)}
            return
        given = args[0] if args else kwargs.get("optimizer")
        optimizer = getattr(given, "optimizer", given)
        raw = raw_frames(1)
        stage = getattr(scaler._per_optimizer_states.get(id(given), {}).get("stage"), "name", "READY")
        what = {
            ("unscale", "UNSCALED"): "unscaled twice",
            ("unscale", "STEPPED"): "unscaled after step",
            ("step", "STEPPED"): "stepped twice",
        }.get((word, stage))
        if what is not None:
            self.refused(what, raw, self.calls.get((id(scaler), id(given)), ()), optimizer)
        elif word == "unscale" or stage == "READY":
            self.look_for_half(raw, optimizer)
        self.calls[id(scaler), id(given)] = raw
        if word == "step":
            self.running, self.wrote = True, False
            self.pair = id(scaler), id(given)
            scale = current_scale(scaler)
            if scale is None and self.run.inspecting and isinstance(scaler._scale, Tensor):
                scale = float(scaler._scale.item())
            if scale is not None:
                self.run.put(LOSS_SCALE, scale)

    def refused(self, what: str, raw: RawFrames, before: RawFrames, optimizer: Any, param: str | None = None) -> None:
        """Emit the fact of a call that raises."""
        ref = self.run.ref("unscale", self.run.iteration - 1)
        self.run.emit(
            ScalerRefused(
                ref=ref,
                what=what,
                frame=first(raw),
                before=first(before),
                optimizer=type(optimizer).__name__,
                param=param,
            )
        )

    def look_for_half(self, raw: RawFrames, optimizer: Any) -> None:
        """Find float16 gradients, which cannot be unscaled."""
        if self.run.inspecting and isinstance(optimizer, Optimizer):
            half = next(
                (p for p in parameters(optimizer) if p.grad is not None and p.grad.dtype is torch.float16), None
            )
            if half is not None:
                self.refused(
                    "half gradients",
                    raw,
                    (),
                    optimizer,
                    self.run.names().get(id(half), f"parameter of shape {tuple(half.shape)}"),
                )

    def scaler_returned(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that the scaler's step is over."""
        if word == "step":
            self.running = False

    def step_begins(self, optimizer: Optimizer) -> None:
        """Note that the scaler lets the optimizer write."""
        self.wrote = True

    def step_closed(self, optimizer: Optimizer) -> None:
        """Record a skipped update if no write began under the scaler."""
        if self.running:
            self.run.put(SCALER_SKIPPED, 0.0 if self.wrote else 1.0)
            if self.wrote or self.pair in self.rows:
                self.rows[self.pair] = row = 0 if self.wrote else self.rows[self.pair] + 1
                self.run.put(SKIPPED_ROW, float(row))
