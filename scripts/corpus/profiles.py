"""Generates random container profiles, to compare the policy that secequiv reads with the filter that libseccomp makes.

Owns the kinds of profiles. It must not know libseccomp or secequiv.
"""

from typing import NamedTuple

LOW = (0, 1, 2, 3, 0x10, 0x7F, 0x80, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
VALUES = LOW + (0x100000000, 0x100000001, 0x1FFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF)
MASKS = (0, 1, 2, 3, 0xF0, 0x80000000, 0xFFFFFFFF, 0x100000001, 0xFFFFFFFF00000000, 0xFFFFFFFFFFFFFFFF)
ORDERED = ("LT", "LE", "GE", "GT")
PLAIN = ("read", "write", "openat", "ioctl", "mmap", "lseek", "clone", "prctl", "setuid", "kill", "personality", "futex")
# Each call is reached through socketcall or ipc on some architectures, and directly on some.
MULTIPLEXED = ("socket", "bind", "connect", "listen", "accept", "getsockname", "getpeername", "socketpair", "send", "recv", "sendto", "recvfrom",
               "shutdown", "setsockopt", "getsockopt", "sendmsg", "recvmsg", "accept4", "recvmmsg", "sendmmsg", "recvmmsg_time64", "semop", "semget",
               "semctl", "semtimedop", "semtimedop_time64", "msgsnd", "msgrcv", "msgget", "msgctl", "shmat", "shmdt", "shmget", "shmctl")
MULTIPLEXERS = ("socketcall", "ipc")
ACTIONS = ({"action": "SCMP_ACT_ALLOW"}, {"action": "SCMP_ACT_ERRNO", "errnoRet": 1}, {"action": "SCMP_ACT_ERRNO", "errnoRet": 38},
           {"action": "SCMP_ACT_KILL_PROCESS"}, {"action": "SCMP_ACT_LOG"}, {"action": "SCMP_ACT_TRAP"})


class Kind(NamedTuple):
    arches: tuple = ("X86_64",)  # the first one is the host's
    calls: tuple = PLAIN
    actions: int = 1  # different actions of the entries for one call, apart from the default action
    entries: int = 2  # entries for one call
    tests: int = 2  # tests in one entry
    repeats: bool = False  # an entry may test one argument twice
    operators: tuple = ("EQ", "NE", "MASKED_EQ") + ORDERED
    values: tuple = VALUES
    whole: tuple = MULTIPLEXERS  # calls of which entries have no tests
    anchor: bool = True  # an entry without tests for a call that every architecture has


# libseccomp 2.5.4 compiles some profiles wrongly (docs/libseccomp-2.5.4.md): it merges some conditions wrongly, and it may forget to load the number of
# the call if the only entries without tests are for calls that an architecture lacks. Most kinds avoid both.
SAFE = Kind(entries=1)
SOCKETS = SAFE._replace(calls=MULTIPLEXED + MULTIPLEXERS)
EQUALITIES = SOCKETS._replace(entries=2, tests=1, operators=("EQ",))
KINDS = {
    "safe": SAFE,
    "masks": Kind(tests=1, operators=("MASKED_EQ", "EQ", "NE")),
    "repeated arguments": Kind(entries=1, tests=3, repeats=True, operators=("EQ", "MASKED_EQ", "NE")),
    "one action": Kind(arches=("X86_64", "X86"), entries=3),
    "x32": SAFE._replace(arches=("X86_64", "X86", "X32")),
    "arm": SAFE._replace(arches=("AARCH64", "ARM"), calls=PLAIN + MULTIPLEXED),
    "multiplexed, i386": SOCKETS._replace(arches=("X86_64", "X86")),
    "multiplexed, x32": SOCKETS._replace(arches=("X86_64", "X86", "X32")),
    "multiplexed, i386, two entries": EQUALITIES._replace(arches=("X86_64", "X86")),
    "multiplexed, s390x": SOCKETS._replace(arches=("S390X",)),
    "multiplexed, ppc64le": SOCKETS._replace(arches=("PPC64LE",)),
    "multiplexed, i386 alone": SOCKETS._replace(arches=("X86",)),
    "multiplexed, tests of socketcall": SOCKETS._replace(arches=("X86_64", "X86"), whole=()),
    "missing calls": SOCKETS._replace(arches=("X86_64", "X86"), anchor=False),
    "several actions": Kind(entries=3, actions=3),
    "several actions, multiplexed": Kind(arches=("X86_64", "X86"), calls=MULTIPLEXED + MULTIPLEXERS, actions=2),
}


def profile(random, kind):
    """Returns a profile as JSON values."""
    default = random.choice(ACTIONS)
    syscalls = []
    for name in random.sample(kind.calls, random.randrange(1, 7)):
        actions = random.sample([action for action in ACTIONS if action != default], kind.actions)
        if random.randrange(8) == 0:
            actions = [default]  # runtimes skip such an entry
        for _ in range(random.randrange(1, kind.entries + 1)):
            tests = [] if name in kind.whole else _tests(random, kind)
            syscalls.append({"names": [name], **random.choice(actions), "args": tests})
    if kind.anchor:
        syscalls.append({"names": ["exit_group"], **next(action for action in ACTIONS if action != default)})
    random.shuffle(syscalls)
    out = {"defaultAction": default["action"], "architectures": ["SCMP_ARCH_" + arch for arch in kind.arches], "syscalls": syscalls}
    if "errnoRet" in default:
        out["defaultErrnoRet"] = default["errnoRet"]
    return out


def _tests(random, kind):
    count = random.randrange(kind.tests + 1)
    indices = [random.randrange(6) for _ in range(count)] if kind.repeats else random.sample(range(6), count)
    return [_test(random, kind, index) for index in indices]


def _test(random, kind, index):
    operator = random.choice(kind.operators)
    out = {"index": index, "op": "SCMP_CMP_" + operator, "value": random.choice(MASKS if operator == "MASKED_EQ" else kind.values)}
    if operator == "MASKED_EQ":
        out["valueTwo"] = random.choice(kind.values)
    return out
