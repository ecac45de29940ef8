"""The page in a real browser, on real runs: the verdict first, every panel follows the step, nothing is asked for,
nothing of the program is markup, and no run is a blank page."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer.testing import a_finding, a_trace, an_incident, some_facts
from debugtracer.trace.events import Found
from debugtracer.trace.facts.health import Health, Role, TensorHealth
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.layer_log import LayerLog
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter
from debugtracer.views.html import Html
from tests.browser import PHONE, WIDE, Shown, chromium
from tests.forked import Programs
from tests.watching import train, under_watch

ROOT = Path(__file__).resolve().parents[2]
STORED = ROOT / "tests" / "stored_runs"
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"

Show = Callable[..., Shown]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    contexts: list[Any] = []

    def opened(run: Path | str, hash_: str = "", size: dict[str, int] = WIDE, **options: Any) -> Shown:
        """Open the page of a run folder, or a text that stands for a page."""
        file = tmp_path / "report.html"
        file.write_text(run if isinstance(run, str) else Html().render(open_trace(run)), encoding="utf-8")
        contexts.append(browser.new_context(viewport=size, locale=options.pop("locale", "en-US"), **options))
        return Shown(contexts[-1].new_page(), file.as_uri() + hash_)

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Path:
    """A real run of a planted fault."""
    out = tmp_path_factory.mktemp("masked")
    fault = ROOT / "faults" / "numerics" / "masked_attention"
    subprocess.run(
        [*programs.tool, "run", "--out", str(out), str(fault / "train.py")], capture_output=True, check=False
    )
    return (out / "latest").resolve()


@pytest.mark.parametrize(("size", "options"), [(WIDE, {}), (PHONE, {"color_scheme": "dark"})], ids=["wide", "phone"])
def test_op_line_and_sample_are_on_the_first_screen_of_one_file(
    show: Show, masked: Path, size: dict[str, int], options: dict[str, Any]
) -> None:
    shown = show(masked, size=size, **options)
    for fact, told in {"op": "aten::_softmax", "line": "train.py:32", "sample": "24"}.items():
        assert shown.text(f"[data-fact={fact}]") == told
        assert shown.first_screen(f"[data-fact={fact}]")
    assert shown.text("h1").startswith("Every score of a row is -inf")
    assert shown.text(".here.bad").strip().endswith('scores = scores.masked_fill(~allowed, float("-inf"))')
    assert "-10000" in shown.text(".diff .in")
    assert shown.fits()
    assert shown.complaints == []
    assert len(shown.requests) == 1


def test_scrubbing_moves_every_panel_and_the_address(show: Show, masked: Path) -> None:
    shown = show(masked)
    assert shown.text("[data-value=loss]") == "NaN"
    assert re.fullmatch(r"[\d.e-]+ at step 4", shown.text("[data-cell]"))  # its gradients were never made
    shown.page.keyboard.press("k")
    for _ in range(3):
        shown.page.keyboard.press("ArrowLeft")
    # the address is written when the scrub has come to rest
    shown.wait_until(lambda: str(shown.page.url).endswith("#2/verdict"))
    assert float(shown.text("[data-value=loss]")) == pytest.approx(4.198, rel=0.01)
    assert float(shown.text("[data-cell]")) > 0
    shown.page.keyboard.press("j")
    shown.wait_until(lambda: shown.text("[data-value=loss]") == "NaN")


def test_the_step_plays_op_by_op_and_a_value_leads_to_its_producers(show: Show, masked: Path) -> None:
    shown = show(masked, "#5/ops/33")
    assert shown.text("#ops [data-op]").splitlines()[0] == "aten::_softmax"
    assert "784" in shown.text("#ops .now-card dl .bad")
    shown.page.locator("#ops .values button", has_text="masked_fill").click()
    shown.page.wait_for_selector('#ops [data-op="aten::masked_fill"]', timeout=60_000)
    shown.page.locator("#ops .list").press("PageUp")
    shown.page.get_by_role("button", name="Run to birth").click()
    shown.page.wait_for_selector('#ops [data-op="aten::_softmax"]', timeout=60_000)
    assert shown.complaints == []


def test_a_bad_value_is_shown_at_its_first_places_and_the_memory_over_the_run(show: Show, masked: Path) -> None:
    shown = show(masked, "#5/ops")
    told = shown.text(".now-card .spots")
    assert "[3, 0, 0, 0]" in told and "-Inf" in told and "NaN" in told
    shown.page.locator(".spots button").click()  # to what made the value that was read
    assert shown.text(".now-card .head code") == "aten::masked_fill"
    assert re.fullmatch(r"\d+ MB", shown.text("[data-memory=resident]"))
    assert shown.page.locator("#usage .bar").count() >= 1
    assert (shown.complaints, shown.fits()) == ([], True)


def test_the_model_is_coloured_at_the_step_and_follows_the_play(show: Show, masked: Path) -> None:
    shown = show(masked)
    page = shown.page
    assert shown.text("#model [data-chosen]") == "blocks.0.attn"
    assert shown.text("#model [data-level]") == "NaN"  # the bad step as it ran again
    page.get_by_role("button", name="not finite: next").click()
    assert shown.text("#model [data-level]") == "NaN"
    page.locator("#timeline input[type=range]").fill("2")
    assert float(shown.text("#model [data-level]")) > 0  # the snapshot of a healthy step
    page.get_by_label("Find a module").fill("0.mlp.2")
    page.get_by_label("Find a module").press("Enter")
    assert shown.text("#model [data-chosen]") == "blocks.0.mlp.2"
    page.locator("#model td", has_text=re.compile(r"^weight ")).locator("xpath=../td[2]/button").click()
    assert "blocks.0.mlp.2.weight" in shown.text("#layers .wrap")  # a number leads to its row over time
    page.get_by_role("button", name="Its ops in the bad step").click()
    assert shown.text("#ops .now-card .hint").endswith("blocks.0.mlp.2")
    play = page.locator("#ops .modules canvas")
    assert "blocks.0.mlp.2" in str(play.get_attribute("aria-label"))
    play.press("ArrowUp")  # to the module around it: its next op
    assert play.get_attribute("data-module") == "blocks.0.mlp.2"
    page.locator("#ops .list").press("End")
    assert play.get_attribute("data-module") != "blocks.0.mlp.2"
    assert (shown.complaints, shown.grave()) == ([], [])


def test_ten_thousand_modules_stay_usable(show: Show, tmp_path: Path) -> None:
    run = a_trace(tmp_path, exit_code=0, stopped=False)
    names = [f"blocks.{block}.experts.{expert}.<b>层" for block in range(100) for expert in range(100)]
    columns = LayerLog(run / "rank=0")
    for step in (0, 40):
        columns.append(
            Health(
                ref=StepRef(iteration=step, step=step),
                tensors=tuple(
                    a_layer(name + end, role, bad=step == 40 and n == 7777)
                    for n, name in enumerate(names)
                    for role, end in (("activation", ""), ("gradient", ".weight"))
                ),
            )
        )
    columns.close()
    shown = show(run, "#40/model")
    broken = shown.page.get_by_role("button", name="1 not finite: next")
    broken.click()
    assert shown.text("#model [data-chosen]") == "blocks.77.experts.77.<b>层"
    assert shown.text("#model .way").split()[::2] == ["model", "blocks", "77"]  # so near that it is seen
    shown.page.locator("#model canvas").press("ArrowUp")
    assert shown.text("#model [data-chosen]") == "blocks.77.experts.77"
    shown.page.keyboard.press("Escape")
    shown.page.locator("#timeline input[type=range]").fill("3")
    shown.wait_until(lambda: broken.count() == 0)
    assert (shown.complaints, shown.fits()) == ([], True)


def test_what_was_said_of_the_depth_stands_below_its_profile(show: Show, tmp_path: Path) -> None:
    said = a_finding("model/vanishing-gradient", "warning", 1, "step 1, rank 0: 2e+09 times more; expected 1e+04.")
    run = a_trace(tmp_path, Found(at=1.0, rank=0, finding=said), exit_code=0, stopped=False)
    columns = LayerLog(run / "rank=0")
    rows = [("relu at line 3", "activation"), ("fc", "activation"), ("fc.weight", "gradient")]
    columns.append(Health(ref=StepRef(iteration=1, step=1), tensors=tuple(a_layer(n, r, bad=False) for n, r in rows)))
    columns.close()
    shown = show(run)
    assert shown.text("#layers .told").split("\n")[-1] == "2e+09 times more; expected 1e+04."
    shown.page.locator("#layers .told button").click()
    shown.wait_until(lambda: shown.text("output b") == "step 1")
    assert "1 module ·" in shown.text("#model .title")  # a function that the root calls is no module
    assert shown.complaints == []


def a_layer(name: str, role: Role, bad: bool) -> TensorHealth:
    """One tensor of a snapshot, all of it NaN where bad."""
    return TensorHealth(
        name=name, role=role, shape=(8,), dtype="float32", sampled=8, mean=0.0, std=1.0, low=-1.0, high=1.0,
        l2=1.0, zero_share=0.0, bad=8 * bad,
    )  # fmt: skip


def test_of_many_ranks_the_one_that_broke_first_is_seen(show: Show, tmp_path: Path) -> None:
    run = a_trace(tmp_path, an_incident(some_facts(step=30, rank=37), None, None), ranks=40)
    shown = show(run)
    assert shown.page.locator("#ranks tbody tr").count() == 24
    assert shown.text("#ranks tr.first").startswith("37")
    assert shown.text("[data-rank]") == "37"
    shown.page.locator("#ranks canvas").press("ArrowDown")
    assert shown.text("[data-rank]") == "38"
    assert (shown.complaints, shown.grave()) == ([], [])


def test_the_page_speaks_chinese_and_copies_markdown(show: Show, masked: Path) -> None:
    shown = show(masked, permissions=["clipboard-read", "clipboard-write"])
    shown.page.get_by_role("button", name="Copy as Markdown").click()
    shown.page.get_by_role("button", name="Copied").wait_for()
    assert shown.page.evaluate("navigator.clipboard.readText()").startswith("# debug-tracer: the loss is not finite")
    shown.page.get_by_role("button", name="中文").click()
    assert "时间线" in shown.text("#timeline h2")
    assert "学习率" in shown.text("#timeline .plots") and "模型" in shown.text("#model h2")
    assert shown.text("[data-fact=op]") == "aten::_softmax"


def test_every_control_has_a_name_and_a_report_without_scripts_has_its_text(show: Show, masked: Path) -> None:
    shown = show(masked)
    nameless = shown.page.evaluate(
        """[...document.querySelectorAll('button, a, input, canvas, [role=img], [role=listbox]')]
           .filter((e) => e.tagName !== 'CANVAS' || !e.closest('[role=img]'))
           .filter((e) => !(e.getAttribute('aria-label') ?? e.textContent).trim()).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    page = Html().render(open_trace(masked))
    plain = re.search(r'<noscript><pre id="plain">(.*?)</pre>', page, re.DOTALL)
    assert plain is not None
    assert "aten::_softmax, forward, module blocks.0.attn" in plain[1]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.sweep)])
