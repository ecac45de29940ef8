"""A remedy tried from the page: `debug-tracer replay INCIDENT --with REMEDY` in a process of its own, one at a time."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from typing import TypeVar

import msgspec

import debugtracer
from debugtracer.errors import TraceError, UsageError
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Trial
from debugtracer.views.offered_remedies import offered_remedies
from debugtracer.views.page.verdict_panel import replayable, trial_row
from debugtracer.views.view import incidents

LONGEST_S = 300.0  # a replay that takes longer is ended
REMEDY = re.compile(r"([a-z][a-z-]{1,40})(?:=[0-9][0-9.eE+-]{0,20})?")
Told = TypeVar("Told", bound=msgspec.Struct)
MODULE = Path(debugtracer.__file__).resolve().parents[1]  # not the run folder: what lies there is not to be imported


class Replayed(msgspec.Struct, frozen=True):
    """What is read of the command's answer."""

    reproduced: bool
    trials: list[Trial]


class Listed(msgspec.Struct, frozen=True):
    """What is read of the command's list."""

    refused: dict[str, str]


class Trials:
    """The trials of one server: one at a time, for each loads torch."""

    def __init__(self) -> None:
        """Begin with nothing tried."""
        self._busy, self._asking = asyncio.Lock(), asyncio.Lock()
        self.kept: dict[Path, list[dict[str, str]]] = {}
        """What was tried on the incident of each run since the server started."""
        self.refused: dict[Path, dict[str, str]] = {}
        """Of the incidents that were asked about: the remedies that they do not allow, and why."""

    async def refusals(self, trace: Trace) -> dict[str, str]:
        """The remedies that cannot be tried on the incident that the page shows. Raises UsageError."""
        incident = await asyncio.to_thread(incident_of, trace)
        if incident not in self.refused:
            async with self._asking:
                self.refused[incident] = (await answered(incident, "list", Listed)).refused
        return self.refused[incident]

    async def attempt(self, trace: Trace, remedy: object) -> list[dict[str, str]]:
        """Try a remedy on the incident that the page shows; return its rows for the table. Raises UsageError with why
        it could not be tried."""
        word = known_remedy(remedy)
        incident = await asyncio.to_thread(incident_of, trace)
        if self._busy.locked():
            raise UsageError("another remedy is being tried; wait for it")
        async with self._busy:
            rows = rows_of(await answered(incident, word, Replayed))
        kept = self.kept.setdefault(trace.path, [])
        names = {row["name"] for row in rows}
        kept[:] = [row for row in kept if row["name"] not in names] + rows
        return rows


def known_remedy(remedy: object) -> str:
    """The word for `--with`. Raises UsageError for anything that is none: it becomes an argument of a command."""
    found = REMEDY.fullmatch(remedy) if isinstance(remedy, str) else None
    if found is None or found[1] not in offered_remedies():
        raise UsageError(f"{str(remedy)[:20]!a} is no remedy; there are {', '.join(offered_remedies())}")
    return found[0]


def incident_of(trace: Trace) -> Path:
    """The folder of the incident that the page shows. Raises UsageError."""
    try:
        told = incidents(trace)
    except (TraceError, OSError) as error:
        raise UsageError(str(error)) from None
    if not told or not replayable(told[0]):
        raise UsageError("this run has no recorded step that could be executed again")
    folder = (trace.path / str(told[0].folder)).resolve()
    if not folder.is_relative_to(trace.path.resolve()) or not folder.is_dir():
        raise UsageError("the recorded step is no longer in the run folder")
    return folder


async def answered(incident: Path, remedy: str, kind: type[Told]) -> Told:
    """Run the command. Raises UsageError with what it says, or that it took too long."""
    command = [sys.executable, "-m", "debugtracer", "replay", str(incident), "--with", remedy, "--json"]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=MODULE,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told, wrong = await asyncio.wait_for(process.communicate(), LONGEST_S)
    except (asyncio.TimeoutError, asyncio.CancelledError) as error:
        process.kill()
        await process.wait()
        if isinstance(error, asyncio.CancelledError):
            raise
        raise UsageError(f"the replay was ended after {LONGEST_S:.0f} s") from None
    try:
        return msgspec.json.decode(told, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        lines = wrong.decode("utf-8", "replace").strip().splitlines() or [f"status {process.returncode}"]
        said = lines[-1].removeprefix("debug-tracer: ").partition(". `--with all`")[0]  # the page has no such word
        raise UsageError(said.rstrip(".")[:400]) from None


def rows_of(told: Replayed) -> list[dict[str, str]]:
    """The rows of the trials; where the fault does not come again here, that alone: no other trial says anything."""
    if not told.reproduced:
        return [trial_row(trial) for trial in told.trials[:1]]
    return [trial_row(trial) for trial in told.trials if trial.intervention != "unchanged"]
