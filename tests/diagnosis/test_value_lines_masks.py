"""The lines that set the mask of an attention, where it is the module's own."""

from __future__ import annotations

import textwrap

import pytest

from debugtracer.diagnosis.value_lines import of_the_mask
from debugtracer.trace.birth import Frame


def masked(tmp_path, *lines, code="weights = torch.softmax(scores, -1)"):
    """The lines, counted from 1 in the forward, that set the mask of a softmax."""
    body = [*lines, code]
    text = textwrap.dedent(
        """\
        import torch
        class Head(torch.nn.Module):
            def __init__(self):
                self.hidden = torch.ones(4, 4)
                self.other = torch.ones(4, 4)
            def forward(self, scores, keep):
        """
    ) + "".join(f"        {line}\n" for line in body)
    path = tmp_path / "head.py"
    path.write_text(text)
    return [frame.line - 6 for frame in of_the_mask(Frame(str(path), 6 + len(body), "Head.forward"))]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["scores = scores.masked_fill(self.hidden == 0, -1e9)"], [-2, 1]),
        (["scores = torch.where(self.hidden, scores, -1e9)"], [-2, 1]),
        (["scores = scores.masked_fill(self.hidden & self.other, -1e9)"], []),
        (["scores = scores.masked_fill(keep, -1e9)"], []),
        (["scores = scores.masked_fill(keep.mask, -1e9)"], []),
        (["scores = scores.masked_fill()"], []),
        (["scores = scores.clamp(self.hidden)"], []),
        (["scores = self.hidden"], []),
        ([], []),
    ],
)
def test_a_mask_is_led_back_where_it_is_one_attribute_of_the_module(tmp_path, lines, expected):
    assert masked(tmp_path, *lines) == expected


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("weights = F.softmax(scores, -1)", True),
        ("weights = scores.softmax(-1)", True),
        ("weights = torch.relu(scores)", False),
        ("weights = torch.softmax(3, -1)", False),
    ],
)
def test_the_scores_are_the_first_name_of_the_call(tmp_path, code, found):
    fill = "scores = scores.masked_fill(self.hidden == 0, -1e9)"
    assert bool(masked(tmp_path, fill, code=code)) is found


def test_a_line_of_no_file_or_no_function_has_no_mask(tmp_path):
    assert of_the_mask(Frame(str(tmp_path / "gone.py"), 3)) == ()