def test_axe_finds_nothing_serious(show: Show, masked: Path, scheme: str) -> None:
    for size in (WIDE, PHONE):
        assert show(masked, size=size, color_scheme=scheme).grave() == []


class Nameful(nn.Module):
    """A module whose names are markup, and whose output is bad everywhere."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.add_module(HOSTILE.replace(".", ""), nn.Linear(4, 4))
        self.add_module("层</script>🧨", nn.Linear(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.children():
            x = part(x)
        return torch.log(x * 0) * 0  # NaN everywhere


class Endless(Nameful):
    """The same, infinite everywhere."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.exp(super().forward(x).nan_to_num(1e9))


@pytest.mark.parametrize("model", [Nameful, Endless])
def test_hostile_names_and_nan_or_inf_everywhere_stay_text(show: Show, tmp_path: Path, model: type[Nameful]) -> None:
    with under_watch(tmp_path / "runs", inspect_steps=1):
        train(model(), [torch.rand(3, 4) for _ in range(3)])
    shown = show(tmp_path / "runs" / "latest")
    assert shown.text("[data-fact=op]").startswith("aten::")
    assert "owned" not in shown.page.title()
    assert shown.page.locator("main script, main img").count() == 0
    assert "<script>" in shown.text("#layers .names")
    assert (shown.complaints, len(shown.requests)) == ([], 1)
    assert shown.fits()


