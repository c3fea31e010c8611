"""Boots a kernel in QEMU and carries frames between it and a client (harness/adapter/PROTOCOL.md describes frames)."""

import contextlib
import ctypes
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from .boards import NotAvailable

CHUNK = 1 << 16
MOST_AHEAD = 1 << 20  # bytes that are kept for a side that does not read
PIPE_CHUNK = 4096  # a pipe that can be written to takes as many bytes without blocking
PR_SET_PDEATHSIG = 1
LAST_LINES = 8
# How Linux begins to report that it ends.
TROUBLE = re.compile(r"(?:^|\] )((?:Kernel panic|Internal error|Out of memory|Unable to handle|BUG:|kernel BUG|Oops|Unhandled fault|CPU \d+ Unable).*)")


class Ended(Exception):
    """The guest has ended, or does not answer."""


class FrameCount:
    """Counts the frames in a stream that comes in parts."""

    def __init__(self):
        self.complete = 0
        self._head = b""
        self._left = None  # bytes of the body to come

    @property
    def within(self):
        """Whether the stream stops within a frame."""
        return self._left is not None or bool(self._head)

    def feed(self, part):
        at = 0
        while at < len(part) or self._left == 0:
            if self._left is None:
                take = min(4 - len(self._head), len(part) - at)
                self._head += part[at:at + take]
                if len(self._head) == 4:
                    self._left, = struct.unpack("<I", self._head)
                    self._head = b""
            else:
                take = min(self._left, len(part) - at)
                self._left -= take
                if self._left == 0:
                    self._left = None
                    self.complete += 1
            at += take


def command(board, kernel, initramfs, port):
    """Returns QEMU's command line; `port` is the descriptor of the port's socket."""
    names = [each.name for each in board.entries]
    arguments = [names[0], *("%s=/asker-%s" % (name, name) for name in names[1:])]
    line = "console=%s quiet panic=-1 audit=0 init_on_free=1 rdinit=/asker -- %s" % (board.console, " ".join(arguments))
    return [board.qemu, *board.machine, "-accel", "tcg", "-m", str(board.memory), "-smp", "1", "-nodefaults", "-nographic", "-nic", "none", "-no-reboot",
            "-kernel", str(kernel), "-initrd", str(initramfs), "-append", line,
            "-chardev", "stdio,id=console,signal=off", *board.serial.split(),
            "-chardev", "socket,id=port,fd=%d" % port, "-device", "virtio-serial-%s" % board.bus, "-device", "virtserialport,chardev=port"]


def die_with_parent():
    """Runs in QEMU's process before QEMU: the kernel kills it as soon as this script has ended, however it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Guest:
    """A running kernel. `socket` carries its frames, and `info` is its answer to the request for information."""

    def __init__(self, board, kernel, initramfs, limit, give_up=lambda: False):
        if shutil.which(board.qemu) is None:
            raise NotAvailable("%s is not installed (Debian: %s)" % (board.qemu, board.package))
        self.started = time.monotonic()
        self.socket, other = socket.socketpair()
        self._console = tempfile.TemporaryFile()
        with other:
            self.process = subprocess.Popen(command(board, kernel, initramfs, other.fileno()), stdin=subprocess.DEVNULL, stdout=self._console,
                                            stderr=subprocess.STDOUT, pass_fds=[other.fileno()], preexec_fn=die_with_parent, start_new_session=True)
        try:
            status, body = self.ask(b"I", limit, give_up)
            if status != 0:
                raise NotAvailable("the kernel cannot be asked: %s" % body.decode(errors="replace"))
        except Ended as why:
            self.stop()
            raise NotAvailable(str(why)) from None
        except BaseException:
            self.stop()
            raise
        self.info = json.loads(body)
        self.seconds = time.monotonic() - self.started

    def ask(self, request, limit, give_up=lambda: False):
        """Returns the status and the body of the answer to a request. Raises Ended if there is none within `limit` seconds."""
        deadline = time.monotonic() + limit
        to_guest = memoryview(struct.pack("<I", len(request)) + request)
        got, answered = bytearray(), FrameCount()
        while not answered.complete:
            readable, writable, _ = select.select([self.socket], [self.socket] if to_guest else [], [], min(0.5, max(0, deadline - time.monotonic())))
            if writable:
                to_guest = to_guest[self.socket.send(to_guest[:CHUNK], socket.MSG_DONTWAIT):]
            if readable:
                part = self._received()
                answered.feed(part)
                got += part
            elif time.monotonic() > deadline:
                raise Ended("the kernel did not answer within %g s%s" % (limit, self.last_lines()))
            elif give_up():
                raise Ended("the client has ended")
        return got[4], bytes(got[5:])

    def _received(self):
        try:
            part = self.socket.recv(CHUNK)
        except ConnectionError:
            part = b""
        if not part:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)  # until it has written everything
            raise Ended("the kernel ended%s" % self.last_lines())
        return part

    def last_lines(self):
        """Returns, as the end of a message, why the kernel ended, if it said so, and the last lines that it and QEMU printed."""
        self._console.seek(0)
        lines = [line.strip() for line in self._console.read().decode(errors="replace").splitlines() if line.strip()]
        reasons = [found[1] for found in map(TROUBLE.search, lines) if found]
        return "".join(": " + reason for reason in reasons[:1]) + "".join("\n  | " + line for line in lines[-LAST_LINES:])

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self._console.close()

    def relay(self, requests, answers):
        """Carries frames from the descriptor `requests` to the guest and its answers to `answers` until all requests are answered. Returns whether the
        requests ended at the end of a frame. Raises Ended if the guest ended before."""
        asked, answered = FrameCount(), FrameCount()
        to_guest, to_client = bytearray(), bytearray()
        open_ = True
        while open_ or asked.complete > answered.complete or to_client:
            reads = [self.socket] if len(to_client) < MOST_AHEAD else []
            if open_ and len(to_guest) < MOST_AHEAD:
                reads.append(requests)
            readable, writable, _ = select.select(reads, ([self.socket] if to_guest else []) + ([answers] if to_client else []), [])
            if requests in readable:
                part = os.read(requests, CHUNK)
                open_ = bool(part)
                asked.feed(part)
                to_guest += part
            if answers in writable:
                del to_client[:os.write(answers, to_client[:PIPE_CHUNK])]
            if self.socket in writable:
                del to_guest[:self.socket.send(to_guest[:CHUNK], socket.MSG_DONTWAIT)]
            if self.socket in readable:
                part = self._received()
                answered.feed(part)
                to_client += part
        return not asked.within
