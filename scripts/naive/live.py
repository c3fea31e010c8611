"""Finds out whether the running kernel accepts a program, without installing anything.

Owns the system calls (x86_64 and the generic syscall table, through ctypes). It must not know the rules. A forked
child sets NO_NEW_PRIVS, lowers RLIMIT_NOFILE to 0 and calls seccomp() with the flag for a listener. The kernel first
checks and translates the program; only then does it find no descriptor for the listener. So an accepted program gives
EMFILE and a refused one EINVAL, and the filter is never installed.
"""

import ctypes
import errno
import os
import platform
import resource
import socket
import struct

SYS_SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}.get(platform.machine())
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 8
PR_SET_NO_NEW_PRIVS = 38
SO_ATTACH_FILTER = 26

ACCEPTED, REFUSED, BROKEN = b"y", b"n", b"?"


class LiveError(Exception):
    """The kernel gave neither answer: seccomp is not permitted here, or memory ran out."""


class _SockFprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def accepts(program):
    """Returns whether the running kernel accepts `program` (a list of Insn) as a seccomp filter. Forks once."""
    return accepts_all([program])[0]


def accepts_all(programs):
    """Returns the result of accepts() for each of `programs`, using a single forked child."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            _child(programs, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    os.waitpid(pid, 0)
    verdicts, broken, detail = answer[:len(programs)], answer.find(BROKEN), answer[len(programs):]
    if broken >= 0:
        raise LiveError("program %d: %s" % (broken, detail.decode()))
    if len(verdicts) != len(programs):
        raise LiveError("the probe answered for %d of %d programs" % (len(verdicts), len(programs)))
    return [verdicts[i:i + 1] == ACCEPTED for i in range(len(programs))]


def _child(programs, writer):
    """Writes one byte for each program, then the first error that left a program undecided, if there was one."""
    libc = ctypes.CDLL(None, use_errno=True)
    detail = ""
    if SYS_SECCOMP is None or libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        os.write(writer, BROKEN * len(programs) + b"no seccomp() or NO_NEW_PRIVS on this machine")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    verdicts = bytearray()
    for program in programs:
        if len(program) > 0xFFFF:  # sock_fprog cannot hold this length
            verdicts += REFUSED
            continue
        fprog, _keep = _sock_fprog(program)
        ctypes.set_errno(0)
        got = libc.syscall(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, ctypes.byref(fprog))
        error = ctypes.get_errno()
        if got < 0 and error == errno.EMFILE:
            verdicts += ACCEPTED
        elif got < 0 and error == errno.EINVAL:
            verdicts += REFUSED
        else:
            verdicts += BROKEN
            detail = detail or "seccomp() returned %d, %s" % (got, os.strerror(error))
            if got >= 0:
                break  # the filter is installed, so later answers cannot be trusted
    answer = bytes(verdicts) + BROKEN * (len(programs) - len(verdicts)) + detail.encode()
    while answer:
        answer = answer[os.write(writer, answer):]


def classic_accepts(program):
    """Returns whether `program` passes bpf_check_classic. The kernel makes only this check if a program is attached to a socket."""
    if len(program) > 0xFFFF:
        return False
    fprog, _keep = _sock_fprog(program)
    first, second = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with first, second:
        try:
            first.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, bytes(fprog))
        except OSError as error:
            if error.errno == errno.EINVAL:
                return False
            raise LiveError("SO_ATTACH_FILTER: %s" % error) from None
    return True


def _sock_fprog(program):
    """Returns a sock_fprog for `program` and the buffer that must outlive it."""
    raw = b"".join(struct.pack("=HBBI", *insn) for insn in program)
    buffer = ctypes.create_string_buffer(raw, max(len(raw), 1))
    return _SockFprog(len(program), ctypes.addressof(buffer)), buffer
