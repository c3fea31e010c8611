"""Runs a Python function as a served command of `secequiv fuzz` (harness/adapter/PROTOCOL.md).

Owns the processes. secequiv starts a relay, which hands its standard streams to this process through a socket. A fork of this process then
answers the requests, so a crash or an endless loop of the function ends only that fork. This module must not know the meaning of reports.
"""

import os
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import BinaryIO, Callable, Dict, List, NamedTuple, NoReturn, Sequence, Tuple

from ._command import command

_INSN = struct.Struct("<HBBI")
_LENGTH = struct.Struct("<I")
# Sends its streams and waits for the exit status of the fork.
_RELAY = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
          "socket.send_fds(s, [b'!'], [0, 1, 2])\nsys.exit((s.recv(1) or b'\\1')[0])")


class Insn(NamedTuple):
    """A struct sock_filter."""

    code: int
    jt: int
    jf: int
    k: int


Optimizer = Callable[[List[Insn]], Sequence[Tuple[int, int, int, int]]]


class Ran(NamedTuple):
    """How secequiv ended. `ends` are the exit statuses of forks that failed: secequiv ignores them if all requests were answered."""

    status: int
    output: str
    errors: str
    ends: List[int]


def run(arguments: Sequence[str], optimize: Optimizer) -> Ran:
    """Runs secequiv with these arguments and `optimize` under test."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener, _Forks(optimize) as forks:
        path = str(Path(folder) / "relay")
        listener.bind(path)
        listener.listen()
        relay = "exec %s -I -S -c %s %s" % tuple(shlex.quote(word) for word in (sys.executable, _RELAY, path))
        words = [command(), *arguments, "--no-sandbox", "--optimizer", "serve:" + relay]
        with open(Path(folder) / "output", "w+b") as out, open(Path(folder) / "errors", "w+b") as errors:
            with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors) as process:
                try:
                    _serve_until_it_ends(process, listener, forks)
                finally:
                    process.kill()
            out.seek(0)
            errors.seek(0)
            return Ran(process.returncode, out.read().decode(errors="replace"), errors.read().decode(errors="replace"), forks.ends)


def _serve_until_it_ends(process: "subprocess.Popen[bytes]", listener: socket.socket, forks: "_Forks") -> None:
    ended = os.pidfd_open(process.pid)
    try:
        while True:
            ready, _, _ = select.select([ended, listener, *forks.waited_for()], [], [])
            if ended in ready:
                process.wait()
                return
            if listener in ready:
                forks.start(listener)
            for descriptor in ready:
                forks.end(descriptor)
    finally:
        os.close(ended)


class _Forks:
    """Copies of this process that answer requests, each for one relay."""

    def __init__(self, optimize: Optimizer) -> None:
        self._optimize = optimize
        self._running: Dict[int, Tuple[int, socket.socket]] = {}  # pidfd -> (process, relay)
        self.ends: List[int] = []

    def __enter__(self) -> "_Forks":
        return self

    def __exit__(self, *_: object) -> None:
        for each in list(self._running):
            self.end(each)

    def waited_for(self) -> List[int]:
        return [descriptor for pidfd, (_, relay) in self._running.items() for descriptor in (pidfd, relay.fileno())]

    def start(self, listener: socket.socket) -> None:
        relay, _ = listener.accept()
        _, streams, _, _ = socket.recv_fds(relay, 1, 3)
        if len(streams) != 3:  # the relay ended already
            relay.close()
            return
        process = os.fork()
        if process == 0:
            _answer_and_exit(self._optimize, *streams)
        for each in streams:
            os.close(each)
        self._running[os.pidfd_open(process)] = (process, relay)

    def end(self, descriptor: int) -> None:
        """Ends a fork and its relay after one of them has ended; `descriptor` belongs to one of the two."""
        for pidfd, (process, relay) in list(self._running.items()):
            if descriptor in (pidfd, relay.fileno()):
                del self._running[pidfd]
                ended_by_itself = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)  # an ended fork remains until its parent waits for it
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                if ended_by_itself and status != 0:
                    self.ends.append(status)
                try:
                    relay.send(bytes([status if status >= 0 else 128 - status]))
                except OSError:
                    pass  # the relay was killed
                relay.close()
                os.close(pidfd)


def _answer_and_exit(optimize: Optimizer, requests: int, answers: int, errors: int) -> NoReturn:
    status = 1

    def thread_failed(raised: "threading.ExceptHookArgs") -> None:
        if raised.exc_type is not SystemExit:
            trace = traceback.format_exception(raised.exc_type, raised.exc_value, raised.exc_traceback)
            _write_and_exit(errors, "".join(trace))

    threading.excepthook = thread_failed  # Python would continue, and pytest would collect the exception in this fork
    try:
        with os.fdopen(requests, "rb") as source, os.fdopen(answers, "wb") as sink:
            _answer(optimize, source, sink)
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        status = 0
    except BaseException:  # the fork must never continue in the caller's tests
        _write_and_exit(errors, traceback.format_exc())
    finally:
        os._exit(status)


def _write_and_exit(errors: int, text: str) -> NoReturn:
    try:
        os.write(errors, text.encode(errors="replace"))
    finally:  # secequiv may no longer read
        os._exit(1)


def _answer(optimize: Optimizer, requests: BinaryIO, answers: BinaryIO) -> None:
    while length := requests.read(_LENGTH.size):
        frame = requests.read(*_LENGTH.unpack(length))
        if frame[:1] == b"O":
            program = [Insn(*fields) for fields in _INSN.iter_unpack(frame[1:])]
            answer = b"\0" + b"".join(_INSN.pack(*insn) for insn in optimize(program))
        else:
            answer = b"\1an optimizer without stages"
        answers.write(_LENGTH.pack(len(answer)) + answer)
        answers.flush()
