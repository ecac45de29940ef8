"""The page's document: every panel of one run as plain values. One damaged panel costs no other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from debugtracer.errors import DebugTracerError
from debugtracer.trace.leading_finding import lead
from debugtracer.trace.store.reader import Trace
from debugtracer.views.json_report import finite, report
from debugtracer.views.markdown import Markdown
from debugtracer.views.page.checks_panel import checks_panel
from debugtracer.views.page.layers_panel import layers_panel
from debugtracer.views.page.ops_panel import ops_panel
from debugtracer.views.page.ranks_panel import ranks_panel
from debugtracer.views.page.series_panel import marks, series_panel
from debugtracer.views.page.verdict_panel import verdict_panel
from debugtracer.views.view import diagnosed, findings, incidents

SCHEMA = "debug-tracer.page/1"


def document(trace: Trace, kept: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """Every panel by name. What cannot be read is said in `problems`; never raises for a damaged file.

    The panels ask for the events again and again: a `StillTrace` reads them once. Panels in `kept` are taken as they
    are."""
    problems: dict[str, list[str]] = {}  # what could not be read, and the panels that it is missing in

    def part(name: str, make: Callable[[], Any], instead: Any) -> Any:
        if name in kept:
            return kept[name]
        try:
            return make() if name == "series" else finite(make())  # the points are words already where none is finite
        except (DebugTracerError, OSError, ValueError, KeyError, TypeError, msgspec.MsgspecError) as error:
            problems.setdefault(str(error), []).append(name)
            return instead

    rank, focus = part("place", lambda: list(place(trace)), [0, None])
    page = {
        "schema": SCHEMA,
        "id": trace.path.name,
        "written_at": round(time.time()),
        "rank": rank,
        "focus": focus,
        "run": part("run", lambda: report(trace)["run"], {}),
        "manifest": part("run.json", lambda: msgspec.to_builtins(trace.manifest), {}),
        "head": part("verdict", lambda: verdict_panel(trace), None),
        "markdown": part("markdown", lambda: Markdown().render(trace), ""),
        "series": part("series", lambda: series_panel(trace, rank, focus), []),
        "marks": part("marks", lambda: marks(trace), []),
        "layers": part("layers", lambda: layers_panel(trace, rank, focus), {"steps": [], "maps": []}),
        "ops": part("ops", lambda: ops_panel(trace), {"why": "damaged", "text": ""}),
        "checks": part("checks", lambda: checks_panel(trace), []),
        "ranks": part("ranks", lambda: ranks_panel(trace), []),
    }
    told = [f"{', '.join(names)}: {error}" for error, names in problems.items()]
    return page | {"problems": told + [one for one in dict.fromkeys(trace.problems) if one not in problems]}


def place(trace: Trace) -> tuple[int, int | None]:
    """The rank and step that the page opens at: those of the verdict; None for a step where nothing was found."""
    told = incidents(trace)
    if told:
        return told[0].facts.ref.rank, told[0].facts.ref.step
    verdict = lead(findings(trace), diagnosed(trace))
    if verdict is not None:
        return verdict.rank, verdict.step
    return (trace.ranks or [0])[0], None
