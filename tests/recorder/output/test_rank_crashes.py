"""What a launcher repeats."""

from __future__ import annotations

from debugtracer.recorder.output.rank_crashes import told_by_its_rank
from debugtracer.recorder.output.run_folder import RUN_DIR
from debugtracer.trace.last_words import LAST_WORDS, section

RELAYED = RuntimeError("\n\n-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n")


def test_what_a_rank_has_written_down_is_not_told_again(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_DIR, str(tmp_path))
    (tmp_path / "rank=0").mkdir()
    assert not told_by_its_rank(RELAYED)  # it died before its first backward
    (tmp_path / "rank=0" / LAST_WORDS).write_text(section("crashed", 6, message="RuntimeError: mine"))
    assert told_by_its_rank(RELAYED)
    assert not told_by_its_rank(RuntimeError("mine"))


def test_without_a_supervisor_everything_is_told(monkeypatch):
    monkeypatch.delenv(RUN_DIR, raising=False)
    assert not told_by_its_rank(RELAYED)
