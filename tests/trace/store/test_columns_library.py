"""What the columns are written with is imported by the thread that trains: libraries look at it in `sys.modules`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.trace.store import columns_library

PROGRAM = """
import sys, threading, time
from pathlib import Path
from debugtracer.trace.store.writer import TraceWriter

importing = []

class Watcher:
    def find_spec(self, name, path=None, target=None):
        if name == "pyarrow":
            importing.append(threading.current_thread().name)
        return None

sys.meta_path.insert(0, Watcher())
writer = TraceWriter(Path(sys.argv[1]), 0, flush_steps=1000, flush_s=0.01)
for step in range(int(sys.argv[2])):
    writer.point(step, {"loss": 1.0})
    deadline = time.monotonic() + 10
    while not (writer.lacks_library or importing) and time.monotonic() < deadline:
        time.sleep(0.01)
writer.close()
print(importing)
"""


@pytest.mark.parametrize("steps", [1, 2])
def test_the_thread_beside_training_never_imports_it(tmp_path: Path, steps: int) -> None:
    """By its time alone it finds one point; the next point, or the end, imports it in the thread of the program."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(steps)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['MainThread']"
    assert any(tmp_path.rglob("*.parquet"))


def test_a_module_that_is_being_imported_is_not_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    columns_library.load()
    assert columns_library.is_whole()
    monkeypatch.setattr(sys.modules["pyarrow"].__spec__, "_initializing", True, raising=False)
    assert not columns_library.is_whole()
    monkeypatch.delitem(sys.modules, "pyarrow")
    assert not columns_library.is_whole()
