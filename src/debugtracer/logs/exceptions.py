"""Python tracebacks in a log: frames, the user's line, the exception; also the forward traceback that anomaly mode
prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from debugtracer.trace.birth import Frame

FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>.+?))?\s*$')
BEGIN = re.compile(r"Traceback \(most recent call last\)")
FORWARD = re.compile(r"(?:Error detected in (?P<node>\w+?)\..*?)?Traceback of forward call that caused the error")
ANY_NODE = "?"  # torch before 1.5 printed the forward call without its node
IPYTHON = re.compile(
    r"^(?:File )?(?P<file>[~/.\w][^\s:()]*\.py|<ipython-input[^>]*>|Cell In\[\d+\])(?::(?P<line>\d+))?,? (?:line \d+,? "
    r")?in (?P<function>[\w.<>]+)"
)
ARROW = re.compile(r"^-+> ?(?P<line>\d+) (?P<code>.*)")
NAMED = r"(?:Error|Exception|Interrupt|Exit|Warning|Failed|Timeout)"
END = re.compile(
    rf"^\s*(?:[\w.]+\.)?(?P<error>[A-Za-z_]\w*{NAMED}): "
    r"?(?P<message>.*)|^(?P<bare>KeyboardInterrupt|AssertionError)\s*$"
)
LIBRARY = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python\d|Python\d+\\[Ll]ib\\|^<frozen |^<string>"
    r"|/torch/(?:nn|autograd|utils|distributed|optim|amp|_\w+)[/.]"
)
LONGEST = 400  # lines; a traceback without its exception is given up after them
MARKS = re.compile(r"^\s*[\^~\s]+$")


@dataclass
class Raised:
    """One traceback. `frames` are outermost first; `error` is empty for the forward call of anomaly mode."""

    begin: int
    frames: list[Frame] = field(default_factory=list)
    error: str = ""
    message: str = ""
    end: int = 0
    rank: int | None = None
    original: bool = False
    """It was raised in a loader's worker, and printed again by the process of the loop."""
    node: str = ""
    """The autograd node whose forward call this is."""

    @property
    def place(self) -> Frame | None:
        """The innermost line that is not a library's; the innermost of all when there is none."""
        own = [frame for frame in self.frames if not LIBRARY.search(frame.file)]
        return own[-1] if own else None

    @property
    def script(self) -> Frame | None:
        """The outermost line that is not a library's: the program."""
        return next((frame for frame in self.frames if not LIBRARY.search(frame.file)), None)


@dataclass
class Tracebacks:
    """Collects the tracebacks of one rank, line by line."""

    rank: int | None = None
    forwards: dict[str, Raised] = field(default_factory=dict)
    """Forward calls of anomaly mode, by node; the last one of each."""
    done: list[Raised] = field(default_factory=list)
    open: Raised | None = None
    wants_code: bool = False

    def feed(self, number: int, line: str) -> Raised | None:
        """Take one line; return the traceback it ends, if it does."""
        forward = FORWARD.search(line)
        if forward or BEGIN.search(line):
            self.close(number - 1)
            self.open = Raised(
                begin=number,
                rank=self.rank,
                node=(forward["node"] or ANY_NODE) if forward else "",
                original="Original Traceback" in line,
            )
            self.wants_code = False
            return None
        if self.open is None:
            return None
        if number - self.open.begin > LONGEST:
            return self.close(number)
        frame, cell, arrow = FRAME.search(line), IPYTHON.match(line), ARROW.match(line)
        if cell and not frame:
            self.open.frames.append(Frame(cell["file"], int(cell["line"] or 0), cell["function"]))
        elif arrow and self.open.frames:
            last = self.open.frames[-1]
            self.open.frames[-1] = Frame(last.file, int(arrow["line"]), last.function, arrow["code"].strip())
        elif frame:
            self.open.frames.append(Frame(frame["file"], int(frame["line"]), frame["function"] or ""))
            self.wants_code = True
        elif self.wants_code and line.strip() and not MARKS.match(line):
            last = self.open.frames[-1]
            self.open.frames[-1] = Frame(last.file, last.line, last.function, line.strip())
            self.wants_code = False
        elif line.lstrip().startswith("(Triggered internally"):
            return self.close(number)
        elif self.open.frames and not self.open.node:
            return self.ended(number, line)
        return None

    def ended(self, number: int, line: str) -> Raised | None:
        """The traceback that this line ends with its exception."""
        end = END.match(line)
        if not end or self.open is None:
            return None
        self.open.error, self.open.message = end["error"] or end["bare"], (end["message"] or "").strip()
        return self.close(number)

    def close(self, number: int) -> Raised | None:
        """The open traceback is over."""
        ended, self.open, self.wants_code = self.open, None, False
        if ended is None or not ended.frames:
            return None
        ended.end = number
        if ended.node:
            self.forwards[ended.node] = ended
        self.done.append(ended)
        del self.done[8:-24]  # the first ones and the last ones are kept
        return ended
