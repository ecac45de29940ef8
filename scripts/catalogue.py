"""Writes what is generated about checks, causes and faults: docs/checks/ and docs/causes/ (a page each, an index by
layer), docs/gallery.md.

python scripts/catalogue.py --write      makes them
python scripts/catalogue.py --check      status 1 and the names of those that are stale
python scripts/catalogue.py --verdicts [NAME,NAME]   keeps what is said of the faults that docs/verdicts.json lacks, \
or of those named
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from debugtracer.causes.cause import Cause, causes
from debugtracer.causes.page import Page as CausePage
from debugtracer.causes.page import page_of as page_of_cause
from debugtracer.causes.page import title_of
from debugtracer.checks.check import Check, checks
from debugtracer.checks.page import Option, Page, page_of
from debugtracer.trace.finding import Layer

ROOT = Path(__file__).resolve().parent.parent
DOCS, FAULTS = ROOT / "docs", ROOT / "faults"
FOLDER, CAUSES, GALLERY, VERDICTS = DOCS / "checks", DOCS / "causes", DOCS / "gallery.md", DOCS / "verdicts.json"
QUESTIONS = {
    "data": "What goes in: inputs, labels, masks, loaders, tokenizers.",
    "model": "What computes: wiring, activations, gradients per layer, modes.",
    "optimizer": "What moves: order of the calls, updates, schedules, and the shape of the loss curve.",
    "device": "Where it runs: ranks, memory, syncs, reproducibility.",
    "numerics": "The numbers themselves: finite, in range, in a dtype that can hold them.",
    "logging": "What you are shown: whether the log tells the truth.",
    "rollback": "What you return to: checkpoints and resumed state.",
}
SYMPTOMS = {
    "nan_loss": "The loss becomes NaN or infinite.",
    "inf_grad": "A gradient becomes NaN or infinite while the loss is finite.",
    "nan_output": "The model answers NaN in evaluation.",
    "loss_spike": "The loss jumps or grows.",
    "no_learning": "The loss does not fall.",
    "crash": "The program dies of an exception.",
    "silent": "The loss looks plausible, the result is wrong.",
    "none": "It is right, and slow.",
}
# a file is known by its name; its folder was another each time
TEMPORARY = re.compile(re.escape(tempfile.gettempdir()) + r"/(?:[^\s/,;:]+/)*(?=[^\s/,;:])")
GRAVE = ("error", "warning", "note")
MADE = "<!-- made by `python scripts/catalogue.py --write`; edit the docstring of the check instead -->"


def wanted() -> dict[Path, str]:
    """Every generated file with its text."""
    known = checks()
    pages = {
        FOLDER / f"{slug.replace('-', '_')}.md": as_markdown(check, page_of(check)) for slug, check in known.items()
    }
    return {**pages, FOLDER / "README.md": index(known), **pages_of_causes(causes()), GALLERY: gallery(known)}


def pages_of_causes(known: dict[str, Cause]) -> dict[Path, str]:
    """docs/causes/: every cause, and an index by layer."""
    pages = {
        CAUSES / f"{slug.replace('-', '_')}.md": cause_as_markdown(page_of_cause(cause))
        for slug, cause in known.items()
    }
    return {**pages, CAUSES / "README.md": index_of_causes(known)}


def cause_as_markdown(page: CausePage) -> str:
    """The page of one cause."""
    lines = [
        MADE.replace("check", "cause"),
        "",
        f"# {page.slug}",
        "",
        plain(page.title),
        "",
        f"Class {link_to_class(page.kind, '../')}, {page.layer} layer.",
        "",
    ]
    for heading, body in page.rows.items():
        alone = len(body) == 1 and heading.startswith("What it")
        lines += [f"## {heading}", "", *([plain(body[0])] if alone else [f"- {linked(line)}" for line in body]), ""]
    lines += [f"[All causes](README.md) · [source](../../src/debugtracer/causes/{page.slug.replace('-', '_')}.py)"]
    return "\n".join(lines) + "\n"


def linked(line: str) -> str:
    """The slug of a check as a link to its page; other text as it is."""
    return f"[{line}](../checks/{line.replace('-', '_')}.md)" if line in checks() else plain(line)


def index_of_causes(known: dict[str, Cause]) -> str:
    """docs/causes/README.md: every cause by layer."""
    lines = [MADE.replace("check", "cause"), "", "# The causes", ""]
    lines += [
        f"{len(known)} causes in seven layers. `debug-tracer causes NAME` shows the same page in the terminal.",
        "",
    ]
    for layer in get_args(Layer):
        mine = {slug: cause for slug, cause in known.items() if cause.layer == layer}
        lines += [f"## {layer}", "", "| cause | what is wrong | proved when this heals the step |", "|---|---|---|"]
        lines += [
            f"| [{s}]({s.replace('-', '_')}.md) | {plain(title_of(cause))} | {', '.join(cause.proved_by)} |"
            for s, cause in mine.items()
        ] + [""]
    return "\n".join(lines).rstrip() + "\n"


def as_markdown(check: Check, page: Page) -> str:
    """The page of one check."""
    lines = [MADE, "", f"# {page.slug}", "", page.title, ""]
    for heading, body in page.sections.items():
        lines += [f"## {heading}", "", *(["```", body, "```"] if heading == "Example" else [plain(body)]), ""]
    if page.options:
        lines += [
            "## Options",
            "",
            "| option | default | type | unit, meaning, source |",
            "|---|---|---|---|",
            *map(row, page.options),
            "",
        ]
        lines += [
            (
                "`debug-tracer report RUN --recheck --option "
                f"{page.slug.split('/')[1]}.{page.options[0].name}={page.options[0].default}`"
            ),
            "",
        ]
    lines += [
        "## Facts",
        "",
        *facts(page),
        "",
        f"[All checks](../README.md) · [source](../../../src/debugtracer/checks/{page.slug.replace('-', '_')}.py)",
    ]
    return "\n".join(lines) + "\n"


def facts(page: Page) -> Iterator[str]:
    """What it reads, how sure it is, what it names, what proves it."""
    reads = "; ".join(
        f"`{need.partition(': ')[0]}`" + (f" ({need.partition(': ')[2].rstrip('.')})" if ": " in need else "")
        for need in page.reads
    )
    yield f"- Reads: {plain(reads)}"
    yield f"- Certainty: {page.certainty}"
    if page.kind:
        yield f"- Class: {link_to_class(page.kind)}"
    if page.remedies:
        yield "- Remedies: " + "; ".join(map(plain, page.remedies))
    if page.suspects:
        yield "- Suspects: " + ", ".join(link_to_class(slug.replace("-", "_")) for slug in page.suspects)
    if (FAULTS / page.proved_by / "train.py").is_file():
        yield f"- Proved by the planted fault [{page.proved_by}](../../../faults/{page.proved_by}/train.py)"
    if page.unproved:
        yield f"- Not proved by a planted fault: {page.unproved}"


def link_to_class(kind: str, up: str = "../../") -> str:
    """A class of fault, as a link when the gallery has it; `up` leads from the page to docs/."""
    return f"[{kind}]({up}gallery.md#{kind})" if kind in {truth["class"] for _, truth in truths()} else kind


def row(option: Option) -> str:
    """One line of the table of options."""
    return (
        f"| `{option.name}` | {option.default or '(none)'} | {option.kind.replace('|', 'or')} | "
        f"{plain(option.about).replace('|', chr(92) + '|')} |"
    )


def plain(text: str) -> str:
    """Text that Markdown leaves as it is: angle brackets and stars outside of code are escaped."""
    parts = text.split("`")
    return "`".join(part if i % 2 else part.replace("<", "\\<").replace("*", "\\*") for i, part in enumerate(parts))


def index(known: dict[str, Check]) -> str:
    """docs/checks/README.md: every check by layer."""
    lines = [
        MADE,
        "",
        "# The checks",
        "",
        f"{len(known)} checks in seven layers. `debug-tracer checks NAME` shows the same page in the terminal.",
        "",
    ]
    for layer in get_args(Layer):
        mine = {slug: check for slug, check in known.items() if check.layer == layer}
        lines += [f"## {layer}", "", QUESTIONS[layer], ""]
        if mine:
            lines += ["| check | what is wrong | sure | class |", "|---|---|---|---|"]
            lines += [entry(slug, check) for slug, check in mine.items()] + [""]
    return "\n".join(lines).rstrip() + "\n"


def entry(slug: str, check: Check) -> str:
    """One line of the index."""
    page = page_of(check)
    sure = "exact" if check.exact else "guess" if check.kind else "symptom"
    return (
        f"| [{slug.split('/')[1]}]({slug.replace('-', '_')}.md) | {plain(page.title)} | {sure} | {check.kind or '-'} |"
    )


def truths() -> list[tuple[str, dict[str, Any]]]:
    """Every planted fault with its known answer."""
    return [
        (f"{p.parent.parent.name}/{p.parent.name}", json.loads(p.read_text()))
        for p in sorted(FAULTS.glob("*/*/truth.json"))
    ]


def gallery(known: dict[str, Check]) -> str:
    """docs/gallery.md: classes of faults by symptom, each with its planted examples and what was said about them."""
    classes: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for name, truth in truths():
        classes[truth["class"]].append((name, truth))
    lines = [
        MADE.replace("docstring of the check", "truth.json of the fault"),
        "",
        "# Gallery: you see this, it is this, do this",
        "",
        contents(classes),
    ]
    verdicts = said()
    for kind in sorted(classes, key=lambda kind: (place(classes[kind]), kind)):
        lines += [f"## {kind}", "", *section(kind, classes[kind], known, verdicts)]
    return "\n".join(lines).rstrip() + "\n"


def place(faults: list[tuple[str, dict[str, Any]]]) -> int:
    """Order of a class: by its first symptom."""
    return min(
        list(SYMPTOMS).index(truth["symptom"]) if truth["symptom"] in SYMPTOMS else len(SYMPTOMS) for _, truth in faults
    )


def contents(classes: dict[str, list[tuple[str, dict[str, Any]]]]) -> str:
    """What you see, and the classes it can be."""
    lines = ["| you see | it can be |", "|---|---|"]
    for symptom, told in SYMPTOMS.items():
        kinds = sorted(
            kind for kind, faults in classes.items() if any(truth["symptom"] == symptom for _, truth in faults)
        )
        if kinds:
            lines.append(f"| {told} | {', '.join(f'[{kind}](#{kind})' for kind in kinds)} |")
    return "\n".join([*lines, ""])


def section(
    kind: str, faults: list[tuple[str, dict[str, Any]]], known: dict[str, Check], verdicts: dict[str, str]
) -> Iterator[str]:
    """One class: its checks, then each planted fault."""
    proving = sorted(
        {slug for slug, check in known.items() if check.kind == kind or check.proved_by in {name for name, _ in faults}}
    )
    if proving:
        yield "Checks: " + ", ".join(f"[{slug}](checks/{slug.replace('-', '_')}.md)" for slug in proving)
        yield ""
    for name, truth in faults:
        symptom, link = SYMPTOMS.get(truth["symptom"], truth["symptom"]), f"[{name}](../faults/{name}/train.py)"
        yield f"- **{symptom}** {plain(truth['cause'])} **Fix:** {plain(truth['fix'])} ({link})"
        if name in verdicts:
            yield f"  > {plain(verdicts[name])}"
    yield ""


def said() -> dict[str, str]:
    """What debug-tracer said of each planted fault when it was last watched."""
    told: dict[str, str] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    return told


def watch(names: list[str]) -> None:
    """Run planted faults under watch and keep the summary of each verdict."""
    told = said()
    there = dict(truths())
    told = {name: text for name, text in told.items() if name in there}
    for name in names or [name for name in there if name not in told]:
        with tempfile.TemporaryDirectory() as folder:
            told.pop(name, None)
            text = summary(name, Path(folder))
            if text:
                told[name] = text
            print(f"{name}: {text or 'nothing was said'}", flush=True)
        VERDICTS.write_text(json.dumps(dict(sorted(told.items())), indent=1, ensure_ascii=False) + "\n")


def summary(name: str, folder: Path) -> str | None:
    """What was said of one planted fault, paths shortened; None if nothing was."""
    tool = [sys.executable, "-m", "debugtracer"]
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        subprocess.run(
            [*tool, "run", "--out", str(folder), "train.py"],
            cwd=FAULTS / name,
            env=environ,
            capture_output=True,
            check=False,
            timeout=180,
        )
    except subprocess.TimeoutExpired:
        return None
    done = subprocess.run(
        [*tool, "report", str(folder), "--format", "json"], capture_output=True, text=True, check=False
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return None
    text = sentence(report, dict(truths())[name])
    return TEMPORARY.sub("", text) if text else None


def sentence(report: dict[str, Any], truth: dict[str, Any]) -> str | None:
    """The verdict or the finding that names the fault itself; where nothing names it the verdict, but no finding of
    another fault."""
    grave = sorted(report["findings"], key=lambda finding: GRAVE.index(finding["severity"]))
    verdict = report["verdict"]
    noted = [finding["message"] for finding in grave if finding["check"] == truth.get("note")]
    right = [verdict["summary"]] if verdict and verdict["class"] == truth["class"] else []
    named = [finding["message"] for finding in grave if finding["kind"] == truth["class"]]
    return next(iter([*noted, *right, *named, *([verdict["summary"]] if verdict else [])]), None)


def main() -> int:
    """Write, check or watch; the status is 1 when something is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument(
        "--verdicts",
        nargs="?",
        const="",
        help="faults to watch, separated by commas; those without a verdict when left out",
    )
    args = parser.parse_args()
    if args.verdicts is not None:
        watch([name for name in args.verdicts.split(",") if name])
    texts = wanted()
    gone = [path for folder in (FOLDER, CAUSES) for path in folder.rglob("*.md") if path not in texts]
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if args.write:
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path])
        for path in gone:
            path.unlink()
        return 0
    for path in [*stale, *gone]:
        print(
            f"{path.relative_to(ROOT)} - is stale - expected what the docstrings and truth files say - run `python "
            "scripts/catalogue.py --write`"
        )
    return int(args.check and bool(stale or gone))


if __name__ == "__main__":
    sys.exit(main())
