"""A remedy tried from the page is the command's own answer; nothing but a known remedy ever becomes an argument."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from debugtracer.errors import UsageError
from debugtracer.server import trial
from debugtracer.server.trial import Trials, incident_of, known_remedy
from debugtracer.testing import a_masked_row, a_trace, an_incident
from debugtracer.trace.store.reader import open_trace
from tests.forked import Programs
from tests.server.asking import HOST, KNOWN, WORD, ask, document, served

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, programs: Programs) -> Path:
    """A folder with a real run of a planted fault."""
    out = tmp_path_factory.mktemp("runs")
    fault = ROOT / "faults" / "numerics" / "masked_attention" / "train.py"
    subprocess.run(
        [*programs.tool, "run", "--out", str(out), "--name", "masked", str(fault)], capture_output=True, check=False
    )
    return out


def body(remedy: object) -> bytes:
    return json.dumps({"remedy": remedy}).encode()


def test_a_trial_joins_the_page_and_stays_when_it_is_opened_again(runs: Path) -> None:
    app = served(runs, control=True)
    page = document(ask(app, "/run/masked"))
    assert page["head"]["replayable"] and "without-sample" in page["live"]["remedies"] and page["live"]["tried"] == []
    told = ask(app, "/run/masked/trial", WORD, "POST", body("without-sample"))
    assert told.status == 200, told.body
    (row,) = json.loads(told.body)["trials"]
    assert (row["name"], row["outcome"]) == ("without-sample", "healed")
    assert row["text"].startswith("healed: row 3 replaced by row 0; loss")
    assert document(ask(app, "/run/masked"))["live"]["tried"] == [row]
    refused = ask(app, "/run/masked/trial", WORD, "POST", body("lower-lr"))
    assert refused.status == 409 and b"the capsule holds no update" in refused.body and b"--with" not in refused.body


def test_what_the_step_does_not_allow_is_told_with_why(runs: Path) -> None:
    app = served(runs, control=True)
    told = ask(app, "/run/masked/remedies", WORD, "POST")
    assert told.status == 200, told.body
    refused = json.loads(told.body)["refused"]
    assert refused["lower-lr"].startswith("the capsule holds no update")
    assert refused["full-precision"] == "nothing of the step is in half precision"
    assert not {"without-sample", "stable-op", "unchanged"} & refused.keys()
    assert ask(served(runs), "/run/masked/remedies", WORD, "POST").status == 403
    assert ask(app, "/run/masked/remedies", KNOWN, "POST").status == 403
    assert ask(app, "/run/none/remedies", WORD, "POST").status == 404


def test_nothing_is_tried_without_control_or_without_the_token(runs: Path) -> None:
    assert ask(served(runs), "/run/masked/trial", WORD, "POST", body("without-sample")).status == 403
    assert "remedies" not in document(ask(served(runs), "/run/masked"))["live"]
    app = served(runs, control=True)
    assert ask(app, "/run/masked/trial", KNOWN, "POST", body("without-sample")).status == 403
    assert ask(app, "/run/masked/trial", {"host": HOST}, "POST", body("without-sample")).status == 403
    assert ask(app, "/run/none/trial", WORD, "POST", body("without-sample")).status == 404
    assert ask(app, "/run/masked/trial", WORD, "POST", b"{").status == 400
    assert ask(app, "/run/masked/trial", WORD, "POST", body("x" * 5000)).status == 409


@pytest.mark.parametrize(
    "remedy", ["", "all", "--json", "larger-eps; rm", "larger-eps=", "larger-eps=$(x)", "../x", None, 3, ["unchanged"]]
)
def test_anything_but_a_known_remedy_is_refused(remedy: object) -> None:
    with pytest.raises(UsageError, match="is no remedy; there are"):
        known_remedy(remedy)


def test_a_known_remedy_may_have_a_number() -> None:
    assert [known_remedy(word) for word in ("larger-eps", "larger-eps=1e-5")] == ["larger-eps", "larger-eps=1e-5"]


def test_a_run_without_a_recorded_step_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recorded step"):
        incident_of(open_trace(a_trace(tmp_path / "quiet")))
    from debugtracer.diagnosis.proof.rank import rank

    facts = a_masked_row()
    gone = open_trace(a_trace(tmp_path / "gone", an_incident(facts, rank(facts))))
    with pytest.raises(UsageError, match="no longer in the run folder"):
        incident_of(gone)
    outside = open_trace(a_trace(tmp_path / "outside", an_incident(facts, rank(facts), "../..")))
    with pytest.raises(UsageError, match="no longer in the run folder"):
        incident_of(outside)


@pytest.mark.sweep
def test_a_second_trial_waits_for_no_first_and_one_that_takes_too_long_is_ended(runs: Path, monkeypatch) -> None:
    monkeypatch.setattr(trial, "LONGEST_S", 0.3)

    async def both() -> list[object]:
        tried, trace = Trials(), open_trace(runs / "masked")
        asked = [tried.attempt(trace, "without-sample") for _ in range(2)]
        return await asyncio.gather(*asked, return_exceptions=True)

    told = sorted(map(str, asyncio.run(both())))
    assert told == ["another remedy is being tried; wait for it", "the replay was ended after 0 s"]
