"""The contract of an importer: does it recognise a path, and what numbers does the log there hold."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debugtracer.errors import TraceError
from debugtracer.imports.naming import our_names
from debugtracer.plugins import members

Points = dict[int, dict[str, float]]  # step -> series -> value
Logged = Iterable[tuple[int, str, float]]  # step, name as the log has it, value


LAST_STEP = 2**53  # above it a step number is damage (the largest whole number that a float tells from its neighbours)


@dataclass(frozen=True)
class Log:
    """The numbers of one log, under our names."""

    source: Path
    """The file or folder that was read in the end."""
    format: str
    points: Points
    """By the step numbers of the log itself, so that a finding names a step its owner can look up."""


@dataclass(frozen=True)
class Importer:
    """Base of all importers; a log that needs no library beside ours is tried first."""

    format: ClassVar[str]
    """As its owner calls it."""
    library: ClassVar[str] = ""
    """What has to be installed to read it."""

    def recognises(self, path: Path) -> bool:
        """Whether there is such a log at (or in) a path that exists. Looks at names only."""
        raise NotImplementedError

    def read(self, path: Path) -> Log:
        """The log at a path that is recognised. Raises TraceError or UsageError in one sentence."""
        raise NotImplementedError

    def log(self, source: Path, logged: Logged) -> Log:
        """What was logged, by step and under our names; of a number logged twice at a step the last value. Raises
        TraceError if there is none."""
        rows = [(step, name, value) for step, name, value in logged if 0 <= step <= LAST_STEP]
        names = our_names({name for _, name, _ in rows})
        points: Points = {}
        for step, name, value in rows:
            if name in names:
                points.setdefault(step, {})[names[name]] = value
        if not points:
            raise TraceError(
                f"{source} holds no logged number; expected a {self.format} of a run that has logged something."
            )
        return Log(source, self.format, dict(sorted(points.items())))


@functools.cache
def importers() -> dict[str, Importer]:
    """Every importer by its slug, those without a library of their own first. The folder is the registry."""
    import debugtracer.imports

    known = members(debugtracer.imports, Importer)
    return dict(sorted(known.items(), key=lambda item: (bool(item[1].library), item[0])))


def importer_of(path: Path) -> Importer | None:
    """The first importer that recognises a path; None if none does. Raises TraceError if the path cannot be looked
    at."""
    try:
        return next((one for one in importers().values() if one.recognises(path)), None)
    except OSError as error:
        raise TraceError(f"{path} cannot be read ({error.strerror}); check that you may read it.") from None


def numbered(path: Path) -> tuple[int, str]:
    """Return a sort key that puts `checkpoint-900` before `checkpoint-1000`."""
    digits = "".join(c for c in path.name if c.isdigit())
    return int(digits or 0), path.name
