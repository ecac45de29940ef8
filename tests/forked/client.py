"""Hands its arguments, environment, folder and streams to the process that forks (server.py), and ends as the program
ends.

python -IS client.py SOCKET debug-tracer|python ARGUMENTS
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import sys


def main() -> int:
    """The status of the program, as subprocess gives it: -n for signal n."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(sys.argv[1])
    asked = json.dumps({"words": sys.argv[2:], "cwd": os.getcwd(), "env": dict(os.environ)}).encode()
    streams = array.array("i", [0, 1, 2])
    server.sendmsg([len(asked).to_bytes(4, "little")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
    server.sendall(asked)
    answer = server.recv(4, socket.MSG_WAITALL)
    if len(answer) != 4:
        sys.exit("forked: the process that forks is gone")
    return int.from_bytes(answer, "little", signed=True)


if __name__ == "__main__":
    status = main()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -status)
    os._exit(status)
