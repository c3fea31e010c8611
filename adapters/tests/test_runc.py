"""Tests the instructions for unknown calls that runc puts in front of a filter."""
# Annex: adapters

import json
import struct
from random import Random

import frames
import pytest
from built_adapters import FULL
from random_policies import policy
from test_compilers import NO_X32_LOOKALIKES, RUNC

DENYING = RUNC._replace(defaults=("errno(1)", "errno(77)", "kill_process", "kill_thread", "trap"))
POLICIES = 40 if FULL else 5
ENOSYS = struct.pack("<HBBI", 0x06, 0, 0, 0x50026)


def last_call(text):
    return max((int(number) for rules in json.loads(text)["rule_sets"] for number in rules["rules"]), default=None)


def equal(secequiv, before, after, assume):
    return secequiv("prove", before, after, "--assume", assume)


def test_calls_above_the_highest_number_fail_with_enosys(served, secequiv, normal_form, tmp_path):
    adapter, random, tried = served("runc", "--enosys"), Random(1), 0
    before, after, enosys = (tmp_path / name for name in ("policy.json", "program.bpf", "enosys.bpf"))
    enosys.write_bytes(ENOSYS)
    while tried < POLICIES:
        text = policy(random, DENYING)
        last = last_call(text)
        if not last:
            continue  # runc puts nothing in front of a filter whose largest number is 0
        status, body = adapter.ask(frames.compile_policy(normal_form(text)))
        assert status == frames.ANSWERED, (text, body)
        before.write_text(text)
        after.write_bytes(body)
        known = equal(secequiv, before, after, "(arch != x86_64 || nr <= %d || nr >= 0x40000000) && (%s)" % (last, NO_X32_LOOKALIKES))
        assert known.returncode == 0, (text, known.stdout)
        unknown = equal(secequiv, enosys, after, "arch == x86_64 && nr > %d && (nr < 0x40000000 || nr >= 0x80000000 && nr <= 0xbfffffff)" % last)
        assert unknown.returncode == 0, (text, unknown.stdout)
        tried += 1


@pytest.mark.parametrize("default", ["allow", "log", "trace(5)", "errno(ENOSYS)"])
def test_policies_that_do_not_deny_by_default_get_no_enosys_instructions(served, secequiv, normal_form, tmp_path, default):
    text = json.dumps({"version": 1, "arches": ["x86_64"], "default_action": default, "bad_arch_action": "kill_thread", "x32_action": "kill_thread",
                       "rule_sets": [{"action": "errno(1)", "rules": {"5": True}}]})
    answers = [served("runc", *options).ask(frames.compile_policy(normal_form(text))) for options in ((), ("--enosys",))]
    assert answers[0] == answers[1] and answers[0][0] == frames.ANSWERED
    (tmp_path / "policy.json").write_text(text)
    (tmp_path / "program.bpf").write_bytes(answers[0][1])
    done = equal(secequiv, tmp_path / "policy.json", tmp_path / "program.bpf", NO_X32_LOOKALIKES)
    assert done.returncode == 0, done.stdout
