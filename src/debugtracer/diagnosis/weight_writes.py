"""The program's own writes into its weights since the last update, as facts of an incident."""

from __future__ import annotations

from debugtracer.recorder.tape.own_writes import OwnWrite
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.trace.birth import Frame
from debugtracer.trace.incident import WeightWrite

MOST = 8  # lines that write weights, told of one step (ours)


def weight_writes(segment: Segment, context: ReplayContext) -> tuple[WeightWrite, ...]:
    """Group the last write into each parameter by its line. No tensor is read."""
    names = context.roots.named_parameters()
    lines: dict[tuple[Frame, str, bool], list[tuple[str, OwnWrite]]] = {}
    for tensor, write in segment.own_writes.all():
        frames = context.frames(write.frames)
        if frames and id(tensor) in names:
            lines.setdefault((frames[0], write.function, write.replayed), []).append((names[id(tensor)], write))
    return tuple(
        WeightWrite(
            params=tuple(name for name, _ in found),
            op="data = ..." if op == "__set__" else op,
            frame=frame,
            source=next(iter(context.frames(found[0][1].source)), None) if found[0][1].source else None,
            replayed=replayed,
        )
        for (frame, op, replayed), found in list(lines.items())[:MOST]
    )
