"""Facts about the contract of a sink: the trace writer fulfils it."""

import inspect
from pathlib import Path

import pytest

from debugtracer.trace.sink import Sink
from debugtracer.trace.store.writer import TraceWriter

METHODS = ("point", "event", "flush", "close", "drop")


@pytest.mark.parametrize("name", METHODS)
def test_the_writer_takes_what_the_contract_says(name: str) -> None:
    wanted, given = (inspect.signature(getattr(owner, name)).parameters for owner in (Sink, TraceWriter))
    assert [(p.name, p.kind, p.default) for p in wanted.values()] == [
        (p.name, p.kind, p.default) for p in given.values()
    ]


def test_no_method_raises_after_the_end(tmp_path: Path) -> None:
    sink: Sink = TraceWriter(tmp_path, 0)
    sink.close()
    sink.point(1, {"loss": 1.0})
    sink.flush()
    sink.close()
    sink.drop()
