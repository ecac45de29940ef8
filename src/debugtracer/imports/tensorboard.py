"""The event files of TensorBoard, as SummaryWriter, Lightning and the Trainer write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from debugtracer.errors import TraceError, UsageError
from debugtracer.imports.importer import Importer, Log

PATTERN = "*tfevents*"
DEPTH = 4  # folders below the given one that are looked into: OUTPUT/runs/DATE_HOST/events...


@dataclass(frozen=True)
class TensorBoard(Importer):
    """Scalars by tag; files of one folder are one run, written one after the other."""

    format: ClassVar[str] = "TensorBoard event file"
    library: ClassVar[str] = "tensorboard"

    def recognises(self, path: Path) -> bool:
        """True for an event file, or a folder with event files in it or up to four folders below."""
        return "tfevents" in path.name if path.is_file() else bool(folders(path))

    def read(self, path: Path) -> Log:
        """The scalars of one folder of event files. Raises UsageError without the library, or if it is not clear which
        folder is meant."""
        if path.is_file():
            return self.log(path, scalars([path]))
        found = folders(path)
        if len(found) > 1:
            shown = ", ".join(str(folder) for folder in found[:3]) + (", ..." if len(found) > 3 else "")
            raise UsageError(f"{path} holds event files of {len(found)} runs; give one of them: {shown}")
        return self.log(found[0], scalars(sorted(found[0].glob(PATTERN))))


def folders(path: Path) -> list[Path]:
    """The folders with event files: this one, or all at the first depth that has any."""
    for depth in range(DEPTH + 1):
        found = sorted({file.parent for file in path.glob("*/" * depth + PATTERN) if file.is_file()})
        if found:
            return found
    return []


def scalars(files: list[Path]) -> Iterator[tuple[int, str, float]]:
    """Every scalar of some event files with its step; the end of a torn file is left out."""
    for file in files:
        events = loader(file)
        try:
            for event in events:
                for value in event.summary.value:
                    number = scalar(value)
                    if number is not None:
                        yield int(event.step), str(value.tag), number
        except Exception as error:  # the library's own errors have no base of their own
            raise TraceError(
                f"{file} is damaged ({type(error).__name__}: {error}); expected a TensorBoard event file."
            ) from None


def loader(file: Path) -> Any:
    """The events of a file, one after the other. Raises UsageError if the library is missing."""
    try:
        with file.open("rb"):  # the library reads nothing, silently, from a file it may not read
            from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    except OSError as error:
        raise TraceError(f"{file} cannot be read ({error.strerror}); check that you may read it.") from None
    except ImportError:
        raise UsageError(
            f"{file}: reading TensorBoard event files needs the package tensorboard; `pip install tensorboard`"
        ) from None
    return EventFileLoader(str(file)).Load()


def scalar(value: Any) -> float | None:
    """The number of a summary value, old style or new; None for images, histograms and texts."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if not value.HasField("tensor") or value.metadata.plugin_data.plugin_name not in ("", "scalars"):
        return None
    from tensorboard.util.tensor_util import make_ndarray

    array = make_ndarray(value.tensor)
    return float(array.item()) if array.size == 1 and array.dtype.kind in "fiu" else None
