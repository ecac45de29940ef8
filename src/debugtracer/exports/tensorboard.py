"""An event file for TensorBoard: series as scalars, findings as text at their step. Needs the package tensorboard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from debugtracer.errors import UsageError
from debugtracer.exports.export import Export, clock_of, second_of, series_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.finding import Finding
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings


@dataclass(frozen=True)
class TensorBoard(Export):
    """One log folder a rank: `tensorboard --logdir FOLDER`."""

    word: ClassVar[str] = "tensorboard"

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write a log folder for each rank. Raises UsageError without the package."""
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise UsageError(
                "export --to tensorboard: tensorboard is not installed: pip install 'torch-debug-tracer[import]'"
            ) from None
        progress = progress or Progress()
        found = findings(trace)[progress.findings :]
        for rank in trace.ranks:
            began, clock = trace.manifest.started_at, clock_of(trace, rank)
            writer = progress.open.get(rank) or EventFileWriter(str(folder / f"rank={rank}"))
            progress.open[rank] = writer
            for name, steps, values in series_of(trace, rank, progress):
                for step, value in zip(steps, values, strict=True):
                    writer.add_event(scalar(name, step, value, began + second_of(clock, step)))
            for finding in found:
                if finding.rank == rank:
                    writer.add_event(text(finding, began + second_of(clock, finding.step)))
            (writer.close if progress.over else writer.flush)()
        return folder


def scalar(name: str, step: int, value: float, at: float) -> Any:
    """Make the event of one value."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Event(wall_time=at, step=step, summary=Summary(value=[Summary.Value(tag=name, simple_value=value)]))


def text(finding: Finding, at: float) -> Any:
    """Make the event of one finding, under the name of its check."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.types_pb2 import DT_STRING

    kind = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    words = TensorProto(dtype=DT_STRING, string_val=[f"{finding.severity}: {finding.message}".encode()])
    value = Summary.Value(tag=finding.check, metadata=kind, tensor=words)
    return Event(wall_time=at, step=finding.step, summary=Summary(value=[value]))
