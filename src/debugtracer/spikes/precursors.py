"""Holds what may precede a jump of the loss until it is known whether one followed: in health most such signs pass."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from debugtracer.spikes.episode import SETTLE
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window

FOLLOW_STEPS = 8  # within which spikes follow (Wortsman 2023b: 1 to 8)
FOLLOWED = "The loss jumped at step {}"


class Precursors:
    """Findings of one check in one run whose message holds FOLLOWED."""

    def __init__(self) -> None:
        self.held: list[Finding] = []

    def hold(self, finding: Finding) -> None:
        """Keep a finding until the steps after it are known."""
        self.held.append(finding)

    def followed(self, window: Window) -> Iterator[Finding]:
        """Yield those after which the loss jumped, with the step; forget the others once it is known."""
        jumps = monitor(window).jumps if self.held else ()
        for finding in list(self.held):
            at = next((step for step in jumps if 0 <= step - finding.step <= FOLLOW_STEPS), None)
            if at is not None:
                yield msgspec.structs.replace(finding, message=finding.message.replace(FOLLOWED, FOLLOWED.format(at)))
            if at is not None or window.ref.step - finding.step > FOLLOW_STEPS + SETTLE:
                self.held.remove(finding)
