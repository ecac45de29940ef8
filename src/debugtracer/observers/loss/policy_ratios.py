"""Compares new with old log-probabilities of a policy whose weights have not changed in between."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.graph.model_origins import LARGEST, LAYOUT, ModelCall, ModelOrigins, Origin, is_plain
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.policy_ratio import PolicyRatio
from debugtracer.trace.number import number

KEEPS = LAYOUT | {"sum", "clamp", "clamp_", "nan_to_num"}
NOISES = frozenset({"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "batch_norm"})
FEWEST = 4  # ratios that are compared (ours)
APART = 1e-4  # of two logarithms that were computed alike (ours: another batch size gives 1e-6 to 1e-5 in float32)
DEVICE_APART = 5e-3  # the same on a device, which may round to ten bits inside a product (ours)
HALF_APART = 0.1  # the same where half precision is at work (ours)
MOST = 2**16  # ratios compared (ours)
ROWS = 64  # inputs looked up (ours)
LOOKS = 64  # backward calls of inspected steps without such a ratio, after which none is looked for (ours)
MOST_ROWS = 1024  # old ones looked up (ours)


class Logs(NamedTuple):
    """A difference of logarithms."""

    new: Tensor
    old: Tensor
    made_by: Origin
    kept_of: Origin
    raw: RawFrames


class PolicyRatiosObserver(Observer):
    """Hears the functions of inspected steps; one host sync where such a ratio is made."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.origins = ModelOrigins()
        self.logs: ById[Tensor, Logs] = ById()
        self.noise = ""
        self.looks = 0
        """Backward calls of inspected steps since the last ratio."""

    def reset(self) -> None:
        self.origins.clear()
        self.logs.data.clear()

    @inspected
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Wait for what is random inside."""
        self.noise = ""

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a call of a model that has weights."""
        weights = next(iter(module.parameters()), None)
        if weights is not None:
            given = next((v for v in (*args, *kwargs.values()) if isinstance(v, Tensor)), None)
            call = ModelCall(WeakRef(module), writes_into(module), copy_of(given), raw_frames(1), self.noise)
            self.origins.returned(call, output)

    @inspected
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow one function; a difference that goes into exp is told."""
        name = getattr(function, "__name__", "")
        if name in NOISES and is_random(name, args, kwargs):
            self.noise = name
        if not self.origins.calls:
            return
        given = (*args, *kwargs.values())
        if name in DIFFERENCES and len(args) > 1 and isinstance(output, Tensor) and output.requires_grad:
            new, old = args[:2] if name not in ("rsub", "__rsub__") else args[1::-1]
            self.subtracted(new, old, output)
        elif name in ("exp", "exp_") and (logs := self.logs.get(args[0])) is not None:
            self.logs.data.clear()
            self.looks = 0
            self.compare(logs)
        elif name in KEEPS and args and (logs := self.logs.get(args[0])) is not None and isinstance(output, Tensor):
            self.logs[output] = logs
        self.origins.passed(function, name, given, output)

    def subtracted(self, new: Any, old: Any, output: Tensor) -> None:
        """Note a difference of what the policy says now, and said in a call before of the same, computed alike."""
        if not (isinstance(new, Tensor) and isinstance(old, Tensor)) or old.requires_grad or new.shape != old.shape:
            return
        if not new.requires_grad or not FEWEST <= new.numel() <= MOST or not (is_dense(new) and is_dense(old)):
            return
        made_by, kept_of = self.origins.of(new), self.origins.of(old)
        if kept_of is None or not kept_of.calls:
            kept_of = self.origins.of_values(old)
        if made_by is None or kept_of is None or not made_by.calls or not kept_of.calls:
            return
        if max(made_by.calls) > max(kept_of.calls) and made_by.functions == kept_of.functions:
            self.logs[output] = Logs(new.detach().clone(), old.detach().clone(), made_by, kept_of, raw_frames(2))

    def compare(self, logs: Logs) -> None:
        """Emit ratios that are not 1."""
        now, then = (self.origins.calls.get(max(o.calls)) for o in (logs.made_by, logs.kept_of))
        model = now.module() if now is not None else None
        if now is None or then is None or model is None or not self.same_weights(model, now, then, logs.kept_of):
            return
        new, old = (v.flatten().double() for v in (logs.new, logs.old))
        counted = old.isfinite() & new.isfinite() & (old != 0)
        apart = (new - old).abs() > limit(logs) * old.abs().clamp(min=1)
        ratios = (new - old).exp()[counted]
        compared = int(counted.sum())
        if compared < FEWEST:
            return
        rows, same, shown = self.inputs(logs, now)
        line, line_before = apart_at(now.raw, then.raw)
        self.run.emit(
            PolicyRatio(
                ref=self.run.ref(), frame=first(logs.raw), call_frame=first(line), old_frame=first(line_before),
                compared=compared, off=int((apart & counted).sum()), low=number(float(ratios.min())),
                high=number(float(ratios.max())), rows=rows, same=same, shown=shown,
                drawn=max(logs.made_by.calls) in logs.made_by.drawn, noise=now.noise,
            )
        )  # fmt: skip

    def same_weights(self, model: nn.Module, now: ModelCall, then: ModelCall, kept_of: Origin) -> bool:
        """Whether all old ones were made with the weights of today, by this model or by a copy of it."""
        if writes_into(model) != now.version:
            return False
        for call in (call for n in kept_of.calls if (call := self.origins.calls.get(n)) is not None):
            if (call.module() is not model or call.version != now.version) and call is then:
                return not now.noise and is_copy(model, call.module()) and call.version == writes_into(call.module())
            if call.module() is not then.module() or call.version != then.version:
                return False
        return True

    def inputs(self, logs: Logs, now: ModelCall) -> tuple[int, int, int]:
        """Count old ones whose input is known; of these, new ones with the same input; and inputs of the new ones that
        the model was given before, for whatever row."""
        given, old = now.given, logs.old.flatten()
        if given is None or old.device.type != "cpu" or given.dim() < 1 or given.shape[0] != old.numel():
            return 0, 0, 0
        table, rows, same = given.reshape(len(given), -1), 0, 0
        known = [call.given for n, call in self.origins.calls.items() if n < max(logs.made_by.calls)]
        shown = {as_key(row) for v in known if v is not None and v.numel() % table.shape[1] == 0
                 for row in v.reshape(-1, table.shape[1])[:ROWS]}  # fmt: skip
        for place, value in enumerate(old.tolist()[:MOST_ROWS]):
            origin, row = self.origins.values.get(value, (Origin(), 0))
            if not origin.functions <= logs.kept_of.functions or len(origin.calls) != 1:
                continue
            call = self.origins.calls.get(next(iter(origin.calls)))
            before = call.given if call is not None else None
            if before is None or before.numel() % table.shape[1] or before.numel() // table.shape[1] <= row:
                continue
            rows += 1
            same += as_key(table[place]) == as_key(before.reshape(-1, table.shape[1])[row])
        return rows, same, sum(as_key(row) in shown for row in table[:ROWS])

    @inspected
    def backward_ended(self, losses: list[Tensor]) -> None:
        """Let go of the step: its weights are about to be written, by whomever."""
        self.looks += 1
        self.reset()
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.entered, self.left, self.called, self.backward_ended)


def is_random(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether dropout drops something, or a norm uses the statistics of the batch."""
    place = 5 if name == "batch_norm" else 2
    training = kwargs.get("training", args[place] if len(args) > place else name != "batch_norm")
    share = kwargs.get("p", args[1] if len(args) > 1 else 0.5) if name != "batch_norm" else 1.0
    return bool(training) and isinstance(share, (int, float)) and share > 0


