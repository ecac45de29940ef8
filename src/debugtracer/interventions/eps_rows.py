"""The epsilons among the arguments of recorded operators: of normalisations, and of the root that an optimizer divides
by."""

from __future__ import annotations

from typing import Any

import msgspec
import torch

from debugtracer.interventions.offline_rerun import OfflineRerun, as_argument, number_of
from debugtracer.recorder.capsule.recorded import OpRow

NAMES = ("eps", "epsilon")
SMALL = 1e-2  # what is added before a root and is larger is no epsilon


def positions(name: str) -> tuple[str, ...]:
    """The names of the arguments of an operator, in order; none when torch does not know it."""
    qualified, _, overload = name.partition(".")
    try:
        schema = torch._C._get_schema(qualified, "" if overload == "default" else overload)
    except RuntimeError:
        return ()
    return tuple(argument.name for argument in schema.arguments)


def with_eps(tape: OfflineRerun, number: int, row: OpRow, eps: float) -> bool:
    """Ask for a larger epsilon of one op; False when it takes none."""
    for place, name in enumerate(positions(tape.program.names[row.op])):
        if name not in NAMES:
            continue
        if name in row.kwargs:
            tape.other[number] = msgspec.structs.replace(
                row, kwargs={**row.kwargs, name: larger(row.kwargs[name], eps)}
            )
            return True
        if place < len(row.args):
            tape.other[number] = msgspec.structs.replace(
                row, args=[larger(value, eps) if n == place else value for n, value in enumerate(row.args)]
            )
            return True
    return False


def larger(value: Any, eps: float) -> dict[str, str]:
    """An encoded epsilon, not below eps."""
    return as_argument(max(number_of(value) or 0.0, eps))


def normalisations(tape: OfflineRerun) -> list[tuple[int, OpRow, bool]]:
    """Find ops outside of the update that take an epsilon, and additions of one just before a root (True for these)."""
    found: list[tuple[int, OpRow, bool]] = []
    added: dict[int, tuple[int, OpRow]] = {}
    for number, row, name, place in tape.ops():
        if place.direction == "update":
            continue
        small = number_of(row.args[1]) if name == "add" and len(row.args) > 1 else None
        if small is not None and 0 <= small < SMALL:
            added.update({tape.program.refs[out].storage: (number, row) for out in row.outs if out is not None})
        elif name in ("sqrt", "rsqrt") and place.forward_op is None and row.args:
            read = tape.window(row.args[0])
            if read is not None and read.storage in added:
                found.append((*added.pop(read.storage), True))
        elif set(NAMES) & set(positions(tape.program.names[row.op])):
            found.append((number, row, False))
    return found


def raise_eps(tape: OfflineRerun, number: int, row: OpRow, adds: bool, eps: float) -> None:
    """Raise the epsilon of one recorded op to at least `eps`."""
    if adds:
        tape.other[number] = msgspec.structs.replace(row, args=[row.args[0], larger(row.args[1], eps), *row.args[2:]])
    else:
        with_eps(tape, number, row, eps)
