"""Was a value that backward needs overwritten?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import spot
from debugtracer.trace.facts.crash import Crash, InplaceWrite, InplaceWrites
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REFUSED = re.compile(
    r"modified by an inplace operation: \[[\w.]+ \[([\d, ]*)\]\](?:, which is output \d+ of (\w+))?, is at version (\d+); expected version (\d+)"
)
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"


@dataclass(frozen=True)
class InplaceModified(Check):
    """Backward needs a value that was changed in place after the forward.

    What it catches
        `x += y`, `x[mask] = 0`, ReLU(inplace=True) on a tensor whose old value a derivative needs; `optimizer.step()` between a forward and
        its backward (two networks with one graph).
    Why it matters
        torch names a shape and two version numbers; the line that wrote is the one to change.
    How it decides
        The exception proves the class. The line is the first write to a tensor of that shape that raised its version counter above the
        expected one: writes are seen on inspected steps (the first three, then every 100th), those of optimizers always.
    What to do
        Write `x = x + y`, use torch.where, take inplace=True out, or run the forward again after the optimizer has written.
    Example
        step 0, rank 0: backward needs output 0 of ExpBackward0, shape (32, 64), which __iadd__ (train.py:21) has changed in place (version 1,
        expected 0). Write a new tensor instead of changing this one.
    """

    needs: ClassVar[tuple[type, ...]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "inplace_modified"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "write a new tensor: x = x + y instead of x += y, torch.where instead of x[mask] = ...",
        "take inplace=True out of the activation",
        "call backward() before the optimizer writes, or run the forward again after it",
    )
    proved_by: ClassVar[str] = "model/rescaled_activations"

    def judge(self, window: Window) -> Iterator[Finding]:
        """At the crash."""
        for crash in window.new(Crash):
            found = REFUSED.search(crash.message)
            if found is not None:
                writes = window.last(InplaceWrites)
                yield self.told(window, crash, found, first_write(writes.writes if writes else (), found))
            elif LEAF in crash.message:
                yield self.leaf(window, crash)

    def told(self, window: Window, crash: Crash, found: re.Match[str], write: InplaceWrite | None) -> Finding:
        """What was overwritten, and by which line."""
        shape, made, version, expected = found.groups()
        by = f"which {write.name}{spot(write.frame)} has changed in place" if write else "which was changed in place"
        return self.finding(
            window,
            "error",
            f"backward{spot(crash.call)} needs {f'output of {made}' if made else 'a tensor'}, shape ({shape}), {by} (version {version}, expected {expected}). "
            "Write a new tensor instead of changing this one.",
            ref=crash.ref,
            place=Place(frame=(write.frame if write else None) or crash.call, symptom_frame=crash.call, param=write.param if write else None),
        )

    def leaf(self, window: Window, crash: Crash) -> Finding:
        """A parameter written outside no_grad."""
        return self.finding(
            window,
            "error",
            f"a parameter is changed in place{spot(crash.call)} while autograd records; expected such writes under torch.no_grad(). "
            "Put the write into `with torch.no_grad():`, or leave it to the optimizer.",
            ref=crash.ref,
            place=Place(frame=crash.frames[0] if crash.frames else None),
            remedies=("put the write into `with torch.no_grad():`", "or let an optimizer write the parameter"),
        )


def first_write(writes: tuple[InplaceWrite, ...], found: re.Match[str]) -> InplaceWrite | None:
    """The write to a tensor of that shape that took it past the expected version; an optimizer only when no other fits."""
    shape = tuple(int(n) for n in found.group(1).split(",") if n.strip())
    version, expected = int(found.group(3)), int(found.group(4))
    plain = [w for w in writes if w.shape == shape and expected < w.version <= version and not w.name.endswith(".step")]
    if plain:
        return min(plain, key=lambda w: w.version)
    return next((w for w in writes if w.name.endswith(".step") and w.shape in (shape, shape[::-1]) and w.version == version), None)
