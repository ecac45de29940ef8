"""Reading a log once, piece by piece: memory does not grow with its size."""

from __future__ import annotations

import math
import re
from collections import deque
from pathlib import Path

from debugtracer.logs.chunks import STDIN, Chunk, chunks
from debugtracer.logs.command_line import command_of
from debugtracer.logs.curve import TAIL, Curve, Point
from debugtracer.logs.exceptions import ANY_NODE, LIBRARY, Raised, Tracebacks
from debugtracer.logs.facts import Anomaly, Hit, LogFacts
from debugtracer.logs.fields import EPOCH, STEP, fields, hinted
from debugtracer.logs.patterns import Message, patterns
from debugtracer.trace.birth import Frame
from debugtracer.trace.window import LOSS_SCALE

# torchrun, c10d, srun --label
RANK = re.compile(r"^\s*(?:\[(?:rank|default|trainer)(?P<a>\d+)\]:|(?P<b>\d{1,5}):(?= ))\s?")
RETURNED = re.compile(r"Function '(?P<node>\w+)' returned nan values in its (?P<output>\d+)th output")
WARNED = re.compile(r"^(?P<file>\S.*?\.py|<[\w-]+>):(?P<line>\d+): \w*Warning: ")
HALF = re.compile(
    r"(?i)\b(?:fp16|float16|half precision)\b[\"']?\s*[:=]?\s*(?:true|enabled|on\b|1\b)|16-mixed|Using 16bit|"
    r"precision[=: ]+[\"']?16\b|torch\.float16|Fp16 Grad Scale"
)
HALF_WORDS = ("16", "half precision")
WORKER = "in DataLoader worker process"  # after it the original traceback is printed
# lines with numbers that are all read; of the later ones fewer and fewer, but none that is not finite is missed
FULL = 20_000
BAD = re.compile(r"[Nn][Aa][Nn](?![A-Za-z])|[Ii]nf(?![A-Za-eg-hj-z])")
CLOSE_LINES = 400  # a message of a traceback may lie this many lines after its exception (a key list, a wrapped text)


