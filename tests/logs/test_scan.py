"""One pass over a log: pieces, ranks, progress bars, counts."""

from __future__ import annotations

import math

from debugtracer.logs import chunks as chunks_module
from debugtracer.logs.chunks import Chunk
from debugtracer.logs.facts import LogFacts
from debugtracer.logs.scan import Scan, ranked, read_log


def scanned(text: str) -> LogFacts:
    scan = Scan("here")
    scan.feed(Chunk(1, text))
    return scan.finish()


def test_a_traceback_may_lie_across_two_pieces(made, tmp_path, monkeypatch):
    whole = read_log(made / "anomaly_log" / "log.txt")
    monkeypatch.setattr(chunks_module, "CHUNK_BYTES", 200)
    cut = read_log(made / "anomaly_log" / "log.txt")
    assert cut.anomalies[0].forward is not None
    assert (cut.lines, cut.anomalies[0].forward.place) == (
        whole.lines,
        whole.anomalies[0].forward and whole.anomalies[0].forward.place,
    )


def test_every_state_of_a_progress_bar_is_one_value():
    bar = "\r".join(
        f"Epoch 0:  {i}%|##  | {i}/100 [00:01<00:10, 50.10it/s, v_num=3, train_loss={'nan.0' if i > 30 else '0.500'}]"
        for i in range(40)
    )
    curve = scanned("Using 16bit Automatic Mixed Precision (AMP)\n" + bar).curves["loss"]
    assert (curve.count, curve.bad) == (40, 9)
    assert curve.first_bad is not None
    assert math.isnan(curve.first_bad.value)


def test_a_message_is_counted_and_its_first_place_stays():
    hit = scanned("ok\nIndexError: Target 7 is out of bounds.\nIndexError: Target 9 is out of bounds.").hits[
        "target-out-of-bounds"
    ]
    assert (hit.count, hit.line, hit.last, hit.groups) == (2, 2, 3, {"value": "7"})


def test_the_rank_of_a_launcher_is_read_and_a_number_is_no_rank():
    assert ranked("[rank3]: Traceback") == (3, "Traceback")
    assert ranked("12: loss 0.1") == (12, "loss 0.1")
    assert ranked("2026-11-21 10:00:00 loss") == (None, "2026-11-21 10:00:00 loss")
    assert ranked("[INFO] loss") == (None, "[INFO] loss")


def test_float16_is_seen_where_it_is_said_and_not_in_its_absence():
    assert scanned("fp16: True").half and scanned("Trainer(precision=16)").half
    assert not scanned("fp16: False\nbf16: True\nstep 16 loss 0.1").half
