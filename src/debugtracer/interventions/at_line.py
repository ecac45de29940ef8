"""A function mode that knows which line makes each call of a replay."""

from __future__ import annotations

from typing import Any

from torch.overrides import TorchFunctionMode

from debugtracer.callsites.frames import innermost_frame
from debugtracer.interventions.exchange import instead, under
from debugtracer.interventions.rerun import Rerun
from debugtracer.recorder.tape.entry import Entry
from debugtracer.trace.birth import Frame


class AtLine(TorchFunctionMode):
    """Base of modes that exchange the calls of one line, or of one function."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame
        self.recorded: Frame | None = None
        """The user's line of the call of the loop that is executed again; None inside modules, where the live stack
        knows."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that dynamo never traces this mode: replays run eagerly."""
        return False

    def join(self, rerun: Rerun) -> None:
        """Ask for this mode around every call, and inside modules like the guilty one: a backward, where a checkpoint
        computes again, starts without modes."""
        rerun.around.append(lambda entry: self.mode_at(rerun, entry))
        module = rerun.module()
        alike = (
            [m for root in rerun.roots for m in root.modules() if type(m) is type(module) and m is not root]
            if module is not None
            else []
        )
        rerun.throughout += [instead(m, under(self)) for m in {id(m): m for m in alike}.values()]

    def mode_at(self, rerun: Rerun, entry: Entry) -> TorchFunctionMode:
        """Return this mode, set to the line of an entry."""
        frames = rerun.frames(entry.frames)
        self.recorded = frames[0] if frames and entry.kind not in ("module", "backward") else None
        return self

    def place(self, depth: int = 3) -> Frame | None:
        """The line that makes this call: the user's, or that of a library that it calls."""
        return self.recorded if self.recorded is not None else innermost_frame(depth)

    def here(self) -> bool:
        """Whether the guilty line makes this call."""
        place = self.place()
        return place is not None and (place.file, place.line) == (self.frame.file, self.frame.line)

    def in_function(self) -> bool:
        """Whether the function of the guilty line makes it."""
        place = self.place()
        return place is not None and (place.file, place.function) == (self.frame.file, self.frame.function)


def bare(func: Any) -> str:
    """Return the bare name of a function: `truediv` for `__rtruediv__`, `add` for `add_`."""
    name: str = getattr(func, "__name__", "").strip("_")
    return name[1:] if name in ("rtruediv", "rdiv", "rpow", "radd", "rsub", "rmul") else name
