"""Are the values of an input read in the order in which they were written?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.misread_axes import MisreadAxes
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class AxesMisread(Check, frozen=True):
    """The pictures or series that a network is given are scrambled: their sizes were put in another order.

    What it catches
        `pixels.reshape(n, 3, 32, 32)` of pictures with their channels last, `reshape(n, 32, 32, 3)` of files that hold
        one channel after the other, width and height exchanged, (time, sensors) read as (sensors, time): by numpy or by
        torch, before the network sees them.
    Why it matters
        Every size is right and nothing crashes. Neighbours in what the network sees are no neighbours in the picture:
        convolutions find nothing, and the loss stops too high.
    How it decides
        Of up to 24 samples of two inspected steps the correlation of neighbours along each axis of 8 or more places is
        computed, as they are and for each way in which a view may have been taken for a transpose. In one of them
        neighbours along all those axes correlate by 0.5 or more, and in nine of ten samples what is missing to 1 is at
        most half of what it is as they are. Noise, tokens and tables are smooth in no order; what a layer has computed
        is not asked, for its channels need not be.
    What to do
        Reshape to the sizes in which the values were written, then move the axes: `reshape(n, 32, 32, 3)` and
        `permute(0, 3, 1, 2)`.
    Example
        step 1, rank 0: neighbours in the input of Net, (64, 3, 32, 32), correlate by 0.2, and by 0.94 if each row is
        read as (32, 32, 3) and not as (3, 32, 32), reshaped at data.py:14; expected sizes in the order in which the
        values were written. Reshape to (n, 32, 32, 3), then permute.
    """

    needs: ClassVar[tuple[type[MisreadAxes]]] = (MisreadAxes,)
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "reshape to the sizes in which the values were written, then move the axes with permute or transpose",
        "show one sample as a picture, as the network is given it",
    )
    proved_by: ClassVar[str] = "data/shell_catalogue"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each network and shape."""
        for fact in window.new(MisreadAxes):
            line = spot(fact.frame).strip(" ()")
            sizes = ", ".join(map(str, fact.sizes))
            made = f", reshaped at {line}" if line else made_at(fact.made)
            yield self.finding(
                window,
                "warning",
                f"neighbours in the input of {fact.root}, {fact.shape}, correlate by {as_float(fact.present):.2g}, and "
                f"by {as_float(fact.restored):.2g} if each row is read as ({sizes}) and not as {fact.read}{made}; "
                f"expected sizes in the order in which the values were written. Reshape to (n, {sizes}), then permute.",
                ref=fact.ref,
                place=Place(
                    frame=fact.frame or (fact.made[-1] if fact.made else fact.call_frame),
                    symptom_frame=fact.call_frame,
                ),
                present=as_float(fact.present),
                restored=as_float(fact.restored),
            )
