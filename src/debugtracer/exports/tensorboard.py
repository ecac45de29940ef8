"""An event file for TensorBoard: series as scalars, findings and actions as text. Needs the package tensorboard."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from debugtracer.errors import UsageError
from debugtracer.exports.export import Export, clock_of, new_actions, second_of, series_of
from debugtracer.exports.progress import Progress
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
                    words = f"{finding.severity}: {finding.message}"
                    writer.add_event(text(finding.check, finding.step, words, began + second_of(clock, finding.step)))
            for line in new_actions(trace, rank, progress):
                at = began + second_of(clock, line.step)
                writer.add_event(text(f"action/{line.word}", line.step, line.text, at))
            (writer.close if progress.over else writer.flush)()
        return folder


def scalar(name: str, step: int, value: float, at: float) -> Any:
    """Make the event of one value."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    return Event(wall_time=at, step=step, summary=Summary(value=[Summary.Value(tag=name, simple_value=value)]))


def text(name: str, step: int, words: str, at: float) -> Any:
    """Make the event of one text, such as a finding under the name of its check."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.compat.proto.types_pb2 import DT_STRING

    kind = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    tensor = TensorProto(dtype=DT_STRING, string_val=[words.encode()])
    value = Summary.Value(tag=name, metadata=kind, tensor=tensor)
    return Event(wall_time=at, step=step, summary=Summary(value=[value]))
