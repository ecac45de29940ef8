"""Reads the values by which Lightning and transformers decide which model is the best. Neither is imported by us."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torch import Tensor

from debugtracer.callsites.origins.value_origin import Use, program_of, scope_at
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.callsites.program_files import program_files
from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.best_kept import BestKept
from debugtracer.trace.number import number

MOST = 64  # values of a keeper (ours)
CALLBACKS = ("lightning.pytorch.callbacks", "pytorch_lightning.callbacks")
KEEPERS = {
    **{f"{package}.model_checkpoint": "ModelCheckpoint.check_monitor_top_k" for package in CALLBACKS},
    **{f"{package}.early_stopping": "EarlyStopping._evaluate_stopping_criteria" for package in CALLBACKS},
    "transformers.trainer": "Trainer._determine_best_metric",
}


class Keeper(NamedTuple):
    """One object that keeps the best."""

    number: int
    owner: str
    monitor: str
    mode: str
    frame: Frame | None


class BestValuesObserver(Observer):
    """Reads one number an evaluation; values on a device are left alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.known: ById[Any, Keeper] = ById()
        self.counts: dict[int, int] = {}

    def install(self) -> None:
        """Patch what is there already."""
        self.calls.off = False
        self.cover()

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.known.clear()
        self.counts.clear()

    def cover(self) -> None:
        """Patch libraries that were imported since the last call: a few dictionary reads."""
        for module, method in KEEPERS.items() if self.calls.patches.news() else ():
            self.calls.patches.cover(module, method, functools.partial(self.comparing, method.partition(".")[0]))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Patch a library that was imported since."""
        self.cover()

    def comparing(self, owner: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap what compares a value with the best so far."""
        on_value = guarded("observers.checkpoint.best_values")(self.on_value)
        return self.calls.after(original, lambda args, kwargs, result: on_value(owner, args, kwargs))

    def on_value(self, owner: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Emit one value, with what it is compared by."""
        keeper, given = args[0], (*args[1:], *kwargs.values())
        monitor, mode, value = told_to_trainer(keeper, given) if owner == "Trainer" else told_to_callback(keeper, given)
        if mode not in ("min", "max") or value is None or not self.run.step:
            return
        one = self.known.get(keeper)
        if one is None:
            at = built(type(keeper).__name__, monitor) if owner != "Trainer" else chosen(monitor)
            one = self.known[keeper] = Keeper(len(self.counts), owner, monitor, mode, at or self.run.here())
            self.counts[one.number] = 0
        count, self.counts[one.number] = self.counts[one.number], self.counts[one.number] + 1
        if count < MOST:
            self.run.emit(
                BestKept(
                    ref=self.run.ref("update", self.run.state.iteration_in_flight), keeper=one.number, owner=one.owner,
                    monitor=one.monitor, mode="min" if one.mode == "min" else "max", count=count, value=number(value),
                    frame=one.frame,
                )
            )  # fmt: skip


def told_to_callback(keeper: Any, given: tuple[Any, ...]) -> tuple[str, str, float | None]:
    """What a callback of Lightning monitors, which way, and the value: the last thing it is given."""
    return str(keeper.monitor), str(keeper.mode), scalar(given[-1] if given else None)


def told_to_trainer(trainer: Any, given: tuple[Any, ...]) -> tuple[str, str, float | None]:
    """What a Trainer of transformers takes the best model by."""
    name = str(trainer.args.metric_for_best_model)
    metrics = given[0] if given and isinstance(given[0], dict) else {}
    found = metrics.get(name if name.startswith("eval_") else f"eval_{name}")
    return name, "max" if trainer.args.greater_is_better else "min", scalar(found)


def scalar(value: Any) -> float | None:
    """A number that can be read without waiting for a device."""
    if isinstance(value, Tensor):
        return float(value.item()) if value.numel() == 1 and value.device.type == "cpu" else None
    return float(value) if isinstance(value, (int, float)) or hasattr(value, "__float__") else None


def built(kind: str, monitor: str) -> Frame | None:
    """The line that calls this class with this monitor, where there is one such line in the program."""
    return only(call for call in calls() if final_name(call[1].func) == kind and names(call[1], "monitor", monitor))


def chosen(metric: str) -> Frame | None:
    """The line that chooses the metric of a Trainer."""
    return only(call for call in calls() if names(call[1], "metric_for_best_model", metric))


def names(call: ast.Call, keyword: str, value: str) -> bool:
    """Whether a call has this argument by name."""
    return any(k.arg == keyword and isinstance(k.value, ast.Constant) and k.value.value == value for k in call.keywords)


def calls() -> Iterator[tuple[Use, ast.Call]]:
    """Yield the calls in the files of the program. Reads source."""
    for file in dict.fromkeys(program_files() or ()):
        program = program_of(str(file))
        for node in program.nodes if program is not None else ():
            if program is not None and isinstance(node, ast.Call):
                yield Use(program, scope_at(program, node.lineno), node), node


def only(found: Iterator[tuple[Use, ast.Call]]) -> Frame | None:
    """Find the line of these calls, where there is one call alone."""
    known = list(found)
    return known[0][0].frame(known[0][1]) if len(known) == 1 else None
