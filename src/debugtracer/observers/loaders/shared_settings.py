"""Finds parts of one dataset (`random_split`, `Subset`) of which each was to have a setting of its own: they share the
dataset, so the last one holds for all."""

from __future__ import annotations

import weakref
from typing import Any

from torch.utils.data import Subset

from debugtracer.callsites.origins.part_setting import part_settings
from debugtracer.callsites.origins.program_trees import programs_of
from debugtracer.callsites.program_files import program_files
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.facts.shared_setting import SharedSetting

MOST = 8  # loaders of parts that are remembered (ours)


class SharedSettingsObserver(Observer):
    """Looks once at two loaders of one dataset, when the second begins: the program's files are read, no sample is."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.parts: list[tuple[weakref.ref[Any], weakref.ref[Any], LoaderInfo]] = []
        """Part, dataset behind it, loader."""

    def reset(self) -> None:
        self.parts.clear()

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Note the part that a loader reads, and look where another loader reads another part of the same dataset."""
        part = getattr(info.loader(), "dataset", None)
        if type(part) is not Subset or len(self.parts) >= MOST or any(known() is part for known, _, _ in self.parts):
            return
        try:
            known = weakref.ref(part), weakref.ref(part.dataset), info
        except TypeError:
            return  # a list, a tuple: nothing can be set on it
        others = [one for one in self.parts if one[1]() is part.dataset]
        self.parts.append(known)
        if len(others) == 1:
            self.look(part.dataset, (others[0][2], info))

    def look(self, dataset: Any, loaders: tuple[LoaderInfo, ...]) -> None:
        """Emit each attribute that the program sets for both parts."""
        programs = programs_of(program_files())
        for name, (first, last) in part_settings(programs).items():
            if name in getattr(dataset, "__dict__", ()):
                self.run.emit(
                    SharedSetting(
                        ref=self.run.ref("load"), dataset=type(dataset).__name__, attribute=name,
                        value=type(getattr(dataset, name)).__name__, first=first, last=last,
                        loaders=tuple(one.frame for one in loaders if one.frame is not None),
                    )
                )  # fmt: skip