@pytest.mark.sweep
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("program", "title", "ranks"),
    [
        ("faults/data/never_full_stop/train.py", "Id 0 ends all 12 texts", 1),
        ("faults/device/ddp_two_sites/train.py", "1 (BatchNorm1d) sees data on rank 1", 2),
        ("healthy/char_rnn.py", "every loss, gradient and update was finite", 1),
    ],
    ids=["silent", "ranks", "healthy"],
)
def test_every_panel_of_a_real_run_is_told_and_none_is_blank(
    show: Show, programs: Programs, tmp_path: Path, program: str, title: str, ranks: int, scheme: str
) -> None:
    subprocess.run(
        [*programs.tool, "run", "--out", str(tmp_path), str(ROOT / program)], capture_output=True, check=False
    )
    for size in (WIDE, PHONE):
        shown = show((tmp_path / "latest").resolve(), size=size, color_scheme=scheme)
        assert title in shown.text("h1")
        for panel in (
            "timeline",
            "layers",
            "model",
            "ops",
            "findings",
            "checks",
            "usage",
            *(("ranks",) if ranks > 1 else ()),
        ):
            assert len(shown.text(f"#{panel}")) > 20
        assert shown.page.locator("#timeline canvas").count() >= 3
        assert shown.page.locator("#layers .map canvas").count() == 1
        shown.page.keyboard.press("ArrowRight")
        shown.page.keyboard.press("Shift+ArrowLeft")
        assert (shown.complaints, shown.fits(), shown.grave(), len(shown.requests)) == ([], True, [], 1)


