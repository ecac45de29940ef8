"""Files that end too early."""

from __future__ import annotations

from debugtracer.checks.rollback.file_truncated import FileTruncated
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint_file import DamagedFile
from debugtracer.trace.window import ENDED, Window
from tests.checks.crashes import REF, a_crash

LOAD = Frame("/p/train.py", 47)


def judged(*crashes, ended=True, **more):
    file = DamagedFile(
        ref=REF, path="/d/mirror.pt", size_bytes=131072, frame=LOAD, **{"cut": True, "loaded": False, **more}
    )
    facts = {DamagedFile: [file], type(crashes[0]) if crashes else None: list(crashes)}
    return list(FileTruncated().judge(Window(ref=REF, flags=frozenset({ENDED} if ended else ()), facts=facts)))


def test_fires_when_the_program_died_of_it():
    (finding,) = judged(a_crash("PytorchStreamReader failed", torch_calls=("__init__", "load")))
    assert finding.message == (
        "step 5, rank 0: /d/mirror.pt, loaded here (train.py:47), ends after 131072 bytes without a readable "
        "directory of its records; expected a whole file. "
        "Load the checkpoint before it, and save under another name that is renamed at the end."
    )
    assert (finding.severity, finding.symptom, finding.place.frame) == ("error", "crash", LOAD)


def test_a_program_that_went_on_gets_a_note():
    assert [f.severity for f in judged()] == ["note"]
    assert [f.severity for f in judged(a_crash("boom"))] == ["note"]


def test_stays_silent_until_the_end_and_on_damage_of_another_kind():
    assert judged(ended=False) == []
    assert judged(cut=False, damaged=("a/data/0",), count=1) == []
