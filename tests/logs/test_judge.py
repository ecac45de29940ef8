"""Every real log gets its cause: counted over programs that ran here and over texts that need a GPU or a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomllib

from debugtracer.logs.chunks import Chunk
from debugtracer.logs.judge import judge
from debugtracer.logs.scan import Scan, read_log

HERE = Path(__file__).resolve().parent
TRUTH = tomllib.loads((HERE / "truth.toml").read_text())
PROGRAMS, TEXTS = TRUTH["programs"], TRUTH["texts"]
CODE = {
    "anomaly_log": "return -(p * torch.log(p))",
    "anomaly_sqrt": "return torch.sqrt(",
    "anomaly_softmax": "att = torch.softmax(",
    "token_range": "loss = head(emb(x)",
    "worker_error": "with open(",
    "collate": "for x, y in DataLoader(",
    "no_params": "opt = torch.optim.SGD(",
    "sched_first": "sched.step()",
}
"""Where a person edits, or the nearest line that the text names."""


def line_of(name: str) -> int:
    lines = (HERE / "programs" / f"{name}.py").read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if CODE[name] in line)


def ranked(log: Path) -> list[str]:
    return [one.kind for one in judge(read_log(log)).candidates]


def test_every_program_and_text_has_its_truth():
    assert set(PROGRAMS) == {path.stem for path in (HERE / "programs").glob("*.py")}
    assert set(TEXTS) == {path.stem for path in (HERE / "texts").glob("*.txt")}
    assert len(PROGRAMS) + len(TEXTS) >= 25
    assert all(entry["source"].startswith("https://") for entry in TEXTS.values())


def test_top_1_and_top_3_of_all_logs(made, capsys):
    wanted = {made / name / "log.txt": kind for name, kind in PROGRAMS.items()} | {
        HERE / "texts" / f"{name}.txt": entry["class"] for name, entry in TEXTS.items()
    }
    found = {log: ranked(log) for log in wanted}
    faulty = [log for log, kind in wanted.items() if kind]
    top_1 = [log for log in faulty if found[log][:1] == [wanted[log]]]
    top_3 = [log for log in faulty if wanted[log] in found[log][:3]]
    with capsys.disabled():
        print(f"\nlogs: top-1 {len(top_1)} of {len(faulty)}, top-3 {len(top_3)} of {len(faulty)}")
    assert [str(log) for log in faulty if log not in top_3] == []
    assert len(top_1) >= 0.95 * len(faulty), [str(log) for log in faulty if log not in top_1]
    assert [log for log, kind in wanted.items() if not kind and found[log]] == [], (
        "a cause was named where nothing is wrong"
    )


def test_nothing_is_confirmed_from_text(made):
    for name in PROGRAMS:
        verdict = judge(read_log(made / name / "log.txt")).verdict
        assert verdict is None or (verdict.status != "confirmed" and verdict.confidence <= 0.9)


@pytest.mark.parametrize("name", CODE)
def test_the_users_line_is_named(made, name):
    verdict = judge(read_log(made / name / "log.txt")).verdict
    assert verdict is not None
    assert verdict.line == line_of(name)
    assert verdict.file is not None and verdict.file.endswith("train.py")


def judged(text: str) -> list[tuple[str, float]]:
    scan = Scan("here")
    scan.feed(Chunk(1, text))
    return [(one.kind, one.certainty) for one in judge(scan.finish()).candidates]


def test_a_rank_that_ran_out_of_memory_comes_before_the_others_that_wait_for_it():
    found = judge(read_log(HERE / "texts" / "oom_then_timeout.txt"))
    waiting = next(one for one in found.candidates if one.kind == "ddp_desync")
    assert found.candidates[0].kind == "out_of_memory"
    assert found.candidates[0].rank == 1
    assert waiting.against == ["out_of_memory (log line 8) ends a rank by itself, and the others then wait for it"]


def test_a_message_in_the_source_text_of_a_frame_is_none():
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    raise ValueError("index out of '
        'range in self")\nValueError: other words'
    )
    assert judged(text) == []


def test_ranks_that_write_at_once_do_not_mix_their_tracebacks(made):
    lines = (made / "token_range" / "log.txt").read_text().split("\n")
    mixed = "\n".join(f"[rank{rank}]: {line}" for line in lines for rank in (0, 1))
    scan = Scan("here")
    scan.feed(Chunk(1, mixed))
    verdict = judge(scan.finish()).verdict
    assert verdict is not None
    assert (verdict.kind, verdict.line) == ("token_out_of_range", line_of("token_range"))
