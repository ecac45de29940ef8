"""The whole page of a run in the output of a cell, as an anywidget: the same bundle, in a frame of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from debugtracer.errors import UsageError
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.html import Html

HEIGHT = 760  # of the frame in pixels: the verdict with its source fits
FRAME = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "debug-tracer";
  frame.sandbox = "allow-scripts"; // an origin of its own: it reaches neither the notebook nor its cookies
  frame.style.cssText = "width: 100%; border: 1px solid rgba(127, 127, 127, .35); border-radius: 8px";
  frame.style.boxSizing = "border-box";
  const draw = () => { frame.style.height = model.get("height") + "px"; frame.srcdoc = model.get("html"); };
  model.on("change:html", draw);
  draw();
  el.append(frame);
  return () => model.off("change:html", draw);
}
export default { render };
"""


def page_widget(run: Path | None, height: int = HEIGHT) -> Any:
    """Make the widget; its `refresh()` reads the run again. Raises UsageError without anywidget or without a run."""
    if run is None:
        raise UsageError("page(): nothing was trained under this watch yet; expected one backward call before it")
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise UsageError("page(): anywidget is not installed: pip install 'torch-debug-tracer[widget]'") from None

    place: Path = run

    class PageWidget(anywidget.AnyWidget):
        """The page as it was when it was made or refreshed."""

        _esm = FRAME
        html = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)

        def refresh(self) -> None:
            """Read the run again, as far as it has come."""
            self.html = page_of(place)

    return PageWidget(html=page_of(place), height=height)


def page_of(run: Path) -> str:
    """The page of a run folder as one text. Raises TraceError."""
    return Html().render(open_trace(run))