def test_norms_between_the_snapshots_are_drawn_and_a_map_has_its_own_steps(show: Show, tmp_path: Path) -> None:
    with under_watch(tmp_path / "runs"):
        train(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), [torch.rand(3, 4) for _ in range(12)])
    shown = show(tmp_path / "runs" / "latest", "#7/layers")
    assert shown.text("#layers .title .hint") == "numbers of step 7"
    assert float(shown.text("[data-cell]")) > 0
    shown.page.locator("#layers canvas").press("ArrowLeft")
    assert shown.text("#layers .title .hint") == "numbers of step 6"
    shown.page.get_by_role("button", name="activation norm").first.click()
    assert shown.text("#layers .title .hint") == "numbers of step 2"  # the last one that was inspected
    assert float(shown.text("[data-cell]")) > 0
    assert shown.complaints == []


def test_headings_go_down_one_by_one(show: Show, masked: Path) -> None:
    for run in (masked, STORED / "two_ranks" / "run"):
        shown = show(run)
        levels = shown.page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((e) => Number(e.tagName[1]))")
        assert levels[0] == 1 and levels.count(1) == 1
        assert [deep for deep, next_ in pairwise(levels) if next_ > deep + 1] == []


class Pictures(Dataset):
    """Images and sounds with their labels; one image is broken."""

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> dict[str, Any]:
        image = torch.rand(3, 16, 16, generator=torch.Generator().manual_seed(index))
        if index == 6:
            image[:, 4] = float("nan")
        return {"image": image, "sound": torch.sin(torch.arange(200) / 9), "label": index % 4}


