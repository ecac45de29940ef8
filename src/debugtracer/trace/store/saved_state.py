"""The last good states of a run on disk: which there are, and whether their bytes are those that were written."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from debugtracer.errors import DebugTracerError
from debugtracer.trace.stored_json import DamagedJson, decode_stored

FORMAT = "debug-tracer.last-good/1"
FOLDER = "last-good"
RESUMED = "resumed"  # the key of the note that a program leaves once a state was put back
UNREACHED = "resume-unreached"  # and of the one where it ended before the place that the state was saved at
SHARDS = "shards-"  # of a folder that all ranks write together, before the step
FILE = re.compile(r"rank-(\d+)(\.older)?\.pt")


class Sum(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was written at one moment."""

    step: int
    iteration: int
    sha256: str
    files: dict[str, str] = {}
    """Further files that belong to it, and their sums: the shards of this rank."""


class Sums(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The file beside a state: the newest, and the one before it, whose bytes may still stand in its place."""

    format: str = FORMAT
    step: int
    iteration: int
    sha256: str
    files: dict[str, str] = {}
    older: Sum | None = None

    def all(self) -> Iterator[Sum]:
        """Yield the newest, then the older one."""
        yield Sum(step=self.step, iteration=self.iteration, sha256=self.sha256, files=self.files)
        if self.older is not None:
            yield self.older


@dataclass(frozen=True)
class SavedState:
    """A file whose bytes are those that were written."""

    path: Path
    rank: int
    step: int
    iteration: int
    sharded: bool = False
    """Another number of ranks can read it too."""


def names(folder: Path, rank: int) -> tuple[Path, Path, Path]:
    """The newest state of a rank, the one before it, and their sums."""
    return folder / f"rank-{rank}.pt", folder / f"rank-{rank}.older.pt", folder / f"rank-{rank}.json"


def read_sums(path: Path) -> Sums | None:
    """The sums beside the states of a rank; None where there are none that can be read."""
    try:
        return decode_stored(path.read_bytes(), Sums)
    except (OSError, DamagedJson):
        return None


def sha256(path: Path) -> str:
    """The sum of the bytes of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else summed(file)


def summed(file: object) -> str:
    """The same where Python is older than 3.11."""
    total = hashlib.sha256()
    while part := file.read(1 << 20):  # type: ignore[attr-defined]
        total.update(part)
    return total.hexdigest()


def checked(path: Path) -> SavedState:
    """The state of a file, if its bytes are those that were written. Raises DebugTracerError."""
    match = FILE.fullmatch(path.name)
    rank = int(match[1]) if match else 0
    sums = read_sums(names(path.parent, rank)[2])
    if sums is None and not path.exists():
        raise DebugTracerError(f"{path} is not there")
    if sums is None:
        raise DebugTracerError(f"{path} cannot be read: expected its sums beside it, in {names(path.parent, rank)[2]}")
    try:
        seen = sha256(path)
    except OSError as error:
        raise DebugTracerError(f"{path} cannot be read ({error.strerror or error})") from None
    for told in sums.all():
        if told.sha256 == seen:
            check_files(path.parent, told)
            return SavedState(path, rank, told.step, told.iteration, bool(told.files))
    raise DebugTracerError(f"{path} is damaged: sha256 {seen[:12]}, written was {sums.sha256[:12]}")


def check_files(folder: Path, told: Sum) -> None:
    """Check the further files of a state. Raises DebugTracerError."""
    for name, expected in told.files.items():
        try:
            seen = sha256(folder / name)
        except OSError as error:
            raise DebugTracerError(f"{folder / name} cannot be read ({error.strerror or error})") from None
        if seen != expected:
            raise DebugTracerError(f"{folder / name} is damaged: sha256 {seen[:12]}, written was {expected[:12]}")


def usable(folder: Path) -> tuple[dict[int, list[SavedState]], list[str]]:
    """The states of each rank that are whole, the newest first, and one sentence for each that is not."""
    found: dict[int, list[SavedState]] = {}
    problems: list[str] = []
    for path in sorted(folder.glob("rank-*.pt")):
        match = FILE.fullmatch(path.name)
        if match is None:
            continue
        states = found.setdefault(int(match[1]), [])
        try:
            states.append(checked(path))
        except DebugTracerError as error:
            if not about_to_go(path):
                problems.append(str(error))
    return {rank: sorted(states, key=lambda s: -s.step) for rank, states in found.items()}, problems


def about_to_go(path: Path) -> bool:
    """Whether a file is the older state of a save that was killed after the sums were written and before the files had
    moved: nothing is wrong with it, the one before the newest stands in the newest's place."""
    match = FILE.fullmatch(path.name)
    if match is None or match[2] is None:
        return False
    target, _, note = names(path.parent, int(match[1]))
    sums = read_sums(note)
    try:
        return sums is not None and sums.older is not None and sha256(target) == sums.older.sha256
    except OSError:
        return False


def newest(run: Path) -> tuple[int, list[SavedState], list[str]]:
    """The last step of which every rank has a whole state, those states, and what is wrong with others. Raises
    DebugTracerError where there is none."""
    states, problems = usable(run / FOLDER)
    if not states:
        raise DebugTracerError(f"{run / FOLDER} holds no state to go on from: {SAVED}")
    common = set.intersection(*({s.step for s in known} for known in states.values()))
    if not common:
        seen = "; ".join(problems) or "the ranks have none of the same step"
        raise DebugTracerError(f"{run / FOLDER}: no whole state of every rank: {seen}")
    step = max(common)
    return step, [next(s for s in known if s.step == step) for known in states.values()], problems


SAVED = "modes val and prod leave one at a stop, and now and then"
