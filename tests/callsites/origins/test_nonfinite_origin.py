"""Which line made a value NaN or Inf."""

from __future__ import annotations

import pytest

from debugtracer.callsites.numeric_warning import NumericWarning
from debugtracer.callsites.origins.nonfinite_origin import GuessedLines, nonfinite_first
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame


@pytest.mark.parametrize(
    ("text", "some", "expected"),
    [
        # a cell of the file: what all rows were divided by is no zero
        ("t = np.genfromtxt(path)\nx = t[:, :4]\nx = (x - x.mean()) / x.std()\ny = torch.tensor(x)", True, 1),
        # the same lines with a bad column: the spread was zero
        ("t = np.genfromtxt(path)\nx = t[:, :4]\nx = (x - x.mean()) / x.std()\ny = torch.tensor(x)", False, 3),
        # a share of the row's own counts, put together with others
        ("rate = wins / games\nx = np.concatenate([rate.ravel(), np.log1p(games)])\ny = torch.tensor(x)", True, 1),
        # divided before what was multiplied with it
        ("total = x.sum(1)\ntotal = 1 / total\ny = torch.diag(total) @ x", False, 2),
        # the mean of a list that may be empty
        ("rows = []\nrows.append(torch.tensor(b).mean())\ny = torch.stack(rows) / 10", True, 2),
        # a divisor written out is no zero
        ("S = np.array([2.0, 4.0])\nt = np.load(p)\ny = t / S", True, 2),
        # the inverse of a sum that may be 0, as a power
        ("r = np.power(x.sum(1), -1)\nx = np.diag(r).dot(x)\ny = torch.tensor(x)", False, 1),
        ("r = x.sum(1) ** -0.5\ny = r * x", False, 1),
        ("r = np.power(x, 2)\ny = r * x", False, 2),
        # nothing that could: the line that computed it
        ("x = torch.randn(4)\ny = x * 2", False, 2),
    ],
)
def test_the_line_that_can_have_made_it(tmp_path, text, some, expected):
    file = tmp_path / "train.py"
    file.write_text(text + "\nuse(y)\n")
    links = origin("y", [Frame(str(file), text.count("\n") + 2)])
    made = nonfinite_first(links, some)
    assert made[0].line == expected
    assert made[-1].line == text.count("\n") + 1


def test_nothing_known_says_nothing():
    assert nonfinite_first((), some=True) == ()


TEXT = "low = np.log(x)\nr = np.power(\n    total, -1\n)\ny = r * low\n"


def first_of(tmp_path, *heard):
    """The first line of a value that two lines can have spoiled, with what numpy has said of some."""
    file = tmp_path / "train.py"
    file.write_text(TEXT + "use(y)\n")
    told = [NumericWarning("divide by zero", (Frame(str(file), line),)) for line in heard]
    return nonfinite_first(origin("y", [Frame(str(file), 6)]), False, told)[0].line


def test_the_line_that_numpy_warned_of_first_comes_before_one_that_could_have(tmp_path):
    assert first_of(tmp_path) == 2
    assert first_of(tmp_path, 1) == 1
    assert first_of(tmp_path, 3, 5) == 2
    assert first_of(tmp_path, 5) == 5
    assert first_of(tmp_path, 6) == 2


def test_a_name_beside_the_one_that_is_taken_is_not_followed(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("a = np.log(x)\nb = x / n\npair = (a, b)\nuse(pair)\n")
    assert nonfinite_first(origin("pair[1]", [Frame(str(file), 4)]), False)[0].line == 2


def test_where_no_line_of_the_way_could_have_the_only_one_that_warned_of_a_nan_comes_first(tmp_path):
    file = tmp_path / "ppo.py"
    file.write_text("x = torch.randn(4)\ny = x * 2\nuse(y)\n")
    links = origin("y", [Frame(str(file), 3)])
    far, other = Frame("filter.py", 64), Frame("plot.py", 9)
    nan = NumericWarning("invalid value encountered in divide", (far,))
    assert nonfinite_first(links, False, [NumericWarning("divide by zero", (other,)), nan])[0] == far
    assert isinstance(nonfinite_first(links, False, [nan]), GuessedLines)
    assert not isinstance(nonfinite_first(links, True, [nan]), GuessedLines)
    assert nonfinite_first(links, True, [nan])[0].line == 2
    assert nonfinite_first(links, False, [nan, NumericWarning("invalid value in log", (other,))])[0].line == 2


def test_a_number_written_into_some_elements_leaves_the_others_as_they_were(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("w = count / total\nw = torch.from_numpy(w)\nw[3] = 0\nuse(w)\n")
    assert nonfinite_first(origin("w", [Frame(str(file), 4)]), True)[0].line == 1
    other = tmp_path / "other.py"
    other.write_text("w = torch.from_numpy(w)\nw = torch.zeros(4)\nw[3] = 0\nuse(w)\n")
    assert nonfinite_first(origin("w", [Frame(str(other), 4)]), True)[0].line == 3
