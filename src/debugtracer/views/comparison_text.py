"""Two runs side by side as text: where they part first, then their verdicts, then what was set differently."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.counted import counted
from debugtracer.views.comparison import NAMES
from debugtracer.views.terminal import TerminalPage
from debugtracer.views.view import Row


def render_comparison(told: dict[str, Any], *, color: bool = False, width: int = 80) -> str:
    """The comparison as text, ending in a newline."""
    page = TerminalPage(color, width)
    page.console.print(f"debug-tracer: {told['headline']}", style="bold", soft_wrap=True)
    for row in told["runs"]:
        place = f" ({row['place']})" if row.get("place") else ""
        page.rows([(row["id"], f"{row.get('line', '')}{place}", "")])
    page.console.print()
    rows: list[Row] = [(NAMES.get(row["name"], row["name"]), parts(row), "") for row in told["series"] if row["shared"]]
    if rows:
        page.rows(rows, label_width=3 + max(len(name) for name, _, _ in rows))
        page.console.print()
    if told["settings"]:
        page.rows([("set", f"{counted(len(told['settings']), 'difference')}; {told['same']} are the same", "")])
        wide = 3 + max(len(row["name"]) for row in told["settings"])
        for row in told["settings"]:
            page.rows([(row["name"], row["left"] or "-", ""), ("", row["right"] or "-", "")], label_width=wide)
    else:
        page.rows([("set", f"no difference in the {told['same']} settings that are known", "")])
    page.rows([("unread", problem, "dim") for problem in told["problems"]])
    return page.text()


def parts(row: dict[str, Any]) -> str:
    """Format where one line parts."""
    first, apart = row["first"], row["apart"]
    if first is None:
        return f"the same in {counted(row['shared'], 'common step')}"
    text = f"differs from step {first['step']} ({first['left']} and {first['right']})"
    if apart is None:
        return f"{text}, never by more than 1 %"
    return text if apart["step"] == first["step"] else f"{text}, by more than 1 % from step {apart['step']}"
