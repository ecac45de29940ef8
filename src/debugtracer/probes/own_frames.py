"""Takes our frames out of the traceback of a program that dies, so that it reads as it would without us."""

from __future__ import annotations

from types import TracebackType

from debugtracer.errors import guarded
from debugtracer.probes.frames import OURS, place_of

DETOUR = "handle_torch_function"  # torch calls a function twice when a function mode listens; the first call is our doing
HIDES = 8  # chained exceptions looked at (ours)


@guarded("own_frames.hide")
def hide(error: BaseException | None) -> None:
    """Unlink them, also in the exceptions it came from. An error of our own stays whole."""
    for _ in range(HIDES):
        if error is None:
            return
        strip(error.__traceback__)
        error = error.__cause__ or error.__context__


def strip(trace: TracebackType | None) -> None:
    """One traceback; its first entry stays."""
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    if not entries or place_of(entries[-1].tb_frame.f_code) == OURS:
        return
    ours = {i for i, entry in enumerate(entries) if place_of(entry.tb_frame.f_code) == OURS}
    for i in list(ours):
        if i > 2 and entries[i - 1].tb_frame.f_code.co_name == DETOUR and i + 1 < len(entries):
            same = entries[i - 2].tb_frame.f_code is entries[i + 1].tb_frame.f_code
            ours |= {i - 1, i - 2} if same else {i - 1}
    kept = [entry for i, entry in enumerate(entries) if i == 0 or i not in ours]
    for entry, following in zip(kept, [*kept[1:], None], strict=True):
        entry.tb_next = following
