"""Is the scaler set up as its autocast needs it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.amp import AutocastSeen, ScalerSetup
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ScalerArguments(Check, frozen=True):
    """A GradScaler with arguments that work against it, or switched off where float16 needs it.

    What it catches
        `GradScaler(enabled=False)`, or one for a device that is not there, under float16 autocast; a growth interval of
        a few updates; a back-off near 1; a scaler with bfloat16, which needs none.
    Why it matters
        Without a scaler small float16 gradients become 0. With a short growth interval the scale doubles until it
        overflows, again and again, and a large share of the updates is skipped.
    How it decides
        From the arguments of the constructor and the autocast dtype of the forwards that are trained. Skips per update
        are at least 1 / (interval + 1) once the scale is at its limit: an interval below 20 costs more than 5 % of the
        updates.
    What to do
        Leave the arguments at their defaults (growth 2, back-off 0.5, interval 2000); give the scaler the device of the
        autocast.
    Example
        step 0, rank 0: GradScaler (train.py:12) grows every 2 updates, so at its limit 33 % of all updates are skipped;
        expected about 2000. Remove growth_interval.
    """

    needs: ClassVar[tuple[type[ScalerSetup], type[AutocastSeen]]] = (ScalerSetup, AutocastSeen)
    kind: ClassVar[str] = "amp_scaler_arguments"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        "leave growth_factor, backoff_factor and growth_interval at 2, 0.5 and 2000",
        "build the scaler for the device of the autocast: torch.amp.GradScaler('cuda')",
        "use bfloat16 autocast without a scaler where the hardware has it",
    )
    family: ClassVar[str] = "scale"
    proved_by: ClassVar[str] = "numerics/scale_grows_fast"

    interval: int = 20  # updates; a shorter one skips more than 5 % of them (ours)
    slow_backoff: float = 0.9  # a back-off above it needs 7 skips and more for one halving (ours)
    fast_growth: float = 4.0  # a growth above it overshoots by more than two halvings (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield findings when a scaler is built, or met by an autocast it does not fit."""
        for setup in window.new(ScalerSetup):
            if setup.enabled:
                yield from self.arguments(window, setup)
        for cast in window.new(AutocastSeen):
            yield from self.against(window, cast, window.seen(ScalerSetup))

    def arguments(self, window: Window, setup: ScalerSetup) -> Iterator[Finding]:
        """Yield a finding for growth and back-off arguments that cannot work."""
        growth, backoff = float(setup.growth_factor), float(setup.backoff_factor)
        said = ""
        if setup.growth_interval < self.interval:
            share = 1 / (setup.growth_interval + 1)
            said = (
                f"grows every {setup.growth_interval} updates, so at its limit {share:.0%} of all updates are skipped; "
                "expected about 2000"
            )
        elif backoff > self.slow_backoff:
            said = f"backs off by {backoff:g} only, so that each overflow skips many updates; expected 0.5"
        elif growth > self.fast_growth:
            said = f"grows by {growth:g}, far past the scale that fits; expected 2"
        if said:
            yield self.describe(
                window, setup, "warning", f"{said}. Leave the arguments of GradScaler at their defaults."
            )

    def against(self, window: Window, cast: AutocastSeen, setups: list[ScalerSetup]) -> Iterator[Finding]:
        """Yield a finding where the scaler does not fit the dtype of the autocast."""
        off = [s for s in setups if not s.enabled]
        if cast.dtype == "float16" and not cast.scaled and off and not any(s.enabled for s in setups):
            yield self.describe(
                window,
                off[-1],
                "warning",
                f"is switched off and the forward{spot(cast.frame)} runs under float16 autocast on {cast.device}, so "
                "small gradients become 0; expected an "
                "enabled scaler. Build it with enabled=True for that device.",
            )
        elif cast.dtype == "bfloat16" and cast.scaled and setups and not window.memory(self).get(setups[-1].frame):
            window.memory(self)[setups[-1].frame] = True
            yield self.describe(
                window,
                setups[-1],
                "note",
                "scales the loss of a bfloat16 autocast; bfloat16 has the range of float32 and needs no scaler. Remove "
                "it.",
            )

    def describe(self, window: Window, setup: ScalerSetup, severity: str, said: str) -> Finding:
        """Build the finding, placed at the constructor of the scaler."""
        return self.finding(
            window,
            "note" if severity == "note" else "warning",
            f"GradScaler{spot(setup.frame)} {said}",
            ref=setup.ref,
            place=Place(frame=setup.frame),
            growth_interval=setup.growth_interval,
        )
