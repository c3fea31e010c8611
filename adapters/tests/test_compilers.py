"""Tests compilers: each answer is proven to decide as the policy does, or is "unsupported"."""
# Annex: adapters

import json
from random import Random

import frames
import pytest
from built_adapters import FULL, ROOT
from random_policies import ALL_OPERATORS, Abilities, policy

POLICIES = 150 if FULL else 15
CORPUS = ROOT / "corpus/policies"

ACTIONS = ("allow", "kill_process", "kill_thread", "trap", "errno(1)", "errno(77)", "user_notif", "trace(5)")
ODD_NUMBERS = (0x40000000, 0x80000000, 0xFFFFFFFF)
GVISOR = Abilities(ACTIONS, numbers=tuple(range(8)) + (999,) + ODD_NUMBERS, instruction_pointer=True, vsyscall=True,
                   same_call_again=True)
SECCOMPILER = Abilities(("allow", "kill_process", "kill_thread", "trap", "errno(1)", "errno(77)", "log", "trace(5)"),
                        same_call_again=True, one_action=True, bad_arch=("kill_process",))
# Known bugs (corpus/known.toml): libseccomp compiles alternatives with order comparisons or `ne` wrongly (libseccomp-below-or-above,
# -two-unequal) or never ends (-one-condition-less), and it treats x32 numbers differently (-x32-numbers).
LIBSECCOMP = Abilities(ACTIONS, depth=0, x32_like_bad_arch=True)
LIBSECCOMP_ALTERNATIVES = LIBSECCOMP._replace(
    depth=2, operators=tuple(operator for operator in ALL_OPERATORS if operator not in ("ne", "gt", "ge", "lt", "le")))
# libseccomp knows the calls of other architectures by name.
NAMES = ("read", "write", "openat", "close", "dup3", "getpid", "exit_group", "mprotect")
LIBSECCOMP_ARCHES = LIBSECCOMP._replace(numbers=NAMES, x32_like_bad_arch=False, arches=(
    ("aarch64",), ("riscv64",), ("ppc64le",), ("s390x",), ("mips64",), ("s390x", "mips64"), ("aarch64", "riscv64", "ppc64le")))
LIBSECCOMP_32_BITS = LIBSECCOMP_ARCHES._replace(bits=32, arches=(("i386",), ("arm",), ("arm", "i386")))
RUNC = LIBSECCOMP._replace(actions=("allow", "kill_process", "kill_thread", "trap", "errno(1)", "errno(77)", "log", "trace(5)"),
                           numbers=tuple(range(8)), bad_arch=("kill_thread",), defaults=("allow", "log", "trace(5)"))
PODMAN = RUNC._replace(actions=("allow", "errno(1)", "errno(77)", "log", "trap", "trace(5)"), defaults=())
NO_X32_LOOKALIKES = "arch != x86_64 || nr < 0x80000000 || nr > 0xbfffffff"
NO_X32_NUMBERS = "arch != x86_64 || nr < 0x40000000"
# The known bug elastic-number-not-reloaded affects every policy in which another call follows a condition.
ELASTIC = Abilities(("allow", "kill_process", "kill_thread", "trap", "errno(1)", "log", "trace"), numbers=(3,), x32="errno(ENOSYS)",
                    bad_arch_like_default=True, operators=("eq", "ne", "gt", "ge", "lt", "le", "bits_allowlist"))
SECCOMPY = Abilities(ACTIONS + ("log",), numbers=tuple(range(8)) + (999,) + ODD_NUMBERS, same_call_again=True, bad_arch=("kill_process",))
# The known bugs kafel-small-constant and kafel-wide-mask affect constants below 2^32 and masks.
KAFEL = Abilities(ACTIONS + ("log",), operators=("eq", "ne", "gt", "ge", "lt", "le"), numbers=tuple(range(8)) + (999,), least=1 << 32,
                  same_call_again=True, bad_arch=("kill_process",))

