"""A NaN in a model that is cut over ranks: the step, the rank and the line are told, and in one sentence why it is not
executed again."""

from __future__ import annotations

import pytest

from tests.frameworks.test_frameworks import PROGRAMS
from tests.frameworks.test_ranks_apart import report, watched

WHY = {
    "torchrun_tensor_parallel": "Linear computes together with the other ranks, and only this one would replay",
    "torchrun_pipeline": (
        "this rank is a stage of a pipeline, which computes on what other ranks send, and only this one would replay"
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(WHY))
def test_it_is_refused_in_words_and_the_run_stops(name, tmp_path):
    done = watched(tmp_path, "bad", program=PROGRAMS / f"{name}.py")
    said = done.communicate(timeout=200)[1]
    assert done.returncode == 3, said
    assert f"not replayed: {WHY[name]}" in " ".join(said.split())
    shown = report(tmp_path)
    assert shown["run"]["stopped_by_tracer"]
    assert (shown["verdict"]["status"], shown["verdict"]["step"]) == ("unknown", 5)
    assert not [f for f in shown["findings"] if f["check"] == "device/collective-mismatch"]
