"""Did every parameter of a DDP model take part in the backward?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import UNFINISHED, Crash
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

INDICES = re.compile(r"did not receive grad for rank \d+: ([\d ]+)")


class UnfinishedReduction(Check, frozen=True):
    """DistributedDataParallel waits for gradients that never come.

    What it catches
        A branch or a head that the loss of this step does not use.
    Why it matters
        DDP raises one iteration later, with indices instead of names.
    How it decides
        The exception; the indices are those of the model's trainable parameters in order.
    What to do
        Let every output enter the loss, freeze the unused part, or pass find_unused_parameters=True.
    Example
        step 1, rank 0: aux.weight and 1 more of 6 parameters got no gradient in the iteration before; expected one for
        each parameter of a DDP model. Pass find_unused_parameters=True, or let them enter the loss.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ddp_unused_params"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "let every output of the model enter the loss, or take the unused part out",
        "DistributedDataParallel(..., find_unused_parameters=True)",
    )
    family: ClassVar[str] = "rank"
    proved_by: ClassVar[str] = "device/optional_branch"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of an unfinished reduction."""
        for crash in window.new(Crash):
            if UNFINISHED in crash.message:
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Build the finding with the names of the parameters that got no gradient."""
        found = INDICES.search(crash.message)
        lost = [crash.names[int(i)] for i in found.group(1).split() if int(i) < len(crash.names)] if found else []
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        named = f"{lost[0]}{more} of {len(crash.names)} parameters" if lost else "some parameters"
        branch = crash.branches.get(lost[0].rpartition(".")[0]) if lost else None
        skipped = f", its layer is called under a condition{spot(branch)}" if branch is not None else ""
        return self.finding(
            window,
            "error",
            f"{named} got no gradient in the iteration before{skipped}; expected one for each parameter of a DDP "
            "model. Pass find_unused_parameters=True, or let them enter the loss.",
            ref=crash.ref,
            place=Place(
                param=lost[0] if lost else None,
                module=lost[0].rpartition(".")[0] if lost else None,
                frame=branch or crash.call,
                symptom_frame=crash.call,
            ),
            lost=len(lost),
        )
