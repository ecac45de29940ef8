"""Lines whose value goes to people alone."""

from __future__ import annotations

from debugtracer.callsites.origins.told_line import only_told
from debugtracer.callsites.origins.value_origin import tree_of
from debugtracer.trace.birth import Frame

SOURCE = """\
def mean(kind):
    return np.mean(scores[kind])
def scaled(x):
    return x / x.std()
print(mean("train"), mean("val"))
late = np.mean(scores)
print(late)
kept = np.log(x)
print(kept)
use(kept)
use(scaled(x))
"""


def test_what_is_printed_or_returned_to_a_print_is_only_told(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(SOURCE)
    tree_of.cache_clear()
    assert [line for line in (2, 4, 6, 8) if only_told(Frame(str(file), line))] == [2, 6]
    assert not only_told(Frame(str(tmp_path / "gone.py"), 1))
