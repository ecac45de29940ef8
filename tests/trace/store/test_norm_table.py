"""The norms of one step are a snapshot of which nothing else is known."""

from __future__ import annotations

import numpy as np

from debugtracer.trace.store.norm_table import NormPiece, NormTable


def a_piece(step: int, layers: list[str], l2: list[float], role: str = "weight") -> NormPiece:
    return NormPiece(step, role, layers, np.array(l2, np.float32))


def test_a_step_is_found_in_every_piece_and_the_later_number_wins() -> None:
    table = NormTable([a_piece(5, ["a", "b"], [1.0, np.inf]), a_piece(2, ["a"], [2.0]), a_piece(5, ["a"], [9.0])])
    assert table.steps == [2, 5]
    taken = table.at(5)
    assert (taken.names["layer"].texts(), taken.floats["l2"].tolist()) == (["a", "b"], [9.0, np.inf])
    assert taken.norms_alone and taken.known["l2"].all() and not taken.known["mean"].any()
    assert taken.counts["bad"].tolist() == [0, 0]


def test_more_was_measured_where_an_activation_has_a_norm() -> None:
    table = NormTable([a_piece(2, ["a"], [2.0]), a_piece(3, ["a"], [2.0]), a_piece(3, ["relu"], [1.0], "activation")])
    assert (table.glanced(2), table.glanced(3)) == (False, True)
