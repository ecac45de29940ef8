"""The line of a file that a label was read from, by the list of all labels."""

from __future__ import annotations

import numpy as np
import pytest

from debugtracer.callsites.stored_labels import label_line

LABELS = [-1 if i == 41 else (i * 7 + i // 5) % 3 for i in range(60)]
KNOWN = {i: LABELS[i] for i in range(30, 50)}


class Notes:
    def __init__(self, labels, file):
        self.labels, self.file = labels, file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("text,label\n" + "".join(f"note {'abc'[i % 3]},{one}\n" for i, one in enumerate(LABELS)))
    return str(path)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_the_line_of_the_record(file, kind):
    found = label_line(Notes(kind(LABELS), file), 41, KNOWN)
    assert (found.file, found.line, found.code) == (file, 43, "note c,-1")


def test_a_list_that_is_not_what_the_samples_hold(file):
    assert label_line(Notes(LABELS[::-1], file), 41, KNOWN) is None
    assert label_line(Notes([float(one) for one in LABELS], file), 41, KNOWN) is None


def test_too_little_is_known(file):
    assert label_line(Notes(LABELS, file), 41, {41: -1}) is None
    assert label_line(Notes(LABELS, file), 41, {i: one for i, one in KNOWN.items() if i != 41}) is None


def test_a_file_in_another_order(file, tmp_path):
    lines = (tmp_path / "notes.csv").read_text().splitlines()
    (tmp_path / "notes.csv").write_text("\n".join([lines[0], *lines[:0:-1]]))
    assert label_line(Notes(LABELS, file), 41, KNOWN) is None