CASES = {
    "elastic": (("elastic",), ELASTIC, NO_X32_NUMBERS),
    "gvisor": (("gvisor",), GVISOR, None),
    "gvisor-unoptimized": (("gvisor", "--unoptimized"), GVISOR, None),
    "kafel": (("kafel",), KAFEL, None),
    "podman": (("podman",), PODMAN, NO_X32_LOOKALIKES),
    "runc": (("runc",), RUNC, NO_X32_LOOKALIKES),
    "seccompiler": (("seccompiler",), SECCOMPILER._replace(numbers=SECCOMPILER.numbers + ODD_NUMBERS), None),
    "seccompiler-arches": (("seccompiler",), SECCOMPILER._replace(arches=(("aarch64",), ("riscv64",))), None),
    "seccompiler-json": (("seccompiler", "--json"), SECCOMPILER._replace(numbers=tuple(range(8))), None),
    "seccompy": (("seccompy",), SECCOMPY, None),
    "libseccomp": (("libseccomp",), LIBSECCOMP, NO_X32_LOOKALIKES),
    "libseccomp-tree": (("libseccomp", "--tree"), LIBSECCOMP, NO_X32_LOOKALIKES),
    "libseccomp-arches": (("libseccomp",), LIBSECCOMP_ARCHES, None),
    "libseccomp-tree-arches": (("libseccomp", "--tree"), LIBSECCOMP_ARCHES, None),
    "libseccomp-32-bits": (("libseccomp",), LIBSECCOMP_32_BITS, None),
    "libseccomp-alternatives": (("libseccomp",), LIBSECCOMP_ALTERNATIVES, NO_X32_LOOKALIKES),
    "libseccomp-tree-alternatives": (("libseccomp", "--tree"), LIBSECCOMP_ALTERNATIVES, NO_X32_LOOKALIKES),
}


def proven(secequiv, folder, text, program, assume=None):
    before, after = folder / "policy.json", folder / "program.bpf"
    before.write_text(text)
    after.write_bytes(program)
    done = secequiv("prove", before, after, *(["--assume", assume] if assume else []))
    assert done.returncode == 0, "%s\n%s%s" % (text, done.stdout, done.stderr)


def lifted(secequiv, folder):
    """Turns the last proven program back into a policy, which `lift` proves to be equivalent."""
    done = secequiv("lift", folder / "program.bpf", "-o", folder / "lifted.json")
    assert done.returncode == 0 and json.loads((folder / "lifted.json").read_text())["version"] == 1, done.stderr


def answers_are_right(adapter, random, abilities, assume, secequiv, normal_form, folder):
    """Proves, and lifts, the answers for random policies."""
    answered = unsupported = 0
    while answered < POLICIES:
        text = policy(random, abilities)
        status, body = adapter.ask(frames.compile_policy(normal_form(text)))
        assert status != frames.REFUSED, (text, body)
        if status == frames.ANSWERED:
            proven(secequiv, folder, text, body, assume)
            lifted(secequiv, folder)
            answered += 1
        else:
            unsupported += 1
            assert unsupported <= POLICIES, body  # otherwise `abilities` claims too much


@pytest.mark.parametrize("case", sorted(CASES))
def test_answers_for_random_policies_are_right(served, secequiv, normal_form, tmp_path, case):
    command, abilities, assume = CASES[case]
    answers_are_right(served(*command), Random(case), abilities, assume, secequiv, normal_form, tmp_path)


# For each policy of the corpus, the compiler's answer is proven or is "unsupported". Policies marked True must not be unsupported;
# those marked False must be.
EXPRESSIBLE = {
    "gvisor": {"directfs-openat": False, "nested": False, "orders": True, "signed-fds": True, "variables": True},
    "libseccomp": {"ten-syscalls": True, "vsyscall": False, "big-endian": False},
    "seccompy": {"orders": True, "nested": True, "big-endian": False},
    "seccompiler": {"futex": False, "orders": False},
}


@pytest.mark.parametrize("name", sorted(EXPRESSIBLE))
def test_answers_for_corpus_policies_are_right(served, secequiv, normal_form, tmp_path, name):
    adapter, answered = served(name), {}
    for file in sorted((CORPUS / "seed").glob("*.json")):
        status, body = adapter.ask(frames.compile_policy(normal_form(file.read_text())))
        assert status != frames.REFUSED, (file.name, body)
        answered[file.stem] = status == frames.ANSWERED
        if status == frames.ANSWERED:
            proven(secequiv, tmp_path, file.read_text(), body, NO_X32_LOOKALIKES if name == "libseccomp" else None)
    assert EXPRESSIBLE[name].items() <= answered.items(), answered


@pytest.mark.parametrize("file", sorted((CORPUS / "gvisor").glob("*.json")), ids=lambda file: file.stem)
def test_gvisor_reproduces_the_corpus(served, normal_form, file):
    """gVisor made these optimized programs from the rules of these policies. Its unoptimized programs also test fields that may have any
    value, so they are not compared."""
    status, body = served("gvisor").ask(frames.compile_policy(normal_form(file.read_text())))
    assert status == frames.ANSWERED, body
    assert body == (ROOT / "corpus/programs/gvisor" / (file.stem + ".after.bpf")).read_bytes()


