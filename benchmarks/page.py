"""How large the page is and how fast it opens and answers: a planted fault, and made-up runs of 100,000 and 1,000,000
steps and 500 layers, one of 300 steps and 10,000 modules, one of 1,000 ranks.

    python -m benchmarks.page RUN [--steps 100000 1000000] [--layers 500]

RUN is an ordinary run folder. Writes benchmarks/results/DATE-page.json. Needs playwright and chromium. The work of a
scrub is timed from the input event to the end of its layout, and once more to the second frame after it, when all has
been painted; both again with the layers and with the model in view. A redraw of the map is timed like the work. `live`
is a first open by `debug-tracer ui`, warm: until the page is made, and until its layers follow.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from debugtracer.observers.numerics import glance
from debugtracer.server.app import page_answer
from debugtracer.server.run_feed import RunFeed
from debugtracer.testing import a_trace, an_incident, some_facts
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import to_plain
from debugtracer.trace.facts.health import Health, TensorHealth
from debugtracer.trace.facts.layer_norms import LayerNorms
from debugtracer.trace.facts.memory import Memory
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.journal import encode_event
from debugtracer.trace.store.layer_log import LayerLog
from debugtracer.trace.store.norm_log import NormLog
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.series.blocks import series_rows
from debugtracer.trace.store.series.seal import write_series
from debugtracer.views.html import Html
from debugtracer.views.page.template import template

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

RESULTS = Path(__file__).parent / "results"
NAMES = ("grad_l2", "loss", "lr", "param_l2", "step_s", "wait_s", "own_s", "scale")
FEW, MANY = 300, 10_000
RANKS = 1000
DENSE = 200  # steps with norms until only every second is: as the observer keeps them of 500 layers
SCRUB = """async () => {
  const bar = document.querySelector('input[type=range]'), last = Number(bar.max), times = [], frames = [];
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let n = 0; n < 40; n++) {
    await painted();
    bar.value = String(Math.floor((last * ((n * 7) % 40)) / 40));
    const begin = performance.now();
    bar.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => setTimeout(done));
    document.body.getBoundingClientRect();  // style and layout done
    times.push(performance.now() - begin);
    await painted();
    frames.push(performance.now() - begin);
  }
  return [times, frames];
}"""
REDRAW = """async () => {
  const buttons = [...document.querySelectorAll('PANEL .pick button')].slice(0, 3), times = [];
  for (let n = 0; n < 12; n++) {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const begin = performance.now();
    buttons[n % buttons.length].click();
    await new Promise((done) => setTimeout(done));
    document.body.getBoundingClientRect();
    times.push(performance.now() - begin);
  }
  return times;
}"""


def make(folder: Path, steps: int, layers: int) -> Path:
    """A run with eight series and a snapshot of three tensors a layer, as often as a real run of this length keeps
    one."""
    run = a_trace(folder, exit_code=0, stopped=False)
    generator = np.random.default_rng(0)
    axis = np.arange(steps)
    tables = [series_rows(name, axis, generator.random(steps, dtype=np.float32)) for name in NAMES]
    write_series(run / "rank=0" / "series-000009.parquet", pa.concat_tables(tables))
    columns = LayerLog(run / "rank=0")
    with (run / "rank=0" / "events.jsonl").open("ab") as events:
        for step in snapshot_steps(steps):
            rows = [
                TensorHealth(
                    name=f"layers.{layer}.weight", role=role, shape=(512, 512), dtype="float32", sampled=4096,
                    mean=0.0, std=1.0, low=-3.0, high=3.0, l2=float(generator.lognormal()), zero_share=0.0,
                    bins=tuple(generator.integers(0, 400, 42).tolist()),
                )
                for layer in range(layers)
                for role in ("weight", "gradient", "activation")
            ]  # fmt: skip
            fact = Health(ref=StepRef(iteration=step, step=step), tensors=tuple(rows))
            columns.append(fact)
            events.write(encode_event(Observed(at=time.time(), word=fact.word(), fact=to_plain(fact))) + b"\n")
        for step in (*range(0, min(steps, 1000), 10), *range(1000, steps, 100)):
            memory = Memory(
                ref=StepRef(iteration=step, step=step),
                resident=400_000_000 + 7 * step, allocated=None, reserved=None, total=None,
            )  # fmt: skip
            events.write(encode_event(Observed(at=time.time(), word=memory.word(), fact=to_plain(memory))) + b"\n")
    columns.close()
    norms = NormLog(run / "rank=0")
    names = tuple(f"layers.{layer}.weight" for layer in range(layers))
    for roles, kept in {
        ("gradient", "weight"): norm_steps(steps, DENSE, 1),
        ("activation", "update"): norm_steps(steps, glance.DENSE, glance.EVERY),
    }.items():
        for first in range(0, len(kept) if layers <= 2000 else 0, 64):
            some = tuple(kept[first : first + 64])
            for role in roles:
                values = tuple(map(tuple, generator.lognormal(size=(len(some), layers)).tolist()))
                ref = StepRef(iteration=some[-1], step=some[-1])
                norms.append(LayerNorms(ref=ref, role=role, names=names, steps=some, values=values))  # type: ignore[arg-type]
    norms.close()
    return run


def norm_steps(steps: int, dense: int, pace: int) -> list[int]:
    """The steps whose norms are written: every `pace`-th until there are `dense`, then every second of them as often,
    and so on."""
    kept: list[int] = []
    while not kept or kept[-1] < steps:
        every = pace << (len(kept) // dense)
        kept.append(kept[-1] - kept[-1] % every + every if kept else 0)
    return kept[:-1]


def many_ranks(folder: Path) -> Path:
    """A run of RANKS ranks of 40 steps, of which one has a bad loss."""
    bad = an_incident(some_facts(step=30, rank=RANKS // 3), None, None)
    return a_trace(folder, bad, ranks=RANKS)


def live(run: Path) -> dict[str, dict[str, float]]:
    """Seconds until the server has made the page of a run that nobody has opened yet, and until its layers follow."""
    opened, followed, busy = [], [], []
    for _ in range(6):
        feed = RunFeed(run)
        begin, used = time.perf_counter(), time.process_time()
        page, text = feed.page()
        page_answer(page, text)
        made = time.perf_counter()
        busy.append(time.process_time() - used)
        feed.look()
        opened.append(made - begin)
        followed.append(time.perf_counter() - begin)
    told = {"open_s": opened, "open_cpu_s": busy, "layers_s": followed}  # on a busy machine the second is the truth
    return {name: spread(values[1:], 3) for name, values in told.items()}  # the first one imports


def snapshot_steps(steps: int) -> list[int]:
    """The steps whose snapshots are written: of a fact that keeps changing the first 32, then 16 for each doubling."""
    every = [0, 1, 2, *range(100, steps, 100)]
    kept, span = every[:32], 32
    while span < len(every):
        kept += every[span : 2 * span][:: max(1, span // 16)]
        span *= 2
    return kept


def measured(browser: Any, run: Path, folder: Path) -> dict[str, Any]:
    """Sizes in bytes, times in milliseconds, of the page of one run."""
    begin = time.perf_counter()
    page_text = Html().render(open_trace(run))
    render_s = time.perf_counter() - begin
    file = folder / "report.html"
    file.write_text(page_text, encoding="utf-8")
    opened = []
    for _ in range(5):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        begin = time.perf_counter()
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=60_000)
        opened.append(1000 * (time.perf_counter() - begin))
    work, frames = page.evaluate(SCRUB)
    in_view = {}
    for panel in ("#layers", "#model"):  # a panel out of view rests while a step is chosen
        if page.locator(f"{panel} .pick button").count():
            page.evaluate("it => document.querySelector(it).scrollIntoView({ behavior: 'instant' })", panel)
            page.wait_for_timeout(300)
            in_view[panel[1:]] = [spread(values) for values in page.evaluate(SCRUB)]
    redraws = {
        panel: page.evaluate(REDRAW.replace("PANEL", panel)) if page.locator(f"{panel} .pick button").count() else []
        for panel in ("#layers", "#model")
    }
    return {
        "bytes": len(page_text.encode()),
        "render_s": round(render_s, 2),
        "ready_ms": spread(opened),
        "live": live(run),
        "scrub_work_ms": spread(work),
        "scrub_painted_ms": spread(frames),
        "scrub_with_panel_in_view_ms": {name: {"work": of[0], "painted": of[1]} for name, of in in_view.items()},
        "heat_map_redraw_ms": spread(redraws["#layers"][3:]),
        "model_redraw_ms": spread(redraws["#model"][3:]),
    }


def spread(values: list[float], digits: int = 1) -> dict[str, float]:
    """Median and greatest."""
    return {"median": round(statistics.median(values), digits), "max": round(max(values), digits)} if values else {}


def main() -> None:
    """Measure both runs and write the result."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser()
    parser.add_argument("run", type=Path)
    parser.add_argument("--steps", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--layers", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        large = {steps: make(folder / str(steps), steps, given.layers) for steps in given.steps}
        told = {
            "bundle_bytes": len(template().encode()),
            "ordinary": measured(browser, given.run, folder),
            **{f"{n} steps x {given.layers} layers": measured(browser, run, folder) for n, run in large.items()},
            f"{FEW} steps x {MANY} modules": measured(browser, make(folder / "many", FEW, MANY), folder),
            f"{RANKS} ranks": measured(browser, many_ranks(folder / "ranks"), folder),
        }
        browser.close()
    result = {**stamp(), "chromium": browser.version, "load_1m": round(os.getloadavg()[0], 1), **told}
    (RESULTS / f"{result['date']}-page.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
