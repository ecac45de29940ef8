"""The command `debug-tracer compare`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from debugtracer.commands.app import status
from tests.browser import PHONE, WIDE, Shown, chromium
from tests.views.test_comparison import a_run


def test_each_format_says_where_two_runs_part(tmp_path: Path, capsys) -> None:
    left = a_run(tmp_path, "left", loss=[1.0, 0.5]).path
    right = a_run(tmp_path, "right", loss=[1.0, 0.75]).path
    assert status(["compare", str(left), str(right)]) == 0
    assert capsys.readouterr().out.startswith("debug-tracer: left and right part at step 1: loss 0.5 and 0.75\n")
    assert status(["compare", str(left), str(right), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "debug-tracer.compare/1"
    assert told["first"] == {"step": 1, "left": 0.5, "right": 0.75, "name": "loss"}
    page = tmp_path / "sub" / "both.html"
    assert status(["compare", str(left), str(right), "--format", "html", "-o", str(page)]) == 0
    assert capsys.readouterr().out == ""
    assert "left and right part at step 1" in page.read_text()


def test_wrong_words_and_places_are_one_sentence(tmp_path: Path, capsys) -> None:
    run = str(a_run(tmp_path, "left", loss=[1.0]).path)
    (tmp_path / "file").write_text("")
    assert status(["compare", run, run, "--format", "xlsx"]) == 2
    assert status(["compare", run, str(tmp_path / "none")]) == 2
    assert status(["compare", run, run, "-o", str(tmp_path / "file" / "x")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "there are terminal, json, html" in told[0] and "does not exist" in told[1]
    assert "cannot be written" in told[2] and len(told) == 3


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"])
def test_the_page_of_two_runs_overlays_them_asks_for_nothing_and_keeps_names_text(
    browser: Any, tmp_path: Path, size: dict[str, int], scheme: str
) -> None:
    series = {"loss": [1.0, 0.5, math.nan, 0.1], "logged/<script>层": [1.0, 2.0]}
    left = a_run(tmp_path, "left", **series).path
    right = a_run(tmp_path, "right", **series | {"loss": [1.0, 0.5, 0.3, 0.2]}).path
    page = tmp_path / "both.html"
    assert status(["compare", str(left), str(right), "--format", "html", "-o", str(page)]) == 0
    context = browser.new_context(viewport=size, color_scheme=scheme, locale="en-US")
    shown = Shown(context.new_page(), page.as_uri())
    assert shown.text("h1") == "left and right part at step 2: loss NaN and 0.3"
    assert shown.first_screen(".runs .s0")
    assert shown.text("[data-series=loss] .s0") == "NaN" and shown.text("[data-series=loss] .s1") == "0.3"
    assert shown.text("[data-series=loss] .parting") == "differs from step 2"
    assert "the same in 2 common steps" in shown.text("[data-series*=script] .parting")
    shown.page.keyboard.press("ArrowLeft")
    shown.wait_until(lambda: shown.text("[data-series=loss] .s0") == "0.5")
    assert "train.py left" in shown.text("tbody")
    assert shown.page.locator("main script").count() == 0
    assert (shown.complaints, len(shown.requests), shown.fits()) == ([], 1, True)
    assert shown.grave() == []
    context.close()
