"""Was a value that backward needs overwritten?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import with_samples
from debugtracer.trace.facts.crash import Crash, InplaceWrite, InplaceWrites
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REFUSED = re.compile(
    r"modified by an inplace operation: \[[\w.]+ \[([\d, ]*)\]\](?:, which is output \d+ of (?:\w+::)*(\w+),)? is at "
    r"version (\d+); expected version (\d+)"
)
TRANSPOSED = "AsStrided"  # how autograd calls the transposed weight of a linear layer
UNSURE = 0.5  # the class when an optimizer wrote, or nobody was seen to: the order of calls may be the cause (ours)
BETWEEN = (
    "The optimizer wrote between the forward and this backward: call every backward that needs these weights before "
    "the step, or run the forward again."
)
EARLIER = (
    "A forward ran since, so backward reaches into a graph of before that step: detach what is carried from step to "
    "step (state = state.detach()) "
    "and take retain_graph=True out."
)
STALE = (
    "call backward() before the optimizer writes, or run the forward again after it",
    "detach what is carried from step to step: state = state.detach(); no retain_graph=True",
)
LEAF = "a leaf Variable that requires grad is being used in an in-place operation"


class InplaceModified(Check, frozen=True):
    """Backward needs a value that was changed in place after the forward.

    What it catches
        `x += y`, `x[mask] = 0`, ReLU(inplace=True) on a tensor whose old value a derivative needs; `optimizer.step()`
        between a forward and its backward (two networks with one graph).
    Why it matters
        torch names a shape and two version numbers; the line that wrote is the one to change.
    How it decides
        The exception says that a tensor was written; the class is proved where the line that wrote is known, or the
        tensor is the output of a function. A write by `optimizer.step()` is named as what it is, an order of calls or a
        graph kept over steps, and the class is then possible only. The line is the first write to a tensor of that
        shape, or to a view of it, that raised its version counter above the expected one: writes are seen on inspected
        steps (the first three, then every 100th), or when the forward of the step is executed again, those of
        optimizers always. Where it ran again, the op and the module are named too, and the rows: after steps that went
        well, a write that changed fewer than half of the batch's rows came with these samples (a mask that was empty
        until then).
    What to do
        Write `x = x + y`, use torch.where, take inplace=True out, or run the forward again after the optimizer has
        written.
    Example
        step 0, rank 0: backward needs output 0 of ExpBackward0, shape (32, 64), which __iadd__ (train.py:21) has
        changed in place (version 1, expected 0). Write a new tensor instead of changing this one.
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
        """Yield a finding when the program died of an overwritten value."""
        for crash in window.new(Crash):
            found = REFUSED.search(crash.message)
            if found is not None:
                writes = tuple(write for fact in window.seen(InplaceWrites) for write in fact.writes)
                yield self.describe(window, crash, found, first_write(writes, found))
            elif LEAF in crash.message:
                yield self.leaf(window, crash)

    def describe(self, window: Window, crash: Crash, found: re.Match[str], write: InplaceWrite | None) -> Finding:
        """What was overwritten, and by which line; a proof only where it is a line of the user's that wrote, for the
        order of two calls is another cause."""
        shape, made, version, expected = found.groups()
        needed = f"output of {made}" if made and made != TRANSPOSED else "a tensor"
        if write is not None and write.param is not None:
            needed = f"the parameter {write.param}"
        rows = few_rows(write, crash)
        samples = tuple(crash.batch.indices[row] for row in rows) if crash.batch and crash.batch.indices else ()
        at, advice, sure = (
            "which was changed in place",
            "Write a new tensor instead of changing this one.",
            made not in (None, TRANSPOSED),
        )
        if write is not None:
            at = f"which {write.name}{spot(write.frame)} has changed in place{in_rows(rows, samples)}"
            if write.name.endswith(".step"):
                advice, sure = EARLIER if write.forwards else BETWEEN, False
            else:
                sure = True
        return self.finding(
            window,
            "error",
            f"backward{spot(crash.call)} needs {needed}, shape ({shape}), {at} (version {version}, expected "
            f"{expected}). {advice}",
            ref=crash.ref,
            place=Place(
                frame=(write.frame if write else None) or crash.call,
                symptom_frame=crash.call,
                param=write.param if write else None,
                module=write.module if write else None,
                op=write.op if write else None,
                batch_rows=rows or None,
                sample_index=samples or None,
            ),
            exact=sure,
            confidence=None if sure else UNSURE,
            remedies=() if write is None or not write.name.endswith(".step") else STALE,
        )

    def leaf(self, window: Window, crash: Crash) -> Finding:
        """A parameter written outside no_grad."""
        return self.finding(
            window,
            "error",
            f"a parameter is changed in place{spot(crash.call)} while autograd records; expected such writes under "
            "torch.no_grad(). "
            "Put the write into `with torch.no_grad():`, or leave it to the optimizer.",
            ref=crash.ref,
            place=Place(frame=crash.frames[0] if crash.frames else None),
            remedies=("put the write into `with torch.no_grad():`", "or let an optimizer write the parameter"),
        )


def first_write(writes: tuple[InplaceWrite, ...], found: re.Match[str]) -> InplaceWrite | None:
    """The write to a tensor of that shape that took it past the expected version; an optimizer only when no other
    fits."""
    shape = tuple(int(n) for n in found.group(1).split(",") if n.strip())
    version, expected = int(found.group(3)), int(found.group(4))
    plain = [
        w
        for w in writes
        if fits(w, shape, found.group(2)) and expected < w.version <= version and not w.name.endswith(".step")
    ]
    if plain:
        return min(plain, key=lambda w: (w.version, w.op is None))
    return next(
        (w for w in writes if w.name.endswith(".step") and w.shape in (shape, shape[::-1]) and w.version == version),
        None,
    )


def few_rows(write: InplaceWrite | None, crash: Crash) -> tuple[int, ...]:
    """The rows of the batch that the write changed, where it left most alone and steps before it went well."""
    batch = crash.batch.rows if crash.batch is not None else None
    if write is None or not batch or crash.ref.step == 0 or write.base[:1] != (batch,):
        return ()
    return write.rows if 2 * len(write.rows) < batch else ()


def in_rows(rows: tuple[int, ...], samples: tuple[int, ...]) -> str:
    """Format them: ` in row 19 of the batch (sample 611)`."""
    if not rows:
        return ""
    listed = f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows"
    return f" in {listed} of the batch{with_samples(samples)}"


def fits(write: InplaceWrite, shape: tuple[int, ...], made: str | None) -> bool:
    """True for a write to a tensor of that shape or a view of one; for a transposed weight, only a write to a
    parameter."""
    if made == TRANSPOSED:
        return write.param is not None and (write.base or write.shape) in (shape, shape[::-1])
    return shape in (write.shape, write.base)
