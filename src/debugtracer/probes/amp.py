"""Follows each GradScaler: its arguments, the scale, skipped updates, calls it will refuse; and the autocast that training forwards run under."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.probes.frames import RawFrames, raw_frames
from debugtracer.probes.lines import first
from debugtracer.probes.optimizer import parameters
from debugtracer.probes.probe import Patches
from debugtracer.probes.scaler import current_scale
from debugtracer.probes.taker import Taker
from debugtracer.recorder.entry import autocast_state
from debugtracer.recorder.identity import ById
from debugtracer.trace.facts.amp import AutocastSeen, ScalerRefused, ScalerSetup
from debugtracer.trace.number import number

SCALE, SKIPPED = "loss_scale", "scaler_skipped"  # series: the loss scale an update was made with; 1 where the scaler skipped it


class AmpTaker(Taker):
    """Reads the scale on the CPU; on a device only on inspected steps."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.scalers: ById[Any, int] = ById()
        self.count = 0
        self.pending: list[tuple[Any, RawFrames]] = []
        self.calls: dict[tuple[int, int], RawFrames] = {}
        self.running = self.wrote = False
        self.scaling = False
        """A loss was multiplied since the last backward."""
        self.cast: tuple[str, str, RawFrames] | None = None

    def install(self) -> None:
        """Note where scalers are built, those that are disabled included."""
        self.patches.wrap(torch.amp.GradScaler, "__init__", self.constructor)

    def remove(self) -> None:
        """Restore it."""
        self.patches.undo()

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.calls.clear()
        self.pending.clear()
        self.cast = None

    def constructor(self, original: Any) -> Any:
        """GradScaler.__init__ that notes the user's line."""

        @functools.wraps(original)
        def init(scaler: Any, /, *args: Any, **kwargs: Any) -> None:
            original(scaler, *args, **kwargs)
            self.pending.append((weakref.ref(scaler), raw_frames(1)))

        return init

    def tell_setups(self) -> None:
        """The arguments of scalers built since."""
        waiting, self.pending = self.pending, []
        for reference, raw in waiting:
            scaler = reference()
            if scaler is None or scaler in self.scalers:
                continue
            self.scalers[scaler] = self.count
            enabled = bool(scaler.is_enabled())
            self.desk.tell(
                ScalerSetup(
                    ref=self.desk.ref(),
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

    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """The autocast of a forward with a graph."""
        if self.desk.inspecting and torch.is_grad_enabled():
            on = next((kind for kind, _ in autocast_state()), None)
            self.cast = None if on is None else (on, str(torch.get_autocast_dtype(on)).removeprefix("torch."), raw_frames(1))

    def backward_begins(self, losses: list[Tensor]) -> None:
        """That forward is trained."""
        if self.pending:
            self.tell_setups()
        cast, self.cast = self.cast, None
        scaling, self.scaling = self.scaling, False
        if cast is not None and losses:
            self.desk.tell(AutocastSeen(ref=self.desk.ref("forward"), device=cast[0], dtype=cast[1], frame=first(cast[2]), scaled=scaling))

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """What will be refused is told before it is."""
        if word not in ("unscale", "step"):
            self.scaling = self.scaling or word == "scale"
            if word == "update":
                self.calls = {key: raw for key, raw in self.calls.items() if key[0] != id(scaler)}
            return
        given = args[0] if args else kwargs.get("optimizer")
        optimizer = getattr(given, "optimizer", given)
        raw = raw_frames(1)
        stage = getattr(scaler._per_optimizer_states.get(id(given), {}).get("stage"), "name", "READY")
        what = {("unscale", "UNSCALED"): "unscaled twice", ("unscale", "STEPPED"): "unscaled after step", ("step", "STEPPED"): "stepped twice"}.get(
            (word, stage)
        )
        if what is not None:
            self.refused(what, raw, self.calls.get((id(scaler), id(given)), ()), optimizer)
        elif word == "unscale" or stage == "READY":
            self.look_for_half(raw, optimizer)
        self.calls[id(scaler), id(given)] = raw
        if word == "step":
            self.running, self.wrote = True, False
            scale = current_scale(scaler)
            if scale is None and self.desk.inspecting and isinstance(scaler._scale, Tensor):
                scale = float(scaler._scale.item())
            if scale is not None:
                self.desk.put(SCALE, scale)

    def refused(self, what: str, raw: RawFrames, before: RawFrames, optimizer: Any, param: str | None = None) -> None:
        """A call that raises."""
        ref = self.desk.ref("unscale", self.desk.iteration - 1)
        self.desk.tell(ScalerRefused(ref=ref, what=what, frame=first(raw), before=first(before), optimizer=type(optimizer).__name__, param=param))

    def look_for_half(self, raw: RawFrames, optimizer: Any) -> None:
        """Gradients in float16 cannot be unscaled."""
        if self.desk.inspecting and isinstance(optimizer, Optimizer):
            half = next((p for p in parameters(optimizer) if p.grad is not None and p.grad.dtype is torch.float16), None)
            if half is not None:
                self.refused("half gradients", raw, (), optimizer, self.desk.names().get(id(half), f"parameter of shape {tuple(half.shape)}"))

    def scaler_returned(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The call is over."""
        if word == "step":
            self.running = False

    def step_begins(self, optimizer: Optimizer) -> None:
        """The scaler lets it write."""
        self.wrote = True

    def step_closed(self, optimizer: Optimizer) -> None:
        """It did not, if no write began."""
        if self.running:
            self.desk.put(SKIPPED, 0.0 if self.wrote else 1.0)
