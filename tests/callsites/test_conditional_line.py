"""Lines that run only while a condition holds."""

from __future__ import annotations

import pytest

from debugtracer.callsites.conditional_line import conditional_line
from debugtracer.trace.birth import Frame

PROGRAM = """\
import torch
def plain(enc, x):
    return enc(x).detach()
def phase(enc, x, step):
    h = enc(x)
    if step < 80:
        h = h.detach()
    return h
def chosen(enc, x, tune):
    with torch.no_grad() if not tune else nothing():
        return enc(x)
def switched(enc, x, tune):
    with torch.set_grad_enabled(tune):
        return enc(x)
def frozen(enc, x):
    with torch.set_grad_enabled(False):
        return enc(x)
def short(enc, x, tune):
    return enc(x) if tune else enc(x).detach()
if FAST:
    def nested(enc, x):
        return enc(x).detach()
if __name__ == "__main__":
    for x in data:
        z = enc(x).detach()
    while True:
        if True:
            z = enc(x).detach()
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (3, False), (5, False), (7, True), (8, False), (11, True), (14, True), (17, False), (19, True), (22, False),
        (25, False), (28, False),
    ],
)  # fmt: skip
def test_lines_under_conditions(tmp_path, line, expected):
    file = tmp_path / "train.py"
    file.write_text(PROGRAM)
    assert conditional_line([Frame(str(file), line)]) is expected
    assert conditional_line([Frame(str(file), 3), Frame(str(file), line)]) is expected


def test_a_file_that_cannot_be_read():
    assert conditional_line([Frame("/nowhere/train.py", 3)]) is False
    assert conditional_line([]) is False
