"""What the numbers of a log say: a loss that stops being finite, rises or stays, a gradient norm that grows, a loss
scale that shrinks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from debugtracer.logs.candidate import At, Case
from debugtracer.logs.curve import Curve, Point
from debugtracer.logs.facts import LogFacts
from debugtracer.logs.fields import GRAD_NORM
from debugtracer.logs.patterns import patterns
from debugtracer.trace.window import LOSS_SCALE, LR

GROWN = 10.0  # times the median before it: a loss that grew into its NaN (ours)
RISEN = 3.0  # times its lowest quarter: divergence without a NaN (ours)
FLAT_COUNT, FLAT = 20, 1e-4  # values, relative range: no learning at all
# a dynamic scale that settles at or above it is searching, not collapsing (DeepSpeed and apex begin at 2**16 .. 2**32)
NORMAL_SCALE = 1024.0
SAME_LOSS = 1e-3  # relative distance to ln(classes)


def judge_curves(facts: LogFacts, case: Case) -> None:
    """Add what the curves are worth to the case."""
    norm, scale, loss = facts.curves.get(GRAD_NORM), facts.curves.get(LOSS_SCALE), facts.loss
    collapsed = scale is not None and judge_scale(scale, case)
    if loss is not None and loss.first_bad is not None:
        judge_bad_loss(loss, norm, loss.first_bad, case)
    elif norm is not None and norm.first_bad is not None:
        judge_bad_norm(norm, loss, norm.first_bad, case)
    bad = [curve.first_bad for curve in (loss, norm) if curve is not None and curve.first_bad is not None]
    if bad:
        judge_half(facts, case, bad[0])
    if loss is not None and loss.first_bad is None:
        if not collapsed:
            judge_flat(loss, facts.curves.get(LR), case)
        judge_rising(loss, case)


def suspect(case: Case, situation: str, told: str, at: At) -> None:
    """Suspect every class that the table names for a situation, each with its own reason."""
    for kind, (certainty, why) in patterns().number[situation].items():
        case.speaks_for(kind, certainty, f"{told}; {why}", at)


def judge_scale(scale: Curve, case: Case) -> bool:
    """Suspect the class of a loss scale that is halved without end; True if so."""
    last, first = scale.last, scale.kept[0] if scale.kept else None
    if (
        last is None
        or first is None
        or last.value >= NORMAL_SCALE
        or first.value < last.value
        or scale.finite < 3
        or last.value > 64
    ):
        return False
    if first.value == last.value and last.value >= 1:
        return False  # a scale of 1 is a switched-off one: bfloat16, float32
    certainty = 0.88 if last.value < 1 else 0.75 if last.value <= 8 else 0.5
    told = (
        f"the loss scale went from {first.value:.4g} to {last.value:.4g} in {scale.finite} printed values (log lines "
        f"{first.line} to {last.line})"
    )
    case.speaks_for("amp_scaler_collapse", certainty, told, At(first.line, "inf_grad", phase="unscale"))
    suspect(case, "scale_falls", told, At(first.line, "inf_grad"))
    return True


def judge_bad_loss(loss: Curve, norm: Curve | None, bad: Point, case: Case) -> None:
    """Suspect the classes that make a loss NaN or Inf."""
    before = [point.value for point in loss.before_bad]
    told, at = f"the loss is {bad.value} at {place(bad)}", At(bad.line, "nan_loss")
    if not before:
        suspect(case, "from_start", f"{told}, the first value of the log", at)
    elif grown(before) >= GROWN or grown(values_before(norm, bad)) >= GROWN:
        what = (
            f"it grew before: {listed(before[-5:])}"
            if grown(before) >= GROWN
            else f"the gradient norm grew before: {listed(values_before(norm, bad)[-5:])}"
        )
        suspect(case, "grown_into", f"{told}, and {what}", at)
        case.speaks_against("data_nonfinite", 0.8, "a NaN in the data needs no growth before it")
    else:
        suspect(case, "sudden", f"{told}, suddenly: before it {listed(before[-5:])}", at)
        case.speaks_against("lr_too_high", 0.6, "the loss did not grow before it")
        judge_return(loss, case)


def judge_return(loss: Curve, case: Case) -> None:
    """Weigh whether the loss came back after its first bad value."""
    if loss.finite_after_bad:
        told = (
            f"{loss.finite_after_bad} later values are finite again: the weights were not reached, so it is that batch"
        )
        case.speaks_for("labels_all_ignored", 0.3, told)
        case.speaks_for("zero_division", 0.15, told)
        case.speaks_against("backward_nan_op", 0.6, told)
    elif loss.bad > 1:
        case.speaks_for(
            "data_nonfinite", 0.02, f"all {loss.bad} values from there on are not finite: the weights are poisoned"
        )


def judge_bad_norm(norm: Curve, loss: Curve | None, bad: Point, case: Case) -> None:
    """Suspect the classes of a non-finite gradient norm beside a loss that is finite, or printed as 0."""
    before = [point.value for point in norm.before_bad]
    last = loss.last if loss is not None else None
    told = f"the gradient norm is {bad.value} at {place(bad)}"
    if last is not None and last.value == 0.0 and math.isnan(bad.value):
        zero = (
            f"{told} and the printed loss is 0.0 (transformers' Trainer leaves NaN losses out of the mean it prints: "
            "logging_nan_inf_filter)"
        )
        suspect(case, "zero_loss", zero, At(bad.line, "nan_loss"))
    elif grown(before) >= GROWN:
        suspect(case, "norm_grew", f"{told}, after {listed(before[-5:])}", At(bad.line, "inf_grad"))
    else:
        suspect(case, "bad_norm", f"{told} while the loss is finite", At(bad.line, "inf_grad"))


def judge_half(facts: LogFacts, case: Case, bad: Point) -> None:
    """Weigh float16: its own overflow is likelier with it, unlikely without."""
    if facts.half:
        case.speaks_for(
            "fp16_overflow",
            0.4,
            f"a number is {bad.value} at {place(bad)}, and the log says that float16 is used ({facts.half})",
            At(bad.line),
        )
    else:
        case.speaks_against("fp16_overflow", 0.5, "the log does not say that float16 is used")


def judge_rising(loss: Curve, case: Case) -> None:
    """Suspect the classes of a loss that ends far above where it was."""
    values = [point.value for point in loss.kept]
    if len(values) < 8 or min(values) <= 0:
        return
    quarter = len(values) // 4
    low, end = statistics.median(sorted(values)[:quarter]), statistics.median(values[-quarter:])
    if end < RISEN * low or end < values[0]:
        return
    shown = listed(values[:: max(1, len(values) // 5)][:6])
    suspect(
        case,
        "rises",
        f"the loss rises: {shown} (its lowest quarter {low:.4g}, its last quarter {end:.4g})",
        At(loss.kept[-quarter].line, "loss_spike"),
    )


def judge_flat(loss: Curve, rate: Curve | None, case: Case) -> None:
    """Suspect the classes of a loss that does not move."""
    if loss.finite < FLAT_COUNT or loss.high - loss.low > FLAT * max(abs(loss.high), 1e-12):
        return
    first = loss.kept[0]
    told, at = f"the loss stays at {first.value:.6g} over {loss.finite} printed values", At(first.line, "no_learning")
    if rate is not None and rate.high == 0:
        case.speaks_for("scheduler_misuse", 0.75, f"{told}, and the printed learning rate is 0", at)
    classes = round(math.exp(first.value)) if 0 < first.value < 12 else 0
    if classes >= 2 and abs(first.value - math.log(classes)) < SAME_LOSS * first.value:
        case.speaks_for(
            "bad_init", 0.5, f"{told}, which is ln({classes}): each of {classes} classes gets the same score", at
        )
    suspect(case, "stays", told, at)


def grown(values: Sequence[float]) -> float:
    """The last value over the median of the first half; 1 when there are fewer than 4."""
    if len(values) < 4:
        return 1.0
    middle = statistics.median(abs(value) for value in values[: max(2, len(values) // 2)])
    return abs(values[-1]) / middle if middle > 0 else 1.0


def values_before(curve: Curve | None, bad: Point) -> list[float]:
    """The finite values of another curve printed before a bad one."""
    return [point.value for point in curve.tail if point.line <= bad.line] if curve is not None else []


def place(point: Point) -> str:
    """Format a place: `step 31 (log line 32)`."""
    return f"step {point.step:.0f} (log line {point.line})" if point.step is not None else f"log line {point.line}"


def listed(values: Sequence[float]) -> str:
    """Format values with four digits each."""
    return " ".join(f"{value:.4g}" for value in values)
