"""Each check that was judged, with what came of it."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import AT, a_finding, a_trace
from debugtracer.trace.events import Found, Judged
from debugtracer.trace.nearness import Nearness
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.page.checks_panel import checks_panel


def test_a_check_has_one_state(tmp_path: Path) -> None:
    judged = Judged(
        at=AT,
        asked={"data/all-masked": 3, "numerics/nan-loss": 49},
        short={"optimizer/loss-spike": 64},
        unseen={"optimizer/lr-schedule": "a scheduler"},
    )
    rows = {
        row["check"]: row
        for row in checks_panel(open_trace(a_trace(tmp_path, judged, Found(at=AT, finding=a_finding()))))
    }
    assert {check: row["state"] for check, row in rows.items()} == {
        "data/all-masked": "silent",
        "numerics/nan-loss": "fired",
        "optimizer/loss-spike": "short",
        "optimizer/lr-schedule": "unseen",
    }
    assert (rows["numerics/nan-loss"]["fired"], rows["numerics/nan-loss"]["severity"]) == (1, "error")
    assert rows["optimizer/lr-schedule"]["lacks"] == "a scheduler"
    assert rows["optimizer/loss-spike"]["needs"] == 64


def test_how_close_a_check_came_is_that_of_the_rank_where_it_came_closest(tmp_path: Path) -> None:
    near = [
        Judged(
            at=AT, rank=rank, asked={"data/x": 1}, near={"data/x": Nearness(what="share", value=v, limit=0.5, step=s)}
        )
        for rank, v, s in ((0, 0.1, 3), (1, 0.4, 7))
    ]
    (row,) = checks_panel(open_trace(a_trace(tmp_path, *near, ranks=2)))
    assert row["near"] == {"what": "share", "value": 0.4, "limit": 0.5, "below": False, "step": 7, "share": 0.8}
    assert row["state"] == "silent"
