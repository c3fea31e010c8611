"""Plants a mistake between secequiv and a booted kernel: planted.py BUG COMMAND... runs COMMAND and changes the frames to and from it.

To secequiv, a kernel behind such a change looks like a kernel that differs from the model, as a mistake in the model would make it look. The matrix of
kernels (matrix.py) runs every bug on every architecture, and secequiv must find it.
"""

import json
import struct
import subprocess
import sys

RET_K = 0x06
LONGEST = 4096
KILLED = 0xFFFFFFFF


def split(request):
    """Returns the head of a request `Q`, its program, and the calls."""
    count, = struct.unpack_from("<I", request, 2)
    end = 6 + 8 * count
    return request[:6], request[6:end], request[end:]


class Bug:
    """No mistake. The others change requests, answers, or both."""

    def request(self, request):
        return request

    def answer(self, request, answer):
        return answer


class Halves(Bug):
    """The model has the halves of arguments in the wrong order."""

    def request(self, request):
        if request[:1] != b"Q":
            return request
        head, program, calls = split(request)
        return head + program + b"".join(struct.pack("<4I12I", *row[:4], *[row[4 + (i ^ 1)] for i in range(12)])
                                         for row in struct.iter_unpack("<16I", calls))


class Division(Bug):
    """The model continues after a division by zero."""

    def answer(self, request, answer):
        if request[:1] != b"Q" or answer[:1] != b"\0":
            return answer
        return b"\0" + b"".join(struct.pack("<I", 1 if value == KILLED else value) for value, in struct.iter_unpack("<I", answer[1:]))


class Length(Bug):
    """The model refuses programs of the greatest length."""

    def answer(self, request, answer):
        if request[:1] != b"A" or answer[:1] != b"\0":
            return answer
        out, at = bytearray(answer), 5
        for i in range(len(answer) - 1):
            count, = struct.unpack_from("<I", request, at)
            at += 4 + 8 * count
            if count == LONGEST:
                out[1 + i] ^= 1
        return bytes(out)


class Arch(Bug):
    """The model has the value of seccomp_data.arch of the first entry for all entries."""

    def request(self, request):
        return request[:1] + b"\0" + request[2:] if request[:1] == b"Q" else request


class Audit(Bug):
    """The model has a wrong value of seccomp_data.arch for the first entry."""

    def answer(self, request, answer):
        if request[:1] != b"I" or answer[:1] != b"\0":
            return answer
        info = json.loads(answer[1:])
        info["entries"][0]["audit"] ^= 1
        return b"\0" + json.dumps(info).encode()


BUGS = {"halves": Halves, "division": Division, "length": Length, "arch": Arch, "audit": Audit}


def read_frame(stream):
    """Returns a frame, or None at the end of the stream."""
    length = stream.read(4)
    if len(length) < 4:
        return None
    return stream.read(*struct.unpack("<I", length))


def write_frame(stream, body):
    stream.write(struct.pack("<I", len(body)) + body)
    stream.flush()


def main(name, command):
    bug = BUGS[name]()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        while (request := read_frame(sys.stdin.buffer)) is not None:
            write_frame(process.stdin, bug.request(request))
            answer = read_frame(process.stdout)
            if answer is None:
                break
            write_frame(sys.stdout.buffer, bug.answer(request, answer))
        process.stdin.close()
    return process.returncode


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in BUGS:
        print("usage: planted.py {%s} COMMAND..." % ",".join(BUGS), file=sys.stderr)
        sys.exit(2)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
