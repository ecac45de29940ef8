"""The last notice of a run: how it ended, and what its verdict says."""

from __future__ import annotations

from pathlib import Path

from debugtracer.errors import STOPPED, guarded
from debugtracer.notify.notice import Notice
from debugtracer.notify.notices import notices
from debugtracer.settings import Settings


def tell_end(folder: Path, code: int, settings: Settings) -> None:
    """Tell how the run ended, where somebody is to be told."""
    told = notices(settings.webhook, settings.apprise, settings.notify)
    if told.channels:
        how = "was stopped by debug-tracer" if code == STOPPED else f"ended with status {code}"
        text = " - ".join([f"run {folder.name} {how}", *filter(None, [summary(folder)])])
        told.tell(Notice("error" if code else "warning", "ended", text, str(folder), last=True))


@guarded("commands.run: summary")
def summary(folder: Path) -> str:
    """The verdict of a run in one sentence; empty without one."""
    from debugtracer.trace.leading_finding import lead
    from debugtracer.trace.store.reader import open_trace
    from debugtracer.views.view import diagnosed, findings, incidents

    trace = open_trace(folder)
    told = incidents(trace)
    verdict = told[0].verdict if told else lead(findings(trace), diagnosed(trace))
    return verdict.summary if verdict is not None else ""