def small(**changes):
    base = {"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
            "rule_sets": [{"action": "allow", "rules": {"read": True}}]}
    return json.dumps({**base, **changes})


def one_rule(matcher, field="0", vsyscall=False, **changes):
    return small(rule_sets=[{"action": "allow", "vsyscall": vsyscall, "rules": {"read": {"args": {field: matcher}}}}], **changes)


def two_sets(first, second, vsyscall=False, **changes):
    return small(rule_sets=[{"action": first, "rules": {"read": {"args": {"0": {"eq": 1}}}}},
                            {"action": second, "vsyscall": vsyscall, "rules": {"read": True}}], **changes)


X32 = {"x32_action": "kill_process"}
BAD_ARCH = {"bad_arch_action": "kill_thread", "x32_action": "kill_thread"}
PERMISSIVE = {**BAD_ARCH, "default_action": "log"}
ENOSYS = {"x32_action": "errno(ENOSYS)", "bad_arch_action": "errno(1)"}
UNSUPPORTED = {
    "elastic": [small(), small(**ENOSYS, arches=["x86_64", "i386"]), small(**{**ENOSYS, "bad_arch_action": "trap"}), small(**ENOSYS, rule_sets=[]),
                two_sets("errno(2)", "allow"), one_rule({"eq": 5, "bits": 32}), one_rule({"eq": 5}, field="ip")],
    "kafel": [small(arches=["aarch64"]), small(**X32), small(bad_arch_action="trap"), small(default_action="0x00070000"),
              small(rule_sets=[{"action": "allow", "rules": {"1024": True}}]), one_rule({"lt": 5, "bits": 32}), one_rule({"eq": 1}, field="ip")],
    "podman": [small(**PERMISSIVE, arches=["x86_64", "i386"]), one_rule({"eq": 1, "bits": 32}, **PERMISSIVE),
               small(**BAD_ARCH, rule_sets=[{"action": "errno(1)", "rules": {"read": True}}]), small(**{**BAD_ARCH, "default_action": "kill_process"})],
    "runc": [small(**PERMISSIVE, arches=["x86_64", "i386"]), small(default_action="log", **X32), small(**BAD_ARCH),
             small(**PERMISSIVE, rule_sets=[{"action": "allow", "rules": {"999": True}}]), two_sets("trap", "allow", **PERMISSIVE),
             one_rule({"eq": 1}, field="ip", **PERMISSIVE), one_rule({"eq": 1, "bits": 32}, **PERMISSIVE)],
    "seccompy": [small(arches=["aarch64"]), small(**X32), small(bad_arch_action="trap"), one_rule({"ne": 5, "bits": 32}), one_rule({"eq": 1}, field="ip"),
                 two_sets("0x00070000", "allow")],
    "gvisor": [small(arches=["aarch64"]), small(arches=["x86_64", "i386"]), small(**X32), small(default_action="log"),
               small(bad_arch_action="0x00070000"), small(default_action="trap(1)"), one_rule({"lt": 5, "bits": 32}), one_rule({"ne": 5, "bits": 32})],
    "libseccomp": [small(arches=["s390x", "x86_64"]), two_sets("trap", "allow"), small(**X32, default_action="0x00070000"),
                   small(arches=["aarch64"], rule_sets=[{"action": "allow", "rules": {"9999": True}}]),
                   small(arches=["aarch64"], rule_sets=[{"action": "allow", "rules": {"read": {"args": {"ip": {"eq": 1}}}}}]),
                   small(arches=["aarch64"], rule_sets=[{"action": "allow", "vsyscall": True, "rules": {"read": True}}]),
                   small(arches=["aarch64"], rule_sets=[{"action": "allow", "rules": {
                       "read": {"args": {"0": {"eq": 1, "bits": 32}}}}}]),
                   small(arches=["i386"], rule_sets=[{"action": "allow", "rules": {"read": {"args": {"0": {"eq": 1}}}}}]),
                   small(arches=["i386"], rule_sets=[{"action": "allow", "rules": {"socket": True}}]),
                   small(arches=["aarch64"], rule_sets=[{"action": "allow", "rules": {
                       "read": {"all_of": [{"args": {"0": {"ge": 1}}}, {"args": {"0": {"le": 3}}}]}}}])],
    "seccompiler": [small(arches=["arm"]), small(arches=["x86_64", "aarch64"]), small(**X32), small(bad_arch_action="trap"),
                    small(default_action="user_notif"), small(default_action="trap(1)"), two_sets("trap", "allow"),
                    small(default_action="allow"), one_rule({"eq": 1}, field="ip"), one_rule({"eq": 1}, vsyscall=True)],
}


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_refuses_what_it_cannot_express(served, normal_form, name):
    adapter = served(name)
    for text in UNSUPPORTED[name]:
        status, body = adapter.ask(frames.compile_policy(normal_form(text)))
        assert status == frames.UNSUPPORTED, (text, body)
        assert body.decode().strip(), "the reason is missing"


