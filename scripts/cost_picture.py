"""Makes the picture of what watching costs from the newest kept result of benchmarks/programs.py:
`python scripts/cost_picture.py`. A bar for each program, before and after where two commits were measured."""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from kept import newest
from stamp import ROOT

PICTURE = ROOT / "docs" / "images" / "cost.svg"
WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 800, 300, 60, 64, 11, 9
COLORS = {"before": "#8c959f", "after": "#1f6feb"}  # read on white and on black
CSS = (
    "text{font:12px system-ui,sans-serif;fill:#59636e}.name{text-anchor:end}.title{font-weight:600;font-size:14px}"
    "@media (prefers-color-scheme:dark){text{fill:#9198a1}}"
)


def series(values: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The steady ratio of each program at the first commit (`before`) and the last (`after`); only `after` of one."""
    results = list(values["results"].items())
    shown = {"after": results[-1]} if len(results) == 1 else {"before": results[0], "after": results[-1]}
    return {
        word: {name: row["steady_ratio"] for name, row in result["rows"].items() if "steady_ratio" in row}
        for word, (_, result) in shown.items()
    }


def label(values: dict[str, Any], word: str) -> str:
    """`before, e538fa3`; the commit alone where there is one."""
    commits = list(values["results"])
    return f"watched, {commits[-1]}" if len(commits) == 1 else f"{word}, {commits[0 if word == 'before' else -1]}"


def svg(values: dict[str, Any]) -> str:
    """Bars from nothing to the ratio; the line at 1 is the bare program. Dearest first."""
    found = series(values)
    names = sorted(found["after"], key=lambda name: -max(ratios.get(name, 0.0) for ratios in found.values()))
    top = max([1.0, *(ratio for ratios in found.values() for ratio in ratios.values())])
    scale = (WIDTH - LEFT - RIGHT) / top
    row = len(found) * BAR + GAP
    height = TOP + len(names) * row + 8
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<style>{CSS}</style>",
        '<text class="title" x="8" y="20">CPU time of a training program under watch, times the bare one</text>',
    ]
    at = 8
    for word in found:
        told = label(values, word)
        drawn.append(f'<rect x="{at}" y="33" width="11" height="11" rx="2" fill="{COLORS[word]}"/>')
        drawn.append(f'<text x="{at + 17}" y="43">{escape(told)}</text>')
        at += 40 + 7 * len(told)
    drawn.append(f'<text x="{at}" y="43">without start-up, one thread; the line is 1.0, bare</text>')
    for number, name in enumerate(names):
        y = TOP + number * row
        drawn.append(f'<text class="name" x="{LEFT - 8}" y="{y + row / 2}">{escape(name)}</text>')
        for place, (word, ratios) in enumerate(found.items()):
            if name in ratios:
                drawn += bar(y + place * BAR, ratios[name], scale, COLORS[word])
    line = LEFT + scale
    drawn.append(f'<line x1="{line:.1f}" y1="{TOP - 6}" x2="{line:.1f}" y2="{height - 8}" stroke="#59636e"/>')
    return "\n".join([*drawn, "</svg>", ""])


def bar(y: float, ratio: float, scale: float, color: str) -> list[str]:
    """One bar with its figure at its end."""
    width = ratio * scale
    return [
        f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR - 2}" rx="2" fill="{color}"/>',
        f'<text x="{LEFT + width + 5:.1f}" y="{y + BAR - 2}">{ratio:.2f}</text>',
    ]


def main() -> int:
    """Write the picture; status 1 and one sentence when nothing was measured."""
    try:
        kept = newest("programs-cost")
    except FileNotFoundError as error:
        print(error)
        return 1
    PICTURE.write_text(svg(kept.values))
    print(f"{PICTURE.relative_to(ROOT)} from {kept.path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
