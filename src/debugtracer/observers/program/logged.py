"""Records the scalars that a program logs anyway, and the loss of its validation loops, as series."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always
from debugtracer.recorder.gate import norms
from debugtracer.recorder.governor import Part
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.facts.loss_call import LOSSES
from debugtracer.trace.number import number
from debugtracer.trace.window import VAL_LOSS

NORMS = ("grad", "norm")
VALIDATION = {
    f"{part}{mark}loss" for part in ("val", "valid", "validation", "eval", "dev") for mark in ("_", "/", ".", "-")
}
RARELY = 64  # steps of which one has a number of a name while observers rest (ours)
LIBRARIES = {
    "torch.utils.tensorboard.writer": ("SummaryWriter.add_scalar", "tensorboard"),
    "tensorboardX.writer": ("SummaryWriter.add_scalar", "tensorboard"),
    "lightning.pytorch.core.module": ("LightningModule.log", "lightning"),
    "pytorch_lightning.core.module": ("LightningModule.log", "lightning"),
    "transformers.trainer": ("Trainer.log", "transformers"),
    "wandb.sdk.wandb_run": ("Run.log", "wandb"),
}


class LoggedObserver(Observer):
    """A library is patched when the program has imported it; none is imported by us. Values on a device are left
    alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.scaler = False
        self.hidden = 0
        self.due: dict[str, int] = {}
        """While observers rest, the step from which a number of each name is taken again."""
        self.evaluating = False
        """The last root call ran in eval mode without a graph."""
        self.sums = [0.0, 0.0]
        """Sum and count of the losses of this evaluation."""
        self.scorer = ""
        """The loss function called first by an evaluation; others beside it are metrics."""

    def install(self) -> None:
        """Patch what is there already."""
        self.calls.off = False
        self.cover()

    def remove(self) -> None:
        self.calls.close()

    def cover(self) -> None:
        """Patch libraries that were imported since the last call: a few dictionary reads."""
        for module, (method, source) in LIBRARIES.items() if self.calls.patches.news() else ():
            self.calls.patches.cover(module, method, functools.partial(self.logging, source))

    def logging(self, source: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap one logging method; it runs first, and what it raises is the user's. While observers rest a name that
        was taken lately costs a look at a dictionary."""
        on_log = guarded("observers.program.logged")(self.on_log)
        told = self.calls.after(original, lambda args, kwargs, result: on_log(source, args[0], args[1:], kwargs))
        inside, due, working, state = self.calls.inside, self.due, self.run.governor.working, self.run.state

        @functools.wraps(original)
        def log(*args: Any, **kwargs: Any) -> Any:
            name = args[1] if len(args) > 1 else None
            if working[Part.OBSERVERS] or type(name) is not str or due.get(name, 0) <= state.step:
                return told(*args, **kwargs)
            return inside(original, *args, **kwargs)

        return log

    def on_log(self, source: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Take names and values of one logging call; our modes rest only where a tensor has to be read for it."""
        pairs, at = read(source, owner, args, kwargs)
        if not self.run.affords(Part.OBSERVERS):
            self.due.update({name: self.run.step + RARELY for name in pairs if name.lower() not in VALIDATION})
        reads = any(isinstance(value, Tensor) for value in (*pairs.values(), self.run.state.last_loss))
        with self.run.paused() if reads else contextlib.nullcontext():
            for name, given in pairs.items():
                value = scalar(given)
                if value is not None:
                    self.emit_value(source, name, value, at, owner)

    def emit_value(self, source: str, name: str, value: float, at: int | None, owner: Any) -> None:
        """Emit one number as a series and as a fact."""
        self.run.put(VAL_LOSS if name.lower() in VALIDATION else f"logged/{name}", value)
        hides = (
            source == "transformers"
            and name == "loss"
            and bool(getattr(getattr(owner, "args", None), "logging_nan_inf_filter", False))
        )
        hidden, self.hidden = (self.hidden, 0) if hides else (0, self.hidden)
        plain = "loss" in name.lower() and name.lower() not in VALIDATION
        self.run.emit(
            Logged(
                ref=self.run.ref("update", self.run.state.iteration_in_flight),
                source=source,
                name=name,
                value=number(value),
                at=at,
                ratio=self.ratio(value) if plain else None,
                scaler=self.scaler,
                hidden=hidden,
                frame=self.run.here() if plain or any(word in name.lower() for word in NORMS) else None,
            )
        )

    def ratio(self, value: float) -> float | None:
        """The value over the loss of the last backward, None if unknown."""
        true = self.run.state.last_loss
        if isinstance(true, Tensor):
            true = norms.scalar(true) if true.device.type == "cpu" and true.numel() == 1 else None
        if true is None or not math.isfinite(value):
            return None
        return value / true if true and math.isfinite(true) else None

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that losses are scaled."""
        self.scaler = True

    @always
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take a root call without a graph: an evaluating model, or the loss of its output."""
        if torch.is_grad_enabled():
            self.evaluating = False
            return
        loss = output if isinstance(output, Tensor) else loss_in(output)
        is_loss = type(module).__name__.endswith("Loss") and not any(True for _ in module.parameters())
        if not is_loss:
            self.evaluating = not module.training
        if (
            loss is None
            or loss.numel() != 1
            or loss.device.type != "cpu"
            or not self.evaluating
            or (isinstance(output, Tensor) and not is_loss)
        ):
            return
        self.add(loss)

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take the loss of a call F.cross_entropy(model(x), y) of an evaluation."""
        name = function.__name__
        if (
            not self.evaluating
            or name not in LOSSES
            or not isinstance(output, Tensor)
            or output.numel() != 1
            or output.device.type != "cpu"
            or self.scorer not in ("", name)
        ):
            return
        if arguments(name, args, kwargs).get("reduction") == "mean":  # a sum grows with the batch
            self.scorer = name
            self.add(output)

    def add(self, loss: Tensor) -> None:
        """Add one loss of this evaluation."""
        value = norms.scalar(loss.detach())
        if math.isfinite(value):
            self.sums = [self.sums[0] + value, self.sums[1] + 1]

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Close the evaluation: training goes on."""
        self.cover()
        if self.sums[1]:
            self.run.put(VAL_LOSS, self.sums[0] / self.sums[1])
            self.sums = [0.0, 0.0]
            self.run.evaluated()
        loss = losses[0] if losses else None
        if (
            "transformers.trainer" in self.calls.patches.covered
            and loss is not None
            and loss.device.type == "cpu"
            and loss.numel() == 1
        ):
            self.hidden += not math.isfinite(norms.scalar(loss.detach()))


def loss_in(output: Any) -> Tensor | None:
    """Return `output.loss` or `output["loss"]` of models that compute it themselves, else None."""
    loss = output.get("loss") if hasattr(output, "get") else getattr(output, "loss", None)
    return loss if isinstance(loss, Tensor) else None


def read(source: str, owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], int | None]:
    """What is logged, by name, and the step it belongs to."""
    if source == "tensorboard":
        named = dict(zip(("tag", "scalar_value", "global_step"), args, strict=False)) | kwargs
        pairs, at = {str(named.get("tag")): named.get("scalar_value")}, named.get("global_step")
    elif source == "lightning":
        named = dict(zip(("name", "value"), args, strict=False)) | kwargs
        pairs, at = {str(named.get("name")): named.get("value")}, getattr(owner, "global_step", None)
    else:
        given = args[0] if args else kwargs.get("logs", kwargs.get("data", {}))
        pairs = dict(given) if isinstance(given, dict) else {}
        at = (
            getattr(getattr(owner, "state", None), "global_step", None)
            if source == "transformers"
            else kwargs.get("step")
        )
    return pairs, at if isinstance(at, int) else None


def scalar(value: Any) -> float | None:
    """A number that can be read without waiting for a device."""
    if isinstance(value, Tensor):
        return norms.scalar(value.detach()) if value.numel() == 1 and value.device.type == "cpu" else None
    try:
        return None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError):
        return None
