"""A bad loss or gradient that executing the step again did not explain: what the program still holds of it, the
variables of the function in flight and the graph of the loss, is asked."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import msgspec
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.recorder.alarm import Alarm
from debugtracer.replay.gradient_lines import birth_in_gradient_lines
from debugtracer.replay.graph_again import birth_in_graph
from debugtracer.replay.graph_leaves import bad_weight
from debugtracer.replay.investigation import Investigation
from debugtracer.replay.lines_again import birth_in_lines
from debugtracer.trace.birth import Birth
from debugtracer.trace.incident import Mechanism, ReplayFacts

Ways = tuple[tuple[Mechanism, Callable[[Alarm], Birth]], ...]
OF_GRADIENTS: Ways = (("lines", birth_in_gradient_lines),)
WAYS: Ways = (("lines", birth_in_lines), ("graph", birth_in_graph))


def by_held_values(
    alarm: Alarm, result: Investigation, begin: float, name_of: Callable[[Tensor], str | None] = lambda _: None
) -> None:
    """Take the birth from the first of them that shows it; `begin` is the time of the alarm. Of weights that were bad
    before `name_of` says which they are."""
    tried = () if result.replay.mechanism == "flight-record" else (not_shown(result),)
    refused: list[str] = []
    of_loss = alarm.symptom == "nan_loss"
    for mechanism, find in WAYS if of_loss else OF_GRADIENTS:
        try:
            birth = find(alarm)
        except ReplayRefused as error:
            refused.append(f"{mechanism}: {error}")
            continue
        result.birth = birth
        result.replay = ReplayFacts(
            mechanism=mechanism,
            reproduced=True,
            parity="anomaly only",
            alarm_to_verdict_s=perf_counter() - begin,
            refused=(*result.replay.refused, *tried, *refused),
        )
        return
    result.birth = bad_weight(alarm, name_of) if of_loss else None
    result.replay = msgspec.structs.replace(result.replay, refused=(*result.replay.refused, *refused))


def not_shown(result: Investigation) -> str:
    """What was executed again and did not show the fault, as a refusal."""
    return f"{result.replay.mechanism}: {result.replay.parity}"
