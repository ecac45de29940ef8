"""What is said of views that do not move their values."""

from __future__ import annotations

from debugtracer.checks.model.view_permuted import ViewPermuted
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_permuted_view import permuted


def found(**more: object) -> Finding:
    fact = permuted(**more)
    (one,) = ViewPermuted().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1}))
    return one


def test_fires_on_sizes_in_another_order():
    finding = found()
    assert "view (net.py:21) gives (32, 128, 3) the sizes (32, 3, 128), and conv1d (net.py:22)" in finding.message
    assert (finding.severity, finding.kind, finding.place.frame.line) == ("warning", "axes_mixed", 21)


def test_fires_on_joined_rows_that_are_taken_apart_as_neighbours():
    finding = found(shape=(64, 16), result=(32, 2, 16), parts=2, reader="", reader_frame=None)
    assert "takes 64 rows, joined from 2 tensors of 32 rows, apart as (32, 2)" in finding.message
    assert "Use view(2, 32, ...).transpose(0, 1)" in finding.message


def test_stays_silent_without_a_fact():
    assert not list(ViewPermuted().judge(Window(permuted().ref)))


def test_fires_on_rows_that_are_taken_apart_in_another_order():
    finding = found(shape=(20, 32), result=(4, 5, 32), flattened=(5, 4), reader="mean")
    assert "rows that were made of (5, 4), one after another, apart as (4, 5), and mean (net.py:22)" in finding.message
    assert "Use view(5, 4, -1)." in finding.message


def test_sizes_that_stacking_gives_too_are_a_note():
    finding = found(shape=(32, 64, 8), result=(32, 8, 64), reader="linear", whole=True)
    assert finding.severity == "note"
    assert "right where neighbouring rows were to be joined, or rows to be cut." in finding.message


def test_fires_on_states_of_both_directions_in_one_row():
    finding = found(shape=(2, 32, 48), result=(32, 96), reader="", reader_frame=None, layer="gru")
    assert finding.message.endswith(
        "view (net.py:21) gives the last states of gru, 2 (layers and directions) of 32 rows, the sizes (32, 96): a "
        "row of it holds states of 2 rows of the batch; expected those of one. Use h.transpose(0, 1).reshape(32, -1), "
        "or torch.cat([h[-2], h[-1]], 1)."
    )