class Scan:
    """One pass over a log."""

    def __init__(self, source: str) -> None:
        self.facts = LogFacts(source)
        self.tracebacks: dict[int | None, Tracebacks] = {}
        self.numeric = 0
        """Lines with numbers so far."""
        self.recent: deque[tuple[int, str]] = deque(maxlen=TAIL)
        """The last ones, once not every one is read."""

    def feed(self, chunk: Chunk) -> None:
        """Scan one piece; only messages whose text is in it at all are matched line by line."""
        text = chunk.text
        wanted = [message for message in patterns().message if message.text in text]
        traced = "Traceback" in text or 'File "' in text or bool(self.open())
        anomaly, numbers = "returned nan values" in text, bool(hinted(text))
        programs = ".py" in text or " -m " in text
        self.facts.size += len(text.strip())
        last = chunk.first - 1
        for last, raw in enumerate(text.split("\n"), chunk.first):
            for piece in raw.split("\r") if "\r" in raw else (raw,):
                if not piece:
                    continue
                rank, line = ranked(piece)
                ended = self.traceback(rank, last, line) if traced else None
                # the source text of a frame is no message
                if wanted and (ended is not None or not (line[:1] == " " and self.reading(rank))):
                    for message in wanted:
                        self.message(message, rank, last, line)
                if anomaly:
                    self.anomaly(last, line)
                if numbers and not self.open() and hinted(line):
                    self.numbers(last, line)
                if programs and not self.facts.command:
                    self.facts.command = command_of(line)
        if not self.facts.half:
            self.facts.half = half_of(text)
        self.facts.lines = last

    def open(self) -> bool:
        """True while a traceback is being read."""
        return any(one.open is not None for one in self.tracebacks.values())

    def reading(self, rank: int | None) -> bool:
        """True while a traceback of that rank is being read."""
        return rank in self.tracebacks and self.tracebacks[rank].open is not None

    def traceback(self, rank: int | None, number: int, line: str) -> Raised | None:
        """The traceback that this line ends."""
        return self.tracebacks.setdefault(rank, Tracebacks(rank, self.facts.forwards)).feed(number, line)

    def message(self, message: Message, rank: int | None, number: int, line: str) -> None:
        """Record a message of the table if this line holds it."""
        match = message.find(line)
        if match is None:
            return
        if "scale" in match.groupdict() and match["scale"]:
            self.point(LOSS_SCALE, number, None, float(match["scale"].rstrip(".")))
        known = self.facts.hits.get(message.slug)
        if known is not None:
            known.count, known.last = known.count + 1, number
            return
        told = match["rank"] if "rank" in match.groupdict() and match["rank"] else None
        hit = Hit(
            message,
            number,
            line.strip()[:400],
            {k: v or "" for k, v in match.groupdict().items()},
            last=number,
            rank=int(told) if told else rank,
        )
        hit.frame = self.frame(rank, number, line)
        self.facts.hits[message.slug] = hit

    def frame(self, rank: int | None, number: int, line: str) -> Frame | None:
        """The user's line of a message: of its traceback, or of the warning it is."""
        warned = WARNED.match(line)
        if warned:
            return None if LIBRARY.search(warned["file"]) else Frame(warned["file"], int(warned["line"]))
        done = self.tracebacks[rank].done if rank in self.tracebacks else []
        near = [one for one in done if one.error and number - one.end <= CLOSE_LINES]
        return next((one.place for one in reversed(near) if one.place), None)

    def anomaly(self, number: int, line: str) -> None:
        """Record a message of anomaly mode, with the forward call that was printed before it."""
        match = RETURNED.search(line)
        if match:
            self.facts.anomalies.append(
                Anomaly(match["node"], int(match["output"]), number, self.facts.forwards.get(match["node"]))
            )
            del self.facts.anomalies[16:]

    def numbers(self, number: int, line: str) -> None:
        """Read a line with numbers; of a very long log not every one is read."""
        self.numeric += 1
        if self.numeric > FULL:
            first_bad = not self.any_bad() and bad(line)
            if first_bad:
                self.catch_up()
            self.recent.append((number, line))
            if self.numeric % (1 + self.numeric // FULL) and not first_bad:
                return
        self.read_numbers(number, line)

    def any_bad(self) -> bool:
        """True once a value was not finite."""
        return any(curve.bad for curve in self.facts.curves.values())

    def catch_up(self) -> None:
        """Read the last lines, also those that were left out, so that the ends of the curves are exact."""
        ends: dict[str, list[Point]] = {}
        for number, line in self.recent:
            found = fields(line)
            step = found.pop(STEP, None)
            for name, value in found.items():
                if math.isfinite(value) and name in self.facts.curves:
                    ends.setdefault(name, []).append(Point(number, step, value))
        for name, points in ends.items():
            self.facts.curves[name].tail.extend(points)
        self.recent.clear()

    def read_numbers(self, number: int, line: str) -> None:
        """Add each number of a line to its curve."""
        found = fields(line)
        step = found.pop(STEP, None)
        found.pop(EPOCH, None)
        self.facts.last_step = step if step is not None and found else self.facts.last_step
        for name, value in found.items():
            self.point(name, number, step, value)

    def point(self, name: str, number: int, step: float | None, value: float) -> None:
        """Add one value to its curve."""
        self.facts.curves.setdefault(name, Curve()).add(Point(number, step, value))

    def finish(self) -> LogFacts:
        """The facts, after the last piece."""
        self.catch_up()
        for one in self.tracebacks.values():
            one.close(self.facts.lines)
            self.facts.tracebacks += one.done
        for hit in self.facts.hits.values():
            if WORKER in hit.text:
                hit.frame = next(
                    (one.place for one in self.facts.tracebacks if one.original and one.begin > hit.line and one.place),
                    hit.frame,
                )
        for anomaly in self.facts.anomalies:
            anomaly.forward = (
                anomaly.forward or self.facts.forwards.get(anomaly.node) or self.facts.forwards.get(ANY_NODE)
            )
        return self.facts


def bad(line: str) -> bool:
    """Whether a number that is not finite may be in a line."""
    return ("nan" in line or "inf" in line or "NaN" in line or "Inf" in line or "NAN" in line) and BAD.search(
        line
    ) is not None


def half_of(text: str) -> str:
    """The line that says that float16 is used, "" if none does."""
    if not any(word in text for word in HALF_WORDS):
        return ""
    lines = (line for line in text.split("\n") if any(word in line for word in HALF_WORDS))
    return next((line.strip()[:120] for line in lines if HALF.search(line)), "")


def ranked(line: str) -> tuple[int | None, str]:
    """A line without the rank that a launcher put before it."""
    first = line[0]
    if first != "[" and not first.isdigit() and first != " ":
        return None, line
    match = RANK.match(line)
    return (int(match["a"] or match["b"]), line[match.end() :]) if match else (None, line)


def read_log(path: Path) -> LogFacts:
    """The facts of a log, `-` for stdin. Raises UsageError: missing, unreadable, binary."""
    scan = Scan("stdin" if path == STDIN else str(path))
    for chunk in chunks(path):
        scan.feed(chunk)
    return scan.finish()
