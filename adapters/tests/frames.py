"""Implements a client of served adapters, which exchanges frames of harness/adapter/PROTOCOL.md over two pipes.

It owns the process, its time limit, and the bytes of requests and answers. It must not know which answers are right.
"""

import os
import select
import struct
import subprocess
import tempfile
import time

ANSWERED, UNSUPPORTED, REFUSED = 0, 1, 2


class Gone(Exception):
    """The adapter did not answer, because it ended or the time limit was reached."""

    def __init__(self, what, tail):
        super().__init__("%s; its standard error ends: %s" % (what, tail[-600:] or "(nothing)"))
        self.tail = tail


class Served:
    """A running adapter. `command` is a list; `seconds` is the limit for one answer."""

    def __init__(self, command, seconds=20):
        self.seconds = seconds
        self._errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self._errors, bufsize=0)
        os.set_blocking(self.process.stdin.fileno(), False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the adapter's input and returns its exit status. Kills an adapter that does not end by itself."""
        self.process.stdin.close()
        try:
            return self.process.wait(self.seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Gone("it did not end after its input was closed", self.tail()) from None
        finally:
            self.process.stdout.close()
            self._errors.close()

    def tail(self):
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")

    def send(self, raw):
        """Writes bytes unchanged."""
        self._exchange(raw, 0)

    def ask(self, request):
        """Sends one request and returns (status, body)."""
        return self.ask_many([request])[0]

    def ask_many(self, requests):
        """Sends several requests before it reads their answers, and returns the answers."""
        raw = b"".join(struct.pack("<I", len(request)) + request for request in requests)
        frames = self._exchange(raw, len(requests))
        for frame in frames:
            if not frame or frame[0] > REFUSED:
                raise Gone("it answered with an unknown status: %r" % frame[:20], self.tail())
        return [(frame[0], frame[1:]) for frame in frames]

    def _exchange(self, raw, answers):
        deadline = time.monotonic() + self.seconds
        source, sink = self.process.stdout.fileno(), self.process.stdin.fileno()
        received, frames = b"", []
        while raw or len(frames) < answers:
            left = deadline - time.monotonic()
            if left <= 0:
                self.process.kill()
                raise Gone("no answer within %s s" % self.seconds, self.tail())
            readable, writable, _ = select.select([source], [sink] if raw else [], [], left)
            if writable:
                try:
                    raw = raw[os.write(sink, raw[:65536]):]
                except BrokenPipeError:
                    raise Gone("it ended with status %d" % self.process.wait(), self.tail()) from None
            if readable:
                piece = os.read(source, 65536)
                if not piece:
                    raise Gone("it ended with status %d" % self.process.wait(), self.tail())
                received += piece
            while len(received) >= 4 and len(received) >= 4 + struct.unpack("<I", received[:4])[0]:
                end = 4 + struct.unpack("<I", received[:4])[0]
                frames.append(received[4:end])
                received = received[end:]
        return frames


def encode(program):
    """Encodes a program, given as a list of (code, jt, jf, k)."""
    return b"".join(struct.pack("<HBBI", *insn) for insn in program)


def decode(raw):
    if len(raw) % 8:
        raise ValueError("expected a program of 8 bytes for each instruction, found %d bytes" % len(raw))
    return list(struct.iter_unpack("<HBBI", raw))


def optimize(program):
    return b"O" + encode(program)


def compile_policy(text):
    return b"C" + text.encode()


def evaluate(program, inputs):
    """Makes a request to evaluate a program on `inputs`, 64 bytes each."""
    return b"E" + struct.pack("<I", len(program)) + encode(program) + b"".join(inputs)


def values(body):
    """Returns the values in an evaluator's answer."""
    return [value for value, in struct.iter_unpack("<I", body)]
