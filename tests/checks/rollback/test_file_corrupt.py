"""Files that do not match their checksums."""

from __future__ import annotations

from debugtracer.checks.rollback.file_corrupt import FileCorrupt
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint_file import DamagedFile
from tests.checks.crashes import REF, told

LOAD = Frame("/p/train.py", 48)


def judged(**more):
    return told(
        FileCorrupt(), DamagedFile(ref=REF, path="/d/mirror.pt", size_bytes=9000, records=21, frame=LOAD, **more)
    )


def test_fires_on_damaged_records():
    (finding,) = judged(damaged=("last/data/2", "last/data/3"), count=2, tensors=("model.2.weight",))
    assert finding.message == (
        "step 5, rank 0: 2 of 21 records of /d/mirror.pt, loaded here (train.py:48), do not match their checksum "
        "(model.2.weight, ...); expected the bytes "
        "that torch.save wrote. Load another checkpoint, and copy or download this one again."
    )
    assert (finding.severity, finding.kind, finding.exact, finding.place.frame) == ("error", "ckpt_corrupt", True, LOAD)


def test_one_record_without_a_name():
    (finding,) = judged(damaged=("last/data/2",), count=1)
    assert (
        "1 of 21 records of /d/mirror.pt, loaded here (train.py:48), does not match its checksum (data/2);"
        in finding.message
    )


def test_stays_silent_on_a_file_that_is_only_cut():
    assert judged(cut=True, loaded=False) == []
