"""Did a part of an output change that must not, and in which module does it begin?"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of
from debugtracer.observers.model.shadow_model import RecordedForward, line_of
from debugtracer.trace.number import number

CHANGED = 1e-4  # standard deviations; 0 is expected of an output (docs/rationale/checks.md#model_future_leak)


def difference(
    base: Tensor, output: Tensor, seen: list[RecordedForward], now: list[RecordedForward], part: Any
) -> dict[str, Any]:
    """Check whether a part of the output that must not change did, and the first module where it shows; `stack` holds
    the lines that called it, innermost first."""
    size = distance(part(base), part(output))
    if size is None or size <= CHANGED:
        return {"changed": False, "size": number(size or 0.0)}
    name, raw = culprit([(a, b) for a, b in zip(seen, now, strict=False) if a.name == b.name], part)
    frames = frames_of(raw)
    frame = frames[0] if frames else None
    return {"changed": True, "size": number(size), "module": name or None, "frame": frame, "stack": frames}


def culprit(pairs: list[tuple[RecordedForward, RecordedForward]], part: Any) -> tuple[str, RawFrames]:
    """The first module with a change, and the line that mixed since the last one without."""
    calls: list[tuple[str, RawFrames]] = []
    for a, b in pairs:
        calls += b.inside
        if moved(a.output, b.output, part):
            around = moved(a.given, b.given, part)  # it came in changed: the code around it did that
            return b.name.rpartition(".")[0] if around else b.name, line_of(calls) or b.line
        if a.output.dim() and distance(part(a.output), part(b.output)) is not None:
            calls = []
    return "", ()


def moved(a: Tensor | None, b: Tensor | None, part: Any) -> bool:
    """True if a part that must not change did."""
    return a is not None and b is not None and a.dim() > 0 and (distance(part(a), part(b)) or 0.0) > CHANGED


def distance(a: Tensor | None, b: Tensor | None) -> float | None:
    """The largest change in standard deviations; None for shapes that cannot be compared."""
    if a is None or b is None or a.shape != b.shape or not a.numel():
        return None
    scale = float(a.float().std()) if a.numel() > 1 else 0.0
    return float((a.float() - b.float()).abs().amax()) / max(scale, 1e-12)
