"""Makes the picture of a verdict in the README from a real run: `python scripts/picture.py [RUN]`, by default that of
the demo."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from debugtracer.errors import TraceError
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.view import views

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "verdict.svg"
BEGIN, END = "<!-- picture:begin -->", "<!-- picture:end -->"
WIDTH = 100
AFTER = re.compile(r"\n\x1b\[1m(?:Further findings|Findings|What debug-tracer did|Layers)")


def svg(run: Path) -> str:
    """The terminal's verdict of a run as SVG, down to where to look closer; it loads no font from the network. Raises
    TraceError."""
    told = AFTER.split(views()["terminal"].render(open_trace(run), color=True, width=WIDTH))[0]
    console = Console(record=True, width=WIDTH + 4, file=io.StringIO())
    console.print(Text.from_ansi(told))
    drawn = console.export_svg(title=f"debug-tracer run demo/{run.name}.py", unique_id="verdict")
    return re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)


def show() -> None:
    """Put the picture between its marks in the README."""
    page = ROOT / "README.md"
    text = page.read_text()
    image = f"![The verdict of a real run of the demo]({PICTURE.relative_to(ROOT)})"
    page.write_text(text[: text.index(BEGIN)] + f"{BEGIN}\n{image}\n" + text[text.index(END) :])


def main(arguments: list[str]) -> int:
    """Status 1 and one sentence when there is no run to show."""
    run = Path(arguments[0]) if arguments else ROOT / "debug-tracer-runs" / "demo" / "charlm"
    try:
        drawn = svg(run)
    except TraceError as error:
        print(f"{error}; `bash scripts/demo.sh` makes the run of the picture")
        return 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(drawn)
    show()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
