"""Reading a run folder, also while it is written: events, series over sealed and live segments, overviews, the first
bad step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.events import AnyEvent
from debugtracer.trace.facts.health import Health
from debugtracer.trace.store.journal import read_events
from debugtracer.trace.store.schema import LATEST, MANIFEST, RANK, rank_folder, segments
from debugtracer.trace.store.series.segment import BAD_COLUMNS, SegmentReader
from debugtracer.trace.store.snapshot_lines import Span, read_snapshots, snapshot_spans

if TYPE_CHECKING:
    from debugtracer.trace.store.layer_columns import LayerColumns
    from debugtracer.trace.store.manifest import Manifest
    from debugtracer.trace.store.norm_table import NormTable
    from debugtracer.trace.store.series.overview import Bin

T = TypeVar("T")


class BadStep(msgspec.Struct, frozen=True, kw_only=True):
    """The first step at which a series was not finite."""

    step: int
    series: str
    rank: int


class Trace:
    """One run folder, read afresh at each call, so that a live run can be followed.

    `problems` holds one sentence for each damaged file or line that was skipped because the rest is readable. Every
    method
    raises TraceError, naming the file, where nothing can be read.
    """

    def __init__(self, path: Path) -> None:
        """Initialise a reader; call `open_trace` instead, which checks the path."""
        self.path = path
        self.problems: list[str] = []
        self._segments = SegmentReader()

    @property
    def manifest(self) -> Manifest:
        """What run.json says. Raises TraceError."""
        from debugtracer.trace.store.manifest import read_manifest

        return read_manifest(self.path)

    @property
    def ranks(self) -> list[int]:
        """The ranks that have written something, ascending."""
        return sorted(int(m[1]) for p in self.path.iterdir() if (m := RANK.fullmatch(p.name)))

    def events(self, rank: int | None = None, *, snapshots: bool = True) -> list[AnyEvent]:
        """Read the events of a rank as written, or of all ranks in order of time; health snapshots are the longest of
        them by far, and can be left out."""
        found: list[AnyEvent] = []
        for one in self.ranks if rank is None else [rank]:
            events, problems = read_events(rank_folder(self.path, one), snapshots=snapshots)
            found += events
            self._note(problems)
        return found if rank is not None else sorted(found, key=lambda event: event.at)

    def snapshot_spans(self, rank: int) -> list[Span]:
        """Where the health snapshots of a rank stand in its events, oldest first."""
        return snapshot_spans(rank_folder(self.path, rank))

    def snapshots(self, rank: int, spans: Sequence[Span] | None = None) -> list[Health]:
        """Read the health snapshots of a rank, or those at some of their places."""
        found, problems = read_snapshots(
            rank_folder(self.path, rank), self.snapshot_spans(rank) if spans is None else spans
        )
        self._note(problems)
        return found

    def layers(self, rank: int) -> list[LayerColumns]:
        """Read the snapshots of a rank as columns; a run of an older version has them in its events alone."""
        from debugtracer.trace.store.layer_columns import columns_of
        from debugtracer.trace.store.layer_log import read_layers

        found, problems = read_layers(rank_folder(self.path, rank))
        self._note(problems)
        taken = {} if found else {fact.ref.step: fact for fact in self.snapshots(rank)}
        return found or [columns_of(taken[step]) for step in sorted(taken)]

    def layer_norms(self, rank: int) -> NormTable:
        """Read the norms of the layers of a rank over time; empty for a run of an older version."""
        from debugtracer.trace.store.norm_log import read_norms

        found, problems = read_norms(rank_folder(self.path, rank))
        self._note(problems)
        return found

    def names(self, rank: int = 0) -> list[str]:
        """The series of a rank, in alphabetical order."""
        return sorted(set().union(*self._each(rank, self._segments.names)))

    def series(
        self, name: str, rank: int = 0, start: int | None = None, stop: int | None = None
    ) -> tuple[list[int], list[float]]:
        """Read measured steps (ascending, once each) and values, start <= step < stop; of a repeated step the last
        value.

        Values were stored as float32. Blocks thinned for the byte budget are left out: `overview` covers them.
        """
        import numpy as np

        from debugtracer.trace.store.series.blocks import one_each, points_of

        columns = ["step0", "stride", "steps", "values"]
        parts = [
            points_of(rows)
            for rows in self._each(rank, lambda path: self._segments.rows(path, name, columns, start, stop))
        ]
        if not parts:
            return [], []
        steps, values = one_each(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        inside = slice(
            None if start is None else np.searchsorted(steps, start),
            None if stop is None else np.searchsorted(steps, stop),
        )
        return steps[inside].tolist(), values[inside].tolist()

    def overview(self, name: str, rank: int = 0, bins: int = 1000) -> list[Bin]:
        """The whole series in at most `bins` bins (count, low, high, mean, bad of each), thinned blocks included."""
        import numpy as np

        from debugtracer.trace.store.series.overview import binned, columns_for, level_for, pieces_of

        counts = self._each(rank, lambda path: self._segments.rows(path, name, ["n", "step1"]))
        total = sum(sum(rows.column("n").to_pylist()) for rows in counts)
        if not total:
            return []
        level = level_for(total, bins)
        tables = self._each(rank, lambda path: self._segments.rows(path, name, columns_for(level)))
        pieces = [pieces_of(rows, level) for rows in tables if len(rows)]
        last = max(max(rows.column("step1").to_pylist()) for rows in tables if len(rows))
        return binned(tuple(np.concatenate(column) for column in zip(*pieces, strict=True)), last, bins)  # type: ignore[arg-type]

    def first_bad(self, names: Iterable[str] | None = None, rank: int | None = None) -> BadStep | None:
        """The first step at which one of the series (default: any) was not finite, over all ranks (or one); None if
        there is none."""
        wanted = None if names is None else set(names)
        found: list[tuple[int, int, str]] = []
        for one in self.ranks if rank is None else [rank]:
            for rows in self._each(one, lambda path: self._segments.rows(path, None, BAD_COLUMNS)):
                pairs = zip(rows.column("series").to_pylist(), rows.column("first_bad").to_pylist(), strict=True)
                found += [
                    (step, one, name) for name, step in pairs if step is not None and (wanted is None or name in wanted)
                ]
        if not found:
            return None
        step, one, name = min(found)
        return BadStep(step=step, series=name, rank=one)

    def _each(self, rank: int, read: Callable[[Path], T]) -> list[T]:
        """Call `read` on each segment of a rank; skip and note damaged ones; start again when one was sealed
        meanwhile."""
        folder = rank_folder(self.path, rank)
        for _ in range(20):
            try:
                paths = list(segments(folder).values()) if folder.is_dir() else []
                return self._readable(paths, read)
            except FileNotFoundError:
                continue
        raise TraceError(f"{folder} changes faster than it can be read; try again, or read it after the run.")

    def _readable(self, paths: list[Path], read: Callable[[Path], T]) -> list[T]:
        results: list[T] = []
        failed: list[TraceError] = []
        for path in paths:
            try:
                results.append(read(path))
            except TraceError as error:
                failed.append(error)
        self._note([*map(str, failed), *self._segments.problems])
        if failed and not results:
            raise failed[0]
        return results

    def _note(self, problems: list[str]) -> None:
        self.problems += [p for p in dict.fromkeys(problems) if p not in self.problems]


def open_trace(path: str | Path) -> Trace:
    """The trace of a run folder, or of the latest run of a folder of runs. Raises TraceError in one sentence."""
    path = Path(path)
    if not path.exists():
        raise TraceError(
            f"{path} does not exist; expected a run folder (it holds {MANIFEST}) or a folder of runs such as "
            "debug-tracer-runs."
        )
    if not path.is_dir():
        raise TraceError(f"{path} is a file; expected the run folder that holds it (with {MANIFEST} and rank=0).")
    try:
        return Trace((path if is_run(path) else latest_run(path)).resolve())
    except OSError as error:
        raise TraceError(f"{path} cannot be read ({error.strerror}); check that you may read it.") from None


def is_run(path: Path) -> bool:
    """Whether a folder is a run folder."""
    return (path / MANIFEST).exists() or any(RANK.fullmatch(p.name) for p in path.iterdir())


def latest_run(path: Path) -> Path:
    """The run that `latest` (a link, or a text file with its name) points to. Raises TraceError."""
    latest = path / LATEST
    if not latest.is_symlink() and not latest.exists():
        runs = sorted(p.name for p in path.iterdir() if p.is_dir() and is_run(p))
        more = (
            (
                f"it holds {len(runs)} run{'s' * (len(runs) > 1)} but no `{LATEST}`; give one of them, e.g. "
                f"{path / runs[-1]}"
            )
            if runs
            else "it holds no run"
        )
        raise TraceError(f"{path} is no run folder (no {MANIFEST}, no rank=0): {more}.")
    target = path / latest.read_text(errors="replace").strip() if latest.is_file() else latest
    if not target.is_dir() or not is_run(target):
        raise TraceError(f"{latest} points to {target.resolve()}, which is no run folder; give a run folder itself.")
    return target.resolve()
