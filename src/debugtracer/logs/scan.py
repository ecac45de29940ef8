"""Reading a log once, piece by piece: memory does not grow with its size."""

from __future__ import annotations

import re
from pathlib import Path

from debugtracer.logs.chunks import STDIN, Chunk, chunks
from debugtracer.logs.command_line import command_of
from debugtracer.logs.curve import Curve, Point
from debugtracer.logs.exceptions import LIBRARY, Raised, Tracebacks
from debugtracer.logs.facts import Anomaly, Hit, LogFacts
from debugtracer.logs.fields import EPOCH, HINT, SCALE, STEP, fields
from debugtracer.logs.patterns import Message, patterns
from debugtracer.trace.birth import Frame

RANK = re.compile(r"^\s*(?:\[(?:rank|default|trainer)(?P<a>\d+)\]:|(?P<b>\d{1,5}):(?= ))\s?")  # torchrun, c10d, srun --label
RETURNED = re.compile(r"Function '(?P<node>\w+)' returned nan values in its (?P<output>\d+)th output")
WARNED = re.compile(r"^(?P<file>\S.*?\.py|<[\w-]+>):(?P<line>\d+): \w*Warning: ")
HALF = re.compile(
    r"(?i)\b(?:fp16|float16|half precision)\b[\"']?\s*[:=]?\s*(?:true|enabled|on\b|1\b)|16-mixed|Using 16bit|"
    r"precision[=: ]+[\"']?16\b|torch\.float16|Fp16 Grad Scale"
)
WORKER = "in DataLoader worker process"  # after it the original traceback is printed
CLOSE_LINES = 400  # a message of a traceback may lie this many lines after its exception (a key list, a wrapped text)


class Scan:
    """One pass over a log."""

    def __init__(self, source: str) -> None:
        self.facts = LogFacts(source)
        self.tracebacks: dict[int | None, Tracebacks] = {}

    def feed(self, chunk: Chunk) -> None:
        """One piece: only what is in it at all is looked for line by line."""
        text = chunk.text
        wanted = [message for message in patterns().message if message.text in text]
        traced = "Traceback" in text or 'File "' in text or bool(self.open())
        anomaly, numbers = "returned nan values" in text, bool(HINT.search(text))
        programs = ".py" in text or " -m " in text
        self.facts.size += len(text.strip())
        last = chunk.first - 1
        for last, raw in enumerate(text.split("\n"), chunk.first):
            for piece in raw.split("\r") if "\r" in raw else (raw,):
                if not piece:
                    continue
                rank, line = ranked(piece)
                ended = self.traceback(rank, last, line) if traced else None
                if wanted and (ended is not None or not (line[:1] == " " and self.reading(rank))):  # the source text of a frame is no message
                    for message in wanted:
                        self.message(message, rank, last, line)
                if anomaly:
                    self.anomaly(last, line)
                if numbers and not self.open() and HINT.search(line):
                    self.numbers(last, line)
                if programs and not self.facts.command:
                    self.facts.command = command_of(line)
        if not self.facts.half and (half := HALF.search(text)):
            self.facts.half = text[text.rfind("\n", 0, half.start()) + 1 : half.end()].strip()[-120:]
        self.facts.lines = last

    def open(self) -> bool:
        """True while a traceback is being read."""
        return any(one.open is not None for one in self.tracebacks.values())

    def reading(self, rank: int | None) -> bool:
        """True while a traceback of that rank is being read."""
        return rank in self.tracebacks and self.tracebacks[rank].open is not None

    def traceback(self, rank: int | None, number: int, line: str) -> Raised | None:
        """The exception that this line ends; a forward traceback of anomaly mode is kept by its node."""
        one = self.tracebacks.setdefault(rank, Tracebacks(rank))
        ended = one.feed(number, line)
        if ended is not None and ended.node:
            self.facts.forwards[ended.node] = ended
        return ended

    def message(self, message: Message, rank: int | None, number: int, line: str) -> None:
        """A message of the table in this line."""
        match = message.find(line)
        if match is None:
            return
        if "scale" in match.groupdict() and match["scale"]:
            self.point(SCALE, number, None, float(match["scale"].rstrip(".")))
        known = self.facts.hits.get(message.slug)
        if known is not None:
            known.count, known.last = known.count + 1, number
            return
        told = match["rank"] if "rank" in match.groupdict() and match["rank"] else None
        hit = Hit(message, number, line.strip()[:400], {k: v or "" for k, v in match.groupdict().items()}, last=number, rank=int(told) if told else rank)
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
        """The message of anomaly mode, with the forward call that was printed before it."""
        match = RETURNED.search(line)
        if match:
            self.facts.anomalies.append(Anomaly(match["node"], int(match["output"]), number, self.facts.forwards.get(match["node"])))
            del self.facts.anomalies[16:]

    def numbers(self, number: int, line: str) -> None:
        """The numbers of a line, each to its curve."""
        found = fields(line)
        step = found.pop(STEP, None)
        found.pop(EPOCH, None)
        self.facts.last_step = step if step is not None and found else self.facts.last_step
        for name, value in found.items():
            self.point(name, number, step, value)

    def point(self, name: str, number: int, step: float | None, value: float) -> None:
        """One value."""
        self.facts.curves.setdefault(name, Curve()).add(Point(number, step, value))

    def finish(self) -> LogFacts:
        """The facts, after the last piece."""
        for one in self.tracebacks.values():
            one.close(self.facts.lines)
            self.facts.tracebacks += one.done
        for hit in self.facts.hits.values():
            if WORKER in hit.text:
                hit.frame = next((one.place for one in self.facts.tracebacks if one.original and one.begin > hit.line and one.place), hit.frame)
        for anomaly in self.facts.anomalies:
            anomaly.forward = anomaly.forward or self.facts.forwards.get(anomaly.node)
        return self.facts


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
