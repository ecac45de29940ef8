"""A sample that the data pipeline of the program died of: fetched again beside samples that it could make, line by
line, to the line after which a value has another form (shape, dtype, mode of a picture, type) than for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import as_frame
from debugtracer.errors import ReplayRefused
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.replay.fetch.child import in_child
from debugtracer.replay.fetch.followed import SECONDS
from debugtracer.replay.fetch.line_trace import RETURNED, Executed, LineTrace, TooLong
from debugtracer.replay.fetch.out_of_range import written_here
from debugtracer.replay.fetch.sample import Pipeline, pipeline_of
from debugtracer.trace.facts.crash import FormSeen

FEWEST = 3  # samples that must have passed the line, all of one form (ours)
HEALTHY = 6  # samples that are fetched beside it (ours)
TRIED = 24  # samples that these are chosen from (ours)
PARTS = 16  # of a tuple, list or dict that are looked at (ours)
MOST = 4000  # names after lines of one fetch that are kept (ours)
Key = tuple[CodeType, int, str]


@dataclass
class Forms:
    """The form of each name after each line of one fetch, at its first time."""

    seen: dict[Key, tuple[Executed, dict[str, str]]] = field(default_factory=dict)

    def take(self, executed: Executed, after: dict[str, Any]) -> None:
        """Take one statement and its names after it."""
        for name, value in after.items():
            key = (executed.visit.code, executed.statement.line, name)
            if len(self.seen) < MOST and key not in self.seen:
                self.seen[key] = executed, dict(form_of(value))


def odd_form(info: LoaderInfo, indices: Sequence[int], healthy: Sequence[int], made: bool = False) -> FormSeen | None:
    """The first of these samples that cannot be made (`made`: the first, which comes out unlike the others), and the
    line after which a value of it has another form than for the healthy ones; None where all can be made."""
    try:
        pipeline = pipeline_of(info)
        if pipeline.streams:
            return None
        told = in_child(lambda: compared(pipeline, indices, healthy, made), SECONDS)
    except (ReplayRefused, OSError):
        return None
    return told if isinstance(told, FormSeen) else None


def compared(pipeline: Pipeline, indices: Sequence[int], healthy: Sequence[int], made: bool) -> FormSeen | None:
    """Fetch all of them and compare; runs in the child."""
    guilty = next((index for index in indices if made or not fetched(pipeline, index, LineTrace())), None)
    if guilty is None:
        return None
    others: list[Forms] = []
    for index in [i for i in dict.fromkeys((*healthy, *indices)) if i != guilty][:TRIED]:
        forms = Forms()
        if len(others) < HEALTHY and fetched(pipeline, index, LineTrace(watch=forms.take)):
            others.append(forms)
    odd = Forms()
    fetched(pipeline, guilty, LineTrace(watch=odd.take))
    for (code, line, name), (executed, form) in odd.seen.items():
        beside = [other.seen[code, line, name][1] for other in others if (code, line, name) in other.seen]
        for part, value in form.items():
            usual = {other.get(part, "") for other in beside}
            if len(beside) >= FEWEST and len(usual) == 1 and value not in usual:
                return told(guilty, executed, name, f"{part} {value}".strip(), f"{part} {usual.pop()}".strip(), beside)
    return FormSeen(index=guilty)


def told(index: int, executed: Executed, name: str, value: str, usual: str, beside: Sequence[object]) -> FormSeen:
    """What was found: a parameter gets its value at the call."""
    while name in executed.visit.arguments and executed.visit.at is not None and not written_here(executed, name):
        executed = executed.visit.at
        name = RETURNED
    return FormSeen(
        index=index,
        frame=as_frame(executed.visit.code, executed.statement.line),
        name="" if name == RETURNED else name,
        seen=value,
        usual=usual,
        beside=len(beside),
    )


def fetched(pipeline: Pipeline, index: int, trace: LineTrace) -> bool:
    """Whether a sample can be made. Raises ReplayRefused where that takes too long."""
    try:
        with torch.no_grad():
            trace.run(lambda: pipeline.sample(index))
    except TooLong:
        raise ReplayRefused("the sample takes too many lines to follow") from None
    except Exception:
        return False
    return True


def form_of(value: Any, path: str = "", depth: int = 2) -> Iterator[tuple[str, str]]:
    """Yield the parts of the form of a value, as (part, what it is); reads no attribute of a class of the program's."""
    kind = type(value)
    home = (kind.__module__ or "").partition(".")[0]
    yield f"{path}type", kind.__name__ if home != "PIL" else "PIL image"
    if isinstance(value, Tensor) or home == "numpy":
        shape = tuple(getattr(value, "shape", ()))
        yield f"{path}dimensions", str(len(shape))
        yield from ((f"{path}dimension {place} of size", str(size)) for place, size in enumerate(shape))
        yield f"{path}dtype", str(getattr(value, "dtype", "")).removeprefix("torch.")
    elif home == "PIL":
        yield f"{path}mode", str(getattr(value, "mode", ""))
    elif kind in (list, tuple, dict):
        yield f"{path}length", str(len(value))
        parts = list(value.items() if kind is dict else enumerate(value))[:PARTS] if depth else []
        for key, part in parts:
            yield from form_of(part, f"{path}[{key!r}] ", depth - 1)
