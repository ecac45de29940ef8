"""The update among the recorded operators: its gradients, the numbers that hold its learning rate, the epsilon that it
divides by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from torch import Tensor

from debugtracer.interventions.eps_rows import larger
from debugtracer.interventions.offline_rerun import OfflineRerun, as_argument, number_of
from debugtracer.recorder.capsule.recorded import OpRow, Recorded

ADDS = ("add", "sub", "addcdiv", "addcmul")
SCALES = ("alpha", "value", "scalars")
FUSED = ("fused_adam", "fused_adamw", "fused_sgd", "fused_adagrad")
Divide = Callable[[float], float]


def update_rows(program: Recorded) -> list[tuple[int, OpRow]]:
    """The ops of the optimizers, in order; none where the step stopped before."""
    return [(number, row) for number, row in enumerate(program.ops) if program.places[row.place].direction == "update"]


def detached(rate: float | Tensor) -> float | Tensor:
    """A learning rate without its graph, so that a multiple of it is a new value and the group's own stays."""
    return rate.detach() if isinstance(rate, Tensor) else rate


def refs_in(value: Any) -> list[int]:
    """The refs inside an encoded argument."""
    if isinstance(value, dict):
        return [value["t"]] if isinstance(value.get("t"), int) else []
    return [ref for item in value for ref in refs_in(item)] if isinstance(value, list) else []


def gradients(program: Recorded) -> list[int]:
    """The refs of what the backward made and the update reads, each storage once."""
    made: dict[int, str] = {}
    found: dict[int, int] = {}
    for row in program.ops:
        direction = program.places[row.place].direction
        for ref in refs_in([row.args, list(row.kwargs.values())]) if direction == "update" else ():
            if made.get(program.refs[ref].storage) == "backward":
                found.setdefault(program.refs[ref].storage, ref)
        for out in row.outs:
            if out is not None:
                made.setdefault(program.refs[out].storage, direction)
    return list(found.values())


def parameters(tape: OfflineRerun) -> set[int]:
    """The storages of the labelled parameters."""
    return {tape.program.refs[ref].storage for label, ref in tape.program.labels if label.startswith("parameter ")}


def lower_rate(tape: OfflineRerun, by: float) -> int:
    """Divide what is added to parameters, and the decay they are multiplied with; how many ops that changes."""
    changed, written = 0, parameters(tape)
    for number, row in update_rows(tape.program):
        name = tape.program.names[row.op].partition("::")[2].partition(".")[0].strip("_").removeprefix("foreach_")
        mine = bool(row.args) and any(tape.program.refs[ref].storage in written for ref in refs_in(row.args[0]))
        other = divided(row, name, by) if mine else None
        if other is not None:
            tape.other[number] = other
            changed += 1
    return changed


def divided(row: OpRow, name: str, by: float) -> OpRow | None:
    """The row with its rate divided; None where it shows none."""
    if name in FUSED and "lr" in row.kwargs:
        return with_numbers(row, "lr", lambda v: v / by)
    if name == "mul" and len(row.args) > 1 and number_of(row.args[1]) is not None:
        return with_number(row, 1, lambda v: 1 - (1 - v) / by)
    if name not in ADDS:
        return None
    for word in SCALES:
        if word in row.kwargs:
            return with_numbers(row, word, lambda v: v / by)
    if len(row.args) > 3:  # _foreach_addcdiv_(parameters, moments, roots, scalars)
        return with_number(row, 3, lambda v: v / by)
    if name in ("add", "sub") and refs_in(row.args[1:2]):  # alpha is 1 where it is not said
        return msgspec.structs.replace(row, kwargs={**row.kwargs, "alpha": as_argument(1 / by)})
    return None


def with_numbers(row: OpRow, word: str, change: Divide) -> OpRow | None:
    """A named number, or list of numbers, changed."""
    value = mapped(row.kwargs[word], change)
    return None if value is None else msgspec.structs.replace(row, kwargs={**row.kwargs, word: value})


def with_number(row: OpRow, place: int, change: Divide) -> OpRow | None:
    """A number, or list of numbers, among the arguments changed."""
    value = mapped(row.args[place], change)
    return (
        None
        if value is None
        else msgspec.structs.replace(row, args=[value if n == place else old for n, old in enumerate(row.args)])
    )


def mapped(value: Any, change: Divide) -> Any:
    """The same with each number changed; None where something else stands."""
    if isinstance(value, list):
        inner = [mapped(item, change) for item in value]
        return None if None in inner else inner
    number = number_of(value)
    return None if number is None else as_argument(change(number))


def larger_eps(tape: OfflineRerun, eps: float) -> int:
    """Raise the epsilon added to the root that an update divides by; how many ops that changes."""
    rows = update_rows(tape.program)
    divisors = {
        tape.program.refs[ref].storage
        for _, row in rows
        if "addcdiv" in tape.program.names[row.op]
        for ref in refs_in(row.args[2:3])
    }
    changed = 0
    for number, row in rows:
        name = tape.program.names[row.op]
        to = {tape.program.refs[ref].storage for ref in refs_in(row.args[:1])}
        if "eps" in row.kwargs:
            tape.other[number] = msgspec.structs.replace(
                row, kwargs={**row.kwargs, "eps": larger(row.kwargs["eps"], eps)}
            )
        elif (
            name.partition("::")[2].startswith(("add_", "_foreach_add_"))
            and to & divisors
            and number_of(row.args[1]) is not None
        ):
            tape.other[number] = msgspec.structs.replace(
                row, args=[row.args[0], larger(row.args[1], eps), *row.args[2:]]
            )
        else:
            continue
        changed += 1
    return changed
