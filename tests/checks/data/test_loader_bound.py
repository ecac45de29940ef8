from __future__ import annotations

import msgspec

from debugtracer.checks.data.loader_bound import LoaderBound
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.core_queue import CoreQueue
from debugtracer.trace.facts.loaders import LoaderSeen
from tests.checks.windows import LOADER, ref, told

SEEN = LoaderSeen(
    ref=ref(), loader=0, frame=LOADER, dataset="Thumbnails", length=320, batch_size=32, workers=0,
    sampler="RandomSampler", trains=True, shards=False, shuffles=True, generator=False, worker_init=False,
    persistent=False, cores=4,
)  # fmt: skip


def found(waits: list[float], steps: list[float], ended: bool = False):
    return list(LoaderBound().judge(told(SEEN, step=len(waits) - 1, ended=ended, wait_s=waits, step_s=steps)))


def test_ten_slow_steps_are_enough():
    (one,) = found([0.6] * 10, [0.64] * 10)
    assert (one.severity, one.kind, one.symptom, one.exact, one.place.frame) == (
        "warning",
        "slow_dataloader",
        "none",
        False,
        LOADER,
    )
    assert one.message == (
        "step 9, rank 0: 94 % of a step is waiting for batches (median 0.6 s of 0.64 s over 8 steps); Thumbnails is "
        "read by 0 workers on 4 cores; expected "
        "below 20 %. Give the DataLoader workers (num_workers=3), or cache decoded samples."
    )


def test_a_third_is_a_note_and_a_tenth_nothing():
    assert [one.severity for one in found([0.1] * 60, [0.3] * 60)] == ["note"]
    assert found([0.03] * 90, [0.3] * 90) == []


def test_short_waits_of_small_programs_are_of_no_concern():
    assert found([0.004] * 600, [0.005] * 600) == []
    assert found([0.02] * 40, [0.03] * 40) == []  # 0.8 s in all


def test_workers_that_start_slowly_are_no_bottleneck():
    assert found([3.0, 2.5] + [0.001] * 30, [3.2, 2.6] + [0.2] * 30) == []


def test_it_is_said_once_per_grade():
    memories: dict = {}
    windows = [told(SEEN, step=n, memories=memories, wait_s=[0.6] * n, step_s=[0.64] * n) for n in (10, 11, 12)]
    assert [len(list(LoaderBound().judge(window))) for window in windows] == [1, 0, 0]


def test_on_a_busy_machine_it_is_a_note_that_says_so():
    def said(queued_s: float):
        queue = CoreQueue(ref=ref(), wall_s=6.0, queued_s=queued_s)
        return list(LoaderBound().judge(told(SEEN, queue, step=9, wait_s=[0.6] * 10, step_s=[0.64] * 10)))

    (busy,), (free,) = said(3.0), said(2.0)
    assert (busy.severity, free.severity) == ("note", "warning")
    assert (
        "is read by 0 workers on 4 cores; the training thread had no core for 50 % of the time, others use them; "
        "expected below 20 %. Measure on free cores first. Give the DataLoader workers" in busy.message
    )
    assert "no core" not in free.message


def test_a_line_that_reads_the_same_file_for_each_sample_is_the_one_to_edit():
    line = Frame("/home/someone/data.py", 26, "__getitem__", "row = json.load(f)[i]")
    seen = msgspec.structs.replace(SEEN, rereads=line)
    (one,) = LoaderBound().judge(told(seen, step=9, ended=False, wait_s=[0.6] * 10, step_s=[0.64] * 10))
    assert (one.place.frame, one.place.symptom_frame) == (line, LOADER)
    assert "data.py:26 reads the same file for each sample; expected below 20 %. Read it once, in" in one.message
    assert one.remedy[0].startswith("read and parse it once")