def limit(logs: Logs) -> float:
    """The distance from which two logarithms are not the same."""
    half = logs.new.dtype != logs.old.dtype or logs.new.element_size() <= 2
    if half or torch.is_autocast_enabled(logs.new.device.type):
        return HALF_APART
    return APART if logs.new.device.type == "cpu" else DEVICE_APART


def writes_into(module: nn.Module | None) -> int:
    """How often the weights and buffers of a model were written in place; -1 for none."""
    if module is None:
        return -1
    held = (*module.parameters(), *module.buffers())
    return sum(tensor._version for tensor in held if not tensor.is_inference())


def is_copy(model: nn.Module, other: nn.Module | None) -> bool:
    """Whether two models hold the same values."""
    if other is None or type(other) is not type(model):
        return False
    pairs = list(zip(model.state_dict().values(), other.state_dict().values(), strict=False))
    return len(pairs) == len(other.state_dict()) and all(
        isinstance(a, Tensor) and isinstance(b, Tensor) and torch.equal(a, b) for a, b in pairs
    )


def as_key(row: Tensor) -> tuple[float, ...]:
    """Make a row of a table something that a set can hold."""
    return tuple(row.tolist())


def copy_of(given: Tensor | None) -> Tensor | None:
    """A copy of an input that is small and in host memory."""
    return given.detach().clone() if given is not None and is_plain(given) and given.numel() <= LARGEST else None


def apart_at(now: RawFrames, then: RawFrames) -> tuple[RawFrames, RawFrames]:
    """The outermost lines at which two stacks differ: where the program does one thing and where the other."""
    for place in range(1, min(len(now), len(then)) + 1):
        if now[-place] != then[-place]:
            return now[-place:][:1], then[-place:][:1]
    return now[:1], then[:1]
