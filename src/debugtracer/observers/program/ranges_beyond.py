"""A range of places on the line of a crash that goes on behind the end of what it picks from."""

from __future__ import annotations

import ast
import re
from types import FrameType

from debugtracer.callsites.frame_locals import locals_of
from debugtracer.callsites.frames import as_frame
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.raising_frames import raising_frames
from debugtracer.errors import guarded
from debugtracer.observers.program.cut_windows import Values, number_of, parts, shape_of, value_of
from debugtracer.observers.program.index_used import OUTSIDE
from debugtracer.trace.facts.crash import CutSeen

RANGES = frozenset({"range", "arange"})
NUMBER = r"index (-?\d+) is out of bounds for .*?size (\d+)"


@guarded("crash.range")
def range_beyond(error: BaseException) -> CutSeen | None:
    """The range whose values hold the index that was refused; None where there is none."""
    refused = re.search(NUMBER, str(error)) if OUTSIDE in str(error) else None
    walked = raising_frames(error)
    if refused is None or not walked:
        return None
    frame, line = walked[-1]
    index, size = int(refused[1]), int(refused[2])
    for node, call, low, high in ranges(frame, line, size):
        if low <= index < high and high > size:
            at = as_frame(frame.f_code, call.args[0].lineno)
            return CutSeen(text=ast.unparse(node), low=low, high=high, size=size, frame=at, picked=True)
    return None


def ranges(frame: FrameType, line: int, size: int) -> list[tuple[ast.Subscript, ast.Call, int, int]]:
    """The picks on a line by a range, of a dimension of this size, with the two ends as the names are."""
    program = program_of(frame.f_code.co_filename)
    values: Values = {**frame.f_globals, **locals_of(frame)}
    found = []
    for node in ast.walk(program.tree) if program is not None else ():
        if not isinstance(node, ast.Subscript) or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        shape = shape_of(value_of(node.value, values))
        for part, length in zip(parts(node), shape, strict=False):
            ends = ends_of(part, values) if length == size else None
            if ends is not None and isinstance(part, ast.Call):
                found.append((node, part, *ends))
    return found


def ends_of(part: ast.expr, values: Values) -> tuple[int, int] | None:
    """The two ends of `range(a, b)`, `np.arange(b)`, `torch.arange(a, b)`."""
    if not isinstance(part, ast.Call) or part.keywords or len(part.args) not in (1, 2):
        return None
    if ast.unparse(part.func).rpartition(".")[2] not in RANGES:
        return None
    low = number_of(part.args[0], values) if len(part.args) == 2 else 0
    high = number_of(part.args[-1], values)
    return (low, high) if low is not None and high is not None else None
