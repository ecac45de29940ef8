"""The report as one page that can be mailed: the run to look at and to play, from file:// and without a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from debugtracer.errors import TraceError
from debugtracer.trace.store.reader import Trace
from debugtracer.views.page.document import document
from debugtracer.views.page.still_trace import StillTrace
from debugtracer.views.page.template import filled
from debugtracer.views.terminal import Terminal
from debugtracer.views.view import View


@dataclass(frozen=True)
class Html(View):
    """One self-contained file."""

    word: ClassVar[str] = "html"
    extension: ClassVar[str] = "html"

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        """The page; a run that cannot be read whole says so in it."""
        trace = StillTrace(trace)
        return filled(document(trace), plain(trace))


def plain(trace: Trace) -> str:
    """What a reader without scripts sees."""
    try:
        return Terminal().render(trace)
    except TraceError as error:
        return str(error)