def test_a_sample_is_seen_as_image_and_line_the_rate_has_its_states_and_silent_checks_their_numbers(
    show: Show, tmp_path: Path
) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(768, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step + 1, 12) / 12 if step < 20 else 0.5**step)
    with under_watch(tmp_path / "runs"):
        for number in range(12):
            for batch in DataLoader(Pictures(), batch_size=4, shuffle=False):
                if number == 11 or not batch["image"].isnan().any():
                    optimizer.zero_grad()
                    nn.functional.cross_entropy(model(batch["image"]), batch["label"]).backward()
                    optimizer.step()
                    rate.step()
    for size in (WIDE, PHONE):
        shown = show(tmp_path / "runs" / "latest", size=size)
        assert shown.page.get_by_role("img", name="row 2, batch['image']").locator("canvas").count() == 1
        assert shown.page.get_by_role("img", name="row 2, batch['sound']").locator("path").count() == 1
        assert [span.inner_text() for span in shown.page.locator("[data-bands] span").all()] == [
            "warm-up",
            "constant",
            "decay",
        ]
        assert shown.page.locator(".near li").count() >= 1
        assert "limit" in str(shown.page.locator(".near .bar").first.get_attribute("aria-label"))
        assert (shown.complaints, shown.fits(), shown.grave()) == ([], True, [])


def test_an_empty_run_a_healthy_one_and_a_truncated_live_file_say_so(show: Show, tmp_path: Path) -> None:
    empty = show(create_run(tmp_path, "empty", ["train.py"], "dev"))
    assert "no backward call" in empty.text("h1")
    assert "No number was written" in empty.text("#timeline")
    healthy = show(a_trace(tmp_path / "healthy", exit_code=0, stopped=False))
    assert "every loss, gradient and update was finite" in healthy.text("h1")
    assert "No step of this run was replayed" in healthy.text("#ops")

    run = create_run(tmp_path, "live", ["train.py"], "dev")
    writer = TraceWriter(run, 0)
    for step in range(40):
        writer.point(step, {"loss": 1.0})
        writer.flush()
    (live,) = (run / "rank=0").glob("live-*.arrows")
    live.write_bytes(live.read_bytes()[:-37])
    with (run / "rank=0" / "events.jsonl").open("a") as events:
        events.write('{"type": "rank-st')
    cut = show(run)
    writer.close()
    assert cut.text("[data-value=loss]").startswith("1")
    assert [page.complaints for page in (empty, healthy, cut)] == [[], [], []]


@pytest.mark.parametrize(
    "name",
    ["two_ranks", *(pytest.param(n, marks=pytest.mark.sweep) for n in ("loss_spike", "nan_gradient", "crash_in_loss"))],
)
def test_runs_of_an_older_version_are_shown(show: Show, name: str) -> None:
    shown = show(STORED / name / "run")
    assert shown.text(".eyebrow").startswith(("confirmed", "likely"))
    assert (shown.page.locator("#ranks").count() == 1) is (name == "two_ranks")
    assert shown.complaints == []


def test_data_that_cannot_be_read_leaves_the_report_as_text(browser: Any, masked: Path, tmp_path: Path) -> None:
    page = re.sub(r'(id="data">).{40}', r"\1AAAA", Html().render(open_trace(masked)))
    (tmp_path / "broken.html").write_text(page, encoding="utf-8")
    opened = browser.new_page()
    opened.goto((tmp_path / "broken.html").as_uri())
    opened.wait_for_selector("pre.failed", timeout=60_000)
    assert "train.py:32" in opened.inner_text("pre.failed")
    opened.close()


def test_the_depth_has_its_limits_and_names_what_vanishes(show: Show, programs: Programs, tmp_path: Path) -> None:
    """A real run of ten sigmoid layers, whose gradient dies out on its way to the first."""
    program = ROOT / "faults" / "model" / "deep_sigmoid" / "train.py"
    subprocess.run([*programs.tool, "run", "--out", str(tmp_path), str(program)], capture_output=True, check=False)
    shown = show((tmp_path / "latest").resolve())
    shown.page.wait_for_selector("#layers [data-lane=gradient]")
    assert "vanishing below" in shown.text("#layers [data-lane=gradient]")
    assert "vanishing below 1e-4" in shown.text("#layers .facts .bad")
    lane = shown.page.locator("#layers [data-lane=gradient]")
    lane.press("ArrowRight")
    assert "layers.0" in shown.text("#layers .read")
    lane.press("Enter")
    assert shown.text("#layers .names .on").startswith("layers.0")
    assert all(word in shown.text("#usage .key") for word in ("waiting for data", "forward", "backward", "update"))
    assert (shown.complaints, shown.fits()) == ([], True)
