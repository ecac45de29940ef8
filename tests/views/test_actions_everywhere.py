"""What was done and what came of it stands in every view, every export and every record that is sent."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from debugtracer.exports.export import exports
from debugtracer.telemetry.log_records import said
from debugtracer.testing import AT, a_trace
from debugtracer.trace.events import Acted, ActionEffect
from debugtracer.trace.store.reader import Trace, open_trace
from debugtracer.views.view import views

REASON = "the loss is NaN; its update was left out, buffers and gradients are as before it"
ACTED = Acted(at=AT, rank=0, action="skip-update", iteration=12, step=12, reason=REASON, samples=(431, 110))
EFFECT = ActionEffect(at=AT, rank=0, step=12, after=20, loss_before=0.41, loss_after=0.33, bad=0, helped=True)
DONE, SAMPLES, CAME = "its update was left out", "431", "0.33"


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return open_trace(a_trace(tmp_path / "runs", ACTED, EFFECT))


def page_data(html: str) -> str:
    """What the page is drawn from."""
    packed = re.search(r'id="?data"?[^>]*>([^<]+)<', html)
    assert packed
    return gzip.decompress(base64.b64decode(packed.group(1).strip())).decode()


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("word", sorted(views()))
def test_in_every_view(trace: Trace, word: str) -> None:
    told = views()[word].render(trace)
    told = in_one_line(page_data(told) if word == "html" else told)
    assert DONE in told and SAMPLES in told and CAME in told, told[:4000]


def test_in_the_marks_of_the_page(trace: Trace) -> None:
    told = json.loads(page_data(views()["html"].render(trace)))
    marks = {(mark["step"], mark["name"]): mark["text"] for mark in told["marks"] if mark["kind"] == "action"}
    assert marks[12, "skip-update"].startswith(REASON)
    assert "of the action at step 12: 20 steps later the loss is 0.33 (0.41 before it)" in marks[32, "effect"]


@pytest.mark.parametrize("word", sorted(exports()))
def test_in_every_export(trace: Trace, word: str, tmp_path: Path) -> None:
    pytest.importorskip({"csv": "csv", "perfetto": "json"}.get(word, word))
    folder = tmp_path / "out"
    folder.mkdir()
    exports()[word].write(trace, folder)
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode(errors="replace")
    assert DONE in written and CAME in written


def test_in_what_is_sent() -> None:
    assert [one[1] for event in (ACTED, EFFECT) if (one := said(event)) is not None] == ["action", "effect"]
