"""The list of skipped samples: what is written is what a later run leaves out."""

from __future__ import annotations

import errno
import os
import resource
import signal
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
    with pytest.raises(UsageError, match=f"skip list {path}"):
        read_skip_list(path)


def test_a_line_that_was_cut_off_as_the_run_was_killed_spoils_no_list(tmp_path: Path) -> None:
    append(tmp_path, SkippedSamples(dataset="A of 9 samples", samples=(3,), step=4))
    path = tmp_path / SKIPPED
    line = path.read_bytes()
    path.write_bytes(line + line[:-9])
    assert read_skip_list(path) == {"A of 9 samples": {3}}
    path.write_bytes(line + line.replace(b"3", b"5", 1).rstrip())  # written by hand, without an end
    assert read_skip_list(path) == {"A of 9 samples": {3, 5}}


def test_on_a_full_disk_a_line_is_written_whole_or_not(tmp_path: Path) -> None:
    append(tmp_path, SkippedSamples(dataset="A of 9 samples", samples=(3,), step=4))
    path = tmp_path / SKIPPED
    before, was = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, was[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            append(tmp_path, SkippedSamples(dataset="A of 9 samples", samples=(5,), step=8))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, was)
        signal.signal(signal.SIGXFSZ, ignored)
    assert path.read_bytes() == before


def test_one_line_says_what_a_list_leaves_out() -> None:
    said = taken(Path("old/skipped.jsonl"), {"A of 99 samples": set(range(10, 20)), "B of 2 samples": {1}})
    assert said == (
        "skip list old/skipped.jsonl - 11 samples left out from the start, where a dataset of that name is read: "
        "10, 11, 12, 13, 14, 15, 16, 17 and 2 more of A of 99 samples; 1 of B of 2 samples"
    )
    assert "names no guilty sample - nothing is left out" in taken(Path("x"), {})
