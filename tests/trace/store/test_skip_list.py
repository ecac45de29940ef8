"""The list of skipped samples: what is written is what a later run leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.trace.store.skip_list import SKIPPED, SkippedSamples, append, read_skip_list, taken


def test_guilty_samples_of_each_dataset_are_read_again(tmp_path: Path) -> None:
    append(tmp_path, SkippedSamples(dataset="A of 9 samples", samples=(3,), batch=(1, 3), step=4))
    append(tmp_path, SkippedSamples(dataset="A of 9 samples", samples=(5, 3), step=8))
    append(tmp_path, SkippedSamples(dataset="B of 2 samples", batch=(0, 1), step=9))
    assert read_skip_list(tmp_path / SKIPPED) == {"A of 9 samples": {3, 5}}


@pytest.mark.parametrize("content", [None, b"{broken\n", b'{"dataset": 3}\n'])
def test_a_list_that_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / SKIPPED
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match="--skip-list"):
        read_skip_list(path)


def test_one_line_says_what_a_list_leaves_out() -> None:
    said = taken(Path("old/skipped.jsonl"), {"A of 99 samples": set(range(10, 20)), "B of 2 samples": {1}})
    assert said == (
        "skip list old/skipped.jsonl - 11 samples left out from the start, where a dataset of that name is read: "
        "10, 11, 12, 13, 14, 15, 16, 17 and 2 more of A of 99 samples; 1 of B of 2 samples"
    )
    assert "names no guilty sample - nothing is left out" in taken(Path("x"), {})
