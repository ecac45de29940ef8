"""Looks once at the arrays of a dataset for the one number that has set the scale of all others."""

from __future__ import annotations

from typing import Any

from debugtracer.callsites.origins.maximum_line import maximum_line
from debugtracer.callsites.program_files import program_files
from debugtracer.callsites.stored_maximum import read_as, stored_maximum
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.facts.scale_setter import ScaleSetter
from debugtracer.trace.number import number

MOST = 4  # datasets that are looked at (ours)
NAMED = 64  # samples emitted (ours)


class ScaleSettersObserver(Observer):
    """At the first batch of a loader, in inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: set[int] = set()

    def reset(self) -> None:
        self.known.clear()

    @inspected
    def fetched(self, batch: Batch, data: Any) -> None:
        """Look at a dataset that was not looked at."""
        dataset = batch.loader.dataset_held()
        if dataset is None or id(dataset) in self.known:
            return
        self.known.add(id(dataset))
        if len(self.known) >= MOST:
            self.run.unsubscribe(self.fetched)
        self.look(batch.loader, dataset)

    def look(self, info: LoaderInfo, dataset: Any) -> None:
        """Emit the number, with the line of the file and that of the division where they are known."""
        found = stored_maximum(dataset)
        if found is None:
            return
        read = guarded("scale_setters.file")(read_as)(dataset, found)
        scaled = guarded("scale_setters.line")(maximum_line)(program_files() or ())
        if read is None and scaled is None:  # the data may be shares, of which one is the whole
            return
        self.run.emit(
            ScaleSetter(
                ref=self.run.ref("load"),
                name=found.name,
                row=found.row,
                column=found.column,
                low=number(found.low),
                high=number(found.high),
                samples=found.samples[:NAMED],
                count=len(found.samples),
                record=read[0] if read is not None else None,
                cell=read[1] if read is not None else "",
                scaled=scaled,
                frame=info.frame,
            )
        )
