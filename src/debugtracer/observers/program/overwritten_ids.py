"""Ids that an embedding refused because labels, which share their memory, were masked."""

from __future__ import annotations

from debugtracer.callsites.crash_site import site_of
from debugtracer.callsites.part_writes import part_write
from debugtracer.callsites.refused_index import TABLES
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.trace.facts.overwritten_ids import OverwrittenIds

LABEL = -100  # what torch's cross entropy and transformers leave out of a loss


class OverwrittenIdsObserver(Observer):
    """The program is over: what is read here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit how many of the ids are that label, and the line that writes it."""
        site = site_of(error)
        ids = site.tensors.get("input") if TABLES.intersection(site.torch_calls) else None
        if ids is None or ids.device.type != "cpu" or ids.is_floating_point():
            return
        overwritten = int((ids.detach() == LABEL).sum())
        if overwritten:
            self.run.emit(
                OverwrittenIds(
                    ref=crash_ref(self.run, site.iterator is not None),
                    label=LABEL,
                    ids=ids.numel(),
                    overwritten=overwritten,
                    frame=part_write(LABEL),
                )
            )
