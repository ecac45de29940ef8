"""The page in a cell: the widget's own module, run in a real browser, shows the same page in a frame of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

import debugtracer
from debugtracer.errors import UsageError
from debugtracer.integrations.page_widget import page_widget
from debugtracer.testing import a_trace
from tests.browser import chromium
from tests.extras import needs

HOST = """<div id=cell></div><script type=module>
const state = STATE, heard = {};
const model = { get: (name) => state[name], on: (name, call) => { heard[name] = call; }, off: () => {} };
const module = await import(URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" })));
module.default.render({ model, el: document.getElementById("cell") });
</script>"""


def trained(tmp_path: Path) -> debugtracer.integrations.notebook.NotebookWatch:
    """A watch under which one step was trained."""
    with debugtracer.watch(out=tmp_path) as watch:
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(2, 4)).mean().backward()
        optimizer.step()
    return watch


def test_without_the_package_or_a_run_one_sentence_says_so(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(UsageError, match="nothing was trained"):
        page_widget(None)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(UsageError, match=r"pip install 'torch-debug-tracer\[widget\]'"):
        page_widget(a_trace(tmp_path))


def test_the_cell_shows_the_page_of_the_run_in_a_frame_of_its_own(tmp_path: Path) -> None:
    needs("anywidget")
    import msgspec

    widget = trained(tmp_path).page(height=500)
    state = {name: value for name, value in widget.get_state().items() if isinstance(value, str | int)}
    told = msgspec.json.encode(state).decode().replace("</", "<\\/")
    (tmp_path / "cell.html").write_text(HOST.replace("STATE", told), encoding="utf-8")
    with chromium() as browser:
        cell = browser.new_page()
        complaints: list[str] = []
        cell.on("pageerror", lambda error: complaints.append(str(error)))
        cell.goto((tmp_path / "cell.html").as_uri())
        frame = cell.frame_locator("iframe[title=debug-tracer]")
        frame.locator("h1").wait_for(timeout=60_000)
        assert "every loss, gradient and update was finite" in frame.locator("h1").inner_text()
        frame.locator("body").press("ArrowLeft")
        cell.wait_for_timeout(400)  # the address is written when the scrub has come to rest
        assert complaints == []
        assert cell.locator("iframe").bounding_box()["height"] == pytest.approx(500, abs=3)
    before = widget.html
    widget.refresh()
    assert len(widget.html) == pytest.approx(len(before), rel=0.05)
