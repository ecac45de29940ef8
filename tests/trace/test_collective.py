"""The collective that a stack stands in, innermost first."""

from __future__ import annotations

from debugtracer.trace.collective import LEAVES, PIPELINE, POINT_TO_POINT, collective
from debugtracer.trace.last_words import Entry
from tests.trace.test_last_words import BARRIER, TORCH, USER


def test_the_collective_is_the_one_the_program_called():
    gathered = (
        Entry(f"{TORCH}/distributed/distributed_c10d.py", 10, "all_gather"),
        Entry(f"{TORCH}/distributed/distributed_c10d.py", 20, "all_gather_object"),
    )
    assert collective((*gathered, USER)) == "all_gather_object"
    assert collective((*BARRIER, USER)) == "barrier"
    assert collective((Entry(f"{TORCH}/autograd/graph.py", 979, "_engine_run_backward"), USER)) == "backward"
    assert (
        collective((Entry(f"{TORCH}/nn/parallel/distributed.py", 1886, "_pre_forward"), USER))
        == "forward of DistributedDataParallel"
    )
    assert collective((USER,)) == ""


def test_a_pipeline_schedule_and_plain_sends_need_not_agree():
    stage = Entry(f"{TORCH}/distributed/pipelining/schedules.py", 700, "_step_microbatches")
    assert collective((stage, USER)) == PIPELINE
    assert {PIPELINE, "send", "recv"} <= POINT_TO_POINT
    assert LEAVES not in POINT_TO_POINT


def test_the_launcher_of_torch_is_no_collective():
    assert collective((Entry(f"{TORCH}/distributed/elastic/agent/server/api.py", 700, "run"), USER)) == ""
