"""The card of a verdict in a notebook."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec

from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.step import StepRef
from debugtracer.trace.verdict import Change, Verdict
from debugtracer.views.card import status_card, told_card, verdict_card

FRAME = Frame("In[3]", 7, "Net.forward", "return self.body(x) + torch.log(x)")
FACTS = IncidentFacts(
    ref=StepRef(iteration=4, step=4),
    symptom="nan_loss",
    loss="NaN",
    birth=Birth(op="aten::log", direction="forward", kind="domain", frames=(FRAME,)),
)
VERDICT = Verdict(
    kind="log_domain", cause="log-domain", symptom="nan_loss", layer="numerics", iteration=4, step=4, module="",
    op="aten::log", direction="forward", file="In[3]", line=7, batch_rows=(2,), sample_index=(37,), status="confirmed",
    confidence=0.97,
    summary="step 4, rank 0: the loss is not finite because log takes the logarithm of 0, which is -inf; edit In[3]:7",
    remedy=("clamp the argument", "look at the rows"),
)  # fmt: skip
ALLOWED = {"div", "span", "details", "summary", "pre"}


class Reader(HTMLParser):
    """Elements, attributes and text of a card; an element that is not closed fails."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.elements.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def test_the_first_lines_say_what_where_which_sample_and_what_to_do():
    shown = Reader(verdict_card(FACTS, VERDICT, Path("/runs/a"), None)).text.partition("what was seen, what was tried")[
        0
    ]
    assert shown.split("\n")[:1] == ["debug-tracer: the loss is not finite at step 4, rank 0"]
    for told in (
        "log takes the logarithm of 0",
        "cell In[3], line 7 in Net.forward",
        "return self.body(x) + torch.log(x)",
        "dataset index 37",
        "clamp the argument",
    ):
        assert told in shown
    assert "look at the rows" not in shown, "the first remedy is enough; the rest is folded away"


def test_a_change_of_a_line_is_shown_as_a_small_diff():
    edit = Change(file="In[3]", line=7, before="y = torch.log(x)", after=("y = torch.log(x.clamp_min(1e-6))",))
    shown = Reader(
        verdict_card(FACTS, msgspec.structs.replace(VERDICT, change=edit, tested="loss 2.3"), Path("/runs/a"), None)
    ).text
    assert (
        "change cell In[3], line 7\n- y = torch.log(x)\n+ y = torch.log(x.clamp_min(1e-6))\ntried on this step loss 2.3"
        in shown
    )


def test_nothing_of_the_program_becomes_html_and_nothing_comes_from_elsewhere():
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&</pre></div>"
    frame = Frame(f"/tmp/{evil}.py", 7, evil, evil)
    facts = msgspec.structs.replace(FACTS, note=evil, birth=msgspec.structs.replace(FACTS.birth, frames=(frame,)))
    edit = Change(file=frame.file, line=7, before=evil, after=(evil,))
    verdict = msgspec.structs.replace(
        VERDICT,
        file=frame.file,
        module=evil,
        op=evil,
        summary=f"s because {evil}",
        remedy=(evil,),
        tested=evil,
        param=evil,
    )
    pages = [
        verdict_card(facts, v, Path(f"/{evil}"), Path(f"/{evil}"))
        for v in (verdict, msgspec.structs.replace(verdict, change=edit))
    ]
    for page in [*pages, told_card(verdict), status_card(evil, [(evil, evil, evil)], True)]:
        read = Reader(page)
        assert set(read.elements) <= ALLOWED and {name for name, _ in read.attributes} == {"style"}
        assert not any(re.search(r"url\(|@import|expression|http", value or "") for _, value in read.attributes)
        assert "<script>alert(1)</script>" in read.text, "it is shown as it is written"


def test_text_has_the_colour_of_the_notebook_in_light_and_dark():
    page = verdict_card(FACTS, VERDICT, Path("/runs/a"), None)
    colours = set(re.findall(r"(?<!-)color:([^;\"]+)", page))
    assert colours == {"inherit", "#d1453b"} and set(re.findall(r"background:([^;\"]+)", page)) == {
        "transparent",
        "rgba(127,127,127,.14)",
    }
    for ground in ("#ffffff", "#111111", "#1e1e1e"):
        for colour in ("#d1453b", "#2f9e5b"):
            assert contrast(colour, ground) >= 3


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours."""

    def light(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_verdict_alone_is_shown_without_the_facts_of_its_run():
    shown = Reader(told_card(VERDICT)).text
    assert (
        "the loss is not finite at step 4, rank 0" in shown
        and "cell In[3], line 7" in shown
        and "dataset index 37" in shown
    )
