"""The text that a table of positions is too short for, and the line that should have cut it."""

from __future__ import annotations

from debugtracer.callsites.crash_site import site_of
from debugtracer.callsites.filled_dicts import reached
from debugtracer.callsites.refused_index import TABLES, refused_index
from debugtracer.callsites.text_cuts import text_cut
from debugtracer.observers.loaders.untouched import last_dataset
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.observers.program.longer_vocabulary import counted_up
from debugtracer.trace.facts.long_text import LongText


class LongTextsObserver(Observer):
    """The program is over: what is read here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit the length of the text and the line that cuts texts, where the refused ids are places."""
        site = site_of(error)
        refused = refused_index(error, site, None) if TABLES.intersection(site.torch_calls) else None
        ids = site.tensors.get("input")
        if refused is None or ids is None or refused.number < refused.size or not counted_up(ids):
            return
        cut = text_cut(reached(error, (last_dataset(self.run.batches),)), int(ids.shape[-1]))
        self.run.emit(
            LongText(
                ref=crash_ref(self.run, site.iterator is not None),
                tokens=int(ids.shape[-1]),
                positions=refused.size,
                limit=cut.limit if cut is not None else None,
                cut=cut.frame if cut is not None else None,
                written=cut.written if cut is not None else None,
            )
        )
