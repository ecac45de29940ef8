"""Makes the pictures of the page in the README and in docs/page.md from a real run, by default that of the demo:
`python scripts/page_picture.py [RUN]`. Needs playwright and chromium."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from debugtracer.errors import TraceError
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.html import Html

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "images"
WIDE = {"width": 1280, "height": 830}
TALL = {"width": 1280, "height": 1200}
SCENES = {"page": "", "page-ops": "ops"}
"""Picture -> panel at the top of it; the first screen for none."""


def draw(run: Path) -> None:
    """Draw the first screen and the operator panel. Raises TraceError."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "report.html"
        file.write_text(Html().render(open_trace(run)), encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, panel in SCENES.items():
            page = browser.new_page(viewport=WIDE, locale="en-US")
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            page.wait_for_timeout(300)
            place = PICTURES / f"{name}.png"
            if panel:
                page.set_viewport_size(TALL)  # the whole panel below the bar of the page
                page.locator(f"#{panel}").screenshot(path=place)
            else:
                page.screenshot(path=place)
        browser.close()


def main(arguments: list[str]) -> int:
    """Status 1 and one sentence when there is no run to show."""
    run = Path(arguments[0]) if arguments else ROOT / "debug-tracer-runs" / "demo" / "charlm"
    try:
        draw(run)
    except TraceError as error:
        print(f"{error}; `bash scripts/demo.sh` makes the run of the picture")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
