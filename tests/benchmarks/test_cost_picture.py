"""The picture of the cost has a bar for each program and commit, and is well-formed."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from tests.faults.scoring import part

picture = part("cost_picture")


def result(**ratios: float) -> dict[str, Any]:
    return {"rows": {name: {"steady_ratio": ratio} for name, ratio in ratios.items()} | {"sac": {"error": "no env"}}}


def test_the_first_commit_is_before_and_the_last_after() -> None:
    values = {"results": {"aaaaaaa": result(ppo=6.6), "bbbbbbb": result(ppo=3.0), "ccccccc": result(ppo=1.1, vae=1.0)}}
    assert picture.series(values) == {"before": {"ppo": 6.6}, "after": {"ppo": 1.1, "vae": 1.0}}
    drawn = picture.svg(values)
    assert [text for text in ("before, aaaaaaa", "after, ccccccc", ">6.60<", ">1.10<") if text not in drawn] == []
    ElementTree.fromstring(drawn)


def test_one_commit_is_drawn_alone_and_the_dearest_is_first() -> None:
    drawn = picture.svg({"results": {"aaaaaaa": result(vae=1.2, ppo=6.6)}})
    assert "watched, aaaaaaa" in drawn
    assert drawn.index(">ppo<") < drawn.index(">vae<")
    assert drawn.count("<rect") == 3


def test_a_name_is_escaped() -> None:
    ElementTree.fromstring(picture.svg({"results": {"aaaaaaa": result(**{"a<b & c": 1.5})}}))
