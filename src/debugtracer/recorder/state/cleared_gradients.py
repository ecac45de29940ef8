"""Whether updates use gradients of their own segments only: each clears what it found first."""

from __future__ import annotations

from torch import nn

from debugtracer.recorder.tape.step_tape import Segment


def cleared_first(segments: list[Segment]) -> bool:
    """True if each optimizer's gradients are cleared before its first update, so that older ones do not count."""
    clean: set[int] = set()
    modules: list[nn.Module] = []
    for entry in (e for s in segments for e in s.entries):
        if entry.kind == "zero_grad" and isinstance(entry.args[0], nn.Module):
            modules.append(entry.args[0])
        elif entry.kind == "zero_grad":
            clean.add(id(entry.args[0]))
        elif entry.kind == "step" and id(entry.args[0]) not in clean:
            inside = {id(p) for m in modules for p in m.parameters()}
            if any(id(p) not in inside for g in entry.args[0].param_groups for p in g["params"] if p.requires_grad):
                return False
            clean.add(id(entry.args[0]))
    return True