EXPRESSED = {
    "elastic": [small(**ENOSYS)],
    "kafel": [small(), small(rule_sets=[]), one_rule({"ne": 5, "bits": 32}), one_rule({"eq": 1 << 40}),
              small(rule_sets=[{"action": "allow", "rules": {"1022": True}}])],
    "podman": [small(**BAD_ARCH), one_rule({"masked_eq": {"mask": 6, "value": 2}}, **BAD_ARCH)],
    "runc": [small(**{**PERMISSIVE, "default_action": "errno(ENOSYS)"}), small(**{**PERMISSIVE, "default_action": "trace(9)"}),
             one_rule({"masked_eq": {"mask": 6, "value": 2}}, **PERMISSIVE)],
    "seccompy": [small(), small(rule_sets=[]), two_sets("trap", "allow"), one_rule({"masked_eq": {"mask": 6, "value": 1}}),
                 one_rule({"eq": 5, "bits": 32}), one_rule({"non_negative_fd": True, "bits": 32}), small(default_action="0x00070000")],
    "gvisor": [one_rule({"eq": 5, "bits": 32}), one_rule({"bits_allowlist": 5, "bits": 32}),
               one_rule({"masked_eq": {"mask": 6, "value": 2}, "bits": 32}), one_rule({"non_negative_fd": True, "bits": 32}),
               one_rule({"masked_eq": {"mask": 6, "value": 1}}), one_rule({"gt": 5}, field="ip"), two_sets("trap", "allow"),
               two_sets("allow", "trap", vsyscall=True)],
    "libseccomp": [small(), small(arches=["aarch64"]), small(arches=["x86_64"], x32_action="kill_process"),
                   small(arches=["i386"], rule_sets=[{"action": "allow", "rules": {"read": {"args": {"2": {"gt": 1, "bits": 32}}}}}]),
                   small(arches=["x86_64", "i386", "x32"]), small(arches=["aarch64", "arm"]), small(arches=["mips64", "s390x"]),
                   small(arches=["riscv64"], rule_sets=[{"action": "allow", "rules": {"read": {"args": {"1": {"le": 1 << 40}}}}}])],
    "seccompiler": [small(), small(arches=["aarch64"]), small(arches=["riscv64"]), small(rule_sets=[]), one_rule({"lt": 5, "bits": 32}),
                    one_rule({"masked_eq": {"mask": 6, "value": 1}}), two_sets("allow", "allow"),
                    small(rule_sets=[{"action": "allow", "rules": {"read": {"all_of": [
                        {"args": {str(i % 6): {"ne": i << 32}}} for i in range(60)]}}}])],
}


@pytest.mark.parametrize("name", sorted(EXPRESSED))
def test_expresses_policies_at_its_limits(served, secequiv, normal_form, tmp_path, name):
    adapter = served(name)
    for text in EXPRESSED[name]:
        status, body = adapter.ask(frames.compile_policy(normal_form(text)))
        assert status == frames.ANSWERED, (text, body)
        proven(secequiv, tmp_path, text, body, {"libseccomp": NO_X32_LOOKALIKES, "podman": NO_X32_LOOKALIKES, "runc": NO_X32_LOOKALIKES, "elastic": NO_X32_NUMBERS}.get(name))


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
@pytest.mark.parametrize("text", ["", "{", "[]", '{"normal_form": 1}', '{"normal_form": 2}', "\x00", '"' + "a" * 100000])
def test_refuses_text_that_is_not_a_policy(served, normal_form, name, text):
    adapter = served(name)
    assert adapter.ask(frames.compile_policy(text))[0] == frames.REFUSED
    assert adapter.ask(frames.compile_policy(normal_form(EXPRESSED[name][0])))[0] == frames.ANSWERED  # it still answers
