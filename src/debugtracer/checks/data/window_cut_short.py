"""Was a window cut beyond the end of what it is cut from?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash, CutSeen
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

TOO_LONG = (
    "cut longer samples to the length of the table, or leave them out: a filter where the data are read",
    "make the table as long as the longest sample",
)
BEYOND = (
    "compare where the range begins with those of the other tables that belong to it: do they begin at the same place?",
    "stop the loop where the last whole window ends: at the size minus the length of the window",
)
NO_ROOM = (
    "make the buffer as long as the longest sample of all data, of those for evaluation too",
    "cut longer samples to the length of the buffer, or leave them out where the data are read",
)


class WindowCutShort(Check, frozen=True):
    """A slice ended behind the end of a text or series, and so came out too short for the batch.

    What it catches
        A random window whose start may lie too near the end, a shifted target that needs one value more than the
        input, the last piece of a series in a loop; a sequence that is longer than the table of positions,
        `self.positions[:, :x.size(1)]`.
    Why it matters
        Python and torch cut such a slice in silence. A random start meets the last place once in thousands: the program
        dies after hours of good steps, at a line that works.
    How it decides
        The exception is one of torch or numpy about two lengths. Among the slices of the function that raised, one ends
        behind the size of what it cuts, with the names as they were, and lacks as many values as the two lengths
        differ. Without a start it is a limit that a shorter text may have, but for a parameter or buffer of a module,
        and where the slice is written to: there the room of the buffer is followed to the line that gave its length.
        A range of places, `x[range(a, b)]`, is refused as an index: it is found on the line that raised, by the index
        and the size that the exception names.
    What to do
        Bound the start so that the whole window fits: size minus the length of the window, and one less where the
        target is shifted by one. `random.randint` includes its upper end.
    Example
        step 133, rank 0: `file[start_index:end_index]` (train.py:46) asks for 2940 to 3001 of 3000 values and came out
        1 short; 133 updates went before; expected a start of at most 2939. Bound the start where it is made
        (train.py:44).
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ragged_samples"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "bound the start so that the whole window fits: at most the size minus the length of the window",
        "random.randint(a, b) includes b, torch.randint and numpy's integers do not",
        "in a loop over a series leave out the last piece, or pad it",
    )
    proved_by: ClassVar[str] = "data/tide_windows"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such a slice."""
        for crash in window.new(Crash):
            if crash.cut is not None and crash.cut.stored:
                yield self.no_room(window, crash, crash.cut)
            elif crash.cut is not None and crash.cut.table:
                yield self.too_long(window, crash, crash.cut)
            elif crash.cut is not None and crash.cut.picked:
                yield self.beyond(window, crash, crash.cut)
            elif crash.cut is not None:
                yield self.describe(window, crash, crash.cut)

    def beyond(self, window: Window, crash: Crash, cut: CutSeen) -> Finding:
        """A range of places that goes on behind the end."""
        last, most = cut.high - 1, cut.size - (cut.high - cut.low)
        start = f"a start of at most {most}" if most >= 0 else f"at most {cut.size} places"
        return self.finding(
            window,
            "error",
            f"`{cut.text}`{spot(cut.frame)} takes the places {cut.low} to {last}, and the last one there is "
            f"{cut.size - 1}; expected {start}. Begin the range earlier, or stop the loop around it before.",
            ref=crash.ref,
            place=Place(frame=cut.frame, symptom_frame=crash.call),
            remedies=BEYOND,
            lacks=float(cut.high - cut.size),
            size=float(cut.size),
        )

    def too_long(self, window: Window, crash: Crash, cut: CutSeen) -> Finding:
        """A sequence that is longer than a table of the model."""
        before = f"; {crash.ref.step} updates went before" if crash.ref.step else ""
        return self.finding(
            window,
            "error",
            f"`{cut.text}`{spot(cut.frame)} asks for the first {cut.high} of a table of {cut.size}: a sequence is "
            f"longer than the model was built for{before}; expected at most {cut.size}. Cut longer samples or leave "
            "them out where the data are made, or make the table longer.",
            ref=crash.ref,
            place=Place(frame=cut.frame, symptom_frame=crash.call, module=crash.place().module),
            remedies=TOO_LONG,
            kind="shape_mismatch",
            lacks=float(cut.high - cut.size),
            size=float(cut.size),
        )

    def no_room(self, window: Window, crash: Crash, cut: CutSeen) -> Finding:
        """A sample that is longer than the buffer it is written into."""
        asked, room = cut.high - cut.low, max(cut.size - cut.low, 0)
        before = f"; {crash.ref.step} updates went before" if crash.ref.step else ""
        which = f"sample {crash.sample}" if crash.sample is not None else "a sample"
        made = f" that {file_line(cut.room)} gave it" if cut.room is not None else ""
        return self.finding(
            window,
            "error",
            f"`{cut.text}`{spot(cut.frame)} writes {asked} values of {which} where there is room for {room}{before}; "
            f"expected a buffer for the longest sample. Change the length{made}, or cut longer samples.",
            ref=crash.ref,
            place=Place(
                frame=cut.room or cut.frame,
                symptom_frame=cut.frame,
                sample_index=None if crash.sample is None else (crash.sample,),
            ),
            remedies=NO_ROOM,
            lacks=float(asked - room),
            size=float(cut.size),
        )

    def describe(self, window: Window, crash: Crash, cut: CutSeen) -> Finding:
        """What was asked, what there was, and the last start that fits."""
        lacks, last = cut.high - max(cut.size, cut.low), cut.size - (cut.high - cut.low)
        before = f"; {crash.ref.step} updates went before" if crash.ref.step else ""
        fits = f"a start of at most {last}" if last >= 0 else f"a window of at most {cut.size}"
        return self.finding(
            window,
            "error",
            f"`{cut.text}`{spot(cut.frame)} asks for {cut.low} to {cut.high} of {cut.size} values and came out {lacks} "
            f"short{before}; expected {fits}. Bound the start where it is made{spot(cut.start)}.",
            ref=crash.ref,
            place=Place(frame=cut.start or cut.frame, symptom_frame=crash.frames[0] if crash.frames else cut.frame),
            lacks=float(lacks),
            size=float(cut.size),
        )
