"""lint: exactly the rules and parts of rules that could be left out, which prove confirms by leaving them out."""

import copy
import json
import random
import re

import pytest
from cli_tool import POLICIES, report, run

CALLS = {"read": 0, "write": 1, "open": 2, "close": 3}


def eq(index, value):
    return {"args": {str(index): {"eq": value}}}


def policy_of(*sets, **fields):
    return {"version": 1, "arches": ["x86_64"], "default_action": "errno(EPERM)",
            "rule_sets": [{"action": action, "rules": rules} for action, rules in sets], **fields}


# Policies, and what is idle in them: kind, rule set, system call, parts.
HAND = {
    "nothing": (policy_of(("errno(EACCES)", {"read": eq(0, 3), "write": eq(1, 1)}),
                          ("allow", {"read": {"any_of": [{"args": {"0": {"lt": 3}}}, eq(0, 4)]}, "write": True})), []),
    "no-rules": (policy_of(), []),
    "shadowed": (policy_of(("trap", {"read": True, "write": eq(0, 1)}), ("allow", {"read": eq(0, 3), "write": eq(0, 2)})),
                 [("shadowed", 2, "read", [])]),
    "unmatchable": (policy_of(("allow", {"read": {"all_of": [eq(0, 3), eq(0, 4)]}, "write": {"args": {"0": {"lt": 0}}}})),
                    [("unmatchable", 1, "read", []), ("unmatchable", 1, "write", [])]),
    "shadowed-by-two": (policy_of(("trap", {"read": {"args": {"0": {"lt": 8}}}}), ("log", {"read": {"args": {"0": {"ge": 8}}}}),
                                  ("allow", {"read": eq(1, 3)})), [("shadowed", 3, "read", [])]),
    "as-the-default": (policy_of(("allow", {"read": eq(0, 3)}), ("errno(EPERM)", {"read": eq(0, 4), "write": True})),
                       [("redundant", 2, "read", []), ("redundant", 2, "write", [])]),
    "as-a-later-set": (policy_of(("allow", {"read": eq(0, 3)}), ("allow", {"read": True})), [("redundant", 1, "read", [])]),
    "not-as-a-later-set": (policy_of(("allow", {"read": eq(0, 3)}), ("trap", {"read": eq(0, 3)}), ("allow", {"read": True})),
                           [("shadowed", 2, "read", []), ("redundant", 1, "read", [])][:1] + []),
    "any-of": (policy_of(("allow", {"read": {"any_of": [{"args": {"0": {"lt": 9}}}, eq(0, 4), eq(0, 12)]}})),
               [("redundant", 1, "read", [2])]),
    "twice": (policy_of(("allow", {"read": {"any_of": [eq(0, 4), eq(0, 5), eq(0, 4)]}})),
              [("redundant", 1, "read", [1]), ("redundant", 1, "read", [3])]),
    "all-of": (policy_of(("allow", {"read": {"all_of": [{"args": {"0": {"lt": 9}}}, eq(0, 4), eq(1, 7)]}})),
               [("redundant", 1, "read", [1])]),
    "deep": (policy_of(("allow", {"close": {"any_of": [eq(0, 1), {"all_of": [eq(1, 2), {"any_of": [
        eq(2, 3), eq(2, 4), {"args": {"2": {"le": 3}}}]}]}]}})), [("redundant", 1, "close", [2, 2, 1])]),
    "single-children": (policy_of(("allow", {"open": {"any_of": [{"all_of": [{"any_of": [eq(0, 1), eq(0, 1)]}]}]}})),
                        [("redundant", 1, "open", [1, 1, 1]), ("redundant", 1, "open", [1, 1, 2])]),
    "branch-of-an-earlier-set": (policy_of(("trap", {"read": eq(0, 4)}), ("allow", {"read": {"any_of": [eq(0, 4), eq(0, 5)]}})),
                                 [("redundant", 2, "read", [1])]),
    "vsyscall": ({**policy_of(("allow", {"read": True})), "rule_sets": [
        {"action": "allow", "rules": {"read": True}}, {"action": "log", "vsyscall": True, "rules": {"read": True, "write": True}}]},
        [("shadowed", 2, "read", [])]),
    "not-all-of-vsyscall": ({**policy_of(), "rule_sets": [
        {"action": "allow", "vsyscall": True, "rules": {"read": True}}, {"action": "log", "rules": {"read": True}}]}, []),
}


def children(rule):
    return [] if rule is True else rule.get("any_of") or rule.get("all_of") or []


def descend(rule, parts):
    for part in parts:
        rule = children(rule)[part - 1]
    return rule


def all_parts(rule, parts=()):
    """Paths to what could be left out of a rule and leave it a rule."""
    for i, child in enumerate(children(rule)):
        if len(children(rule)) > 1:
            yield list(parts) + [i + 1]
        yield from all_parts(child, list(parts) + [i + 1])


def without(policy, rule_set, key, parts):
    out = copy.deepcopy(policy)
    rules = out["rule_sets"][rule_set - 1]["rules"]
    if parts:
        children(descend(rules[key], parts[:-1])).pop(parts[-1] - 1)
    else:
        del rules[key]
    return out


def marked(policy, rule_set, key):
    """With an action of its own for the rule, where it stands."""
    out = without(policy, rule_set, key, [])
    own = policy["rule_sets"][rule_set - 1]
    out["rule_sets"].insert(rule_set - 1, {**own, "action": "trace(777)", "rules": {key: own["rules"][key]}})
    return out


def write(path, policy):
    path.write_text(json.dumps(policy))
    return path


def same(before, after, tmp_path):
    proof, done = report("prove", write(tmp_path / "before.json", before), write(tmp_path / "after.json", after))
    assert proof["verdict"] in ("equivalent", "different"), done
    return proof["verdict"] == "equivalent"


def linted(path):
    """The report, which the text form agrees with."""
    document, done = report("lint", path)
    text = run("lint", path)
    idle = document["idle"]
    assert text.status == done.status == (1 if idle else 0), done
    assert text.out.splitlines() == [row["text"] for row in idle] + [
        "%s: %d idle rule%s%s" % (document["verdict"], len(idle), "" if len(idle) == 1 else "s",
                                "; each could go, not always all at once" if len(idle) > 1 else "")]
    for row in idle:
        assert re.match(r"rule set %d \(.+\), %s:\w+%s: %s: " % (
            row["rule_set"], row["arch"], "".join(", part %d" % part for part in row["parts"]), row["kind"]), row["text"])
    return document


def exact(policy, tmp_path):
    """What lint reports can be left out, what it does not cannot; the report."""
    document = linted(write(tmp_path / "policy.json", policy))
    names = {number: name for name, number in CALLS.items()}
    idle = {(row["rule_set"], names[row["nr"]], tuple(row["parts"])): row["kind"] for row in document["idle"]}
    assert len(idle) == len(document["idle"])
    listed = set(idle)
    for number, rule_set in enumerate(policy["rule_sets"], 1):
        for key, rule in rule_set["rules"].items():
            for parts in [[]] + list(all_parts(rule)):
                if any((number, key, tuple(parts[:end])) in listed for end in range(len(parts))):
                    assert (number, key, tuple(parts)) not in listed
                    continue
                kind = idle.pop((number, key, tuple(parts)), None)
                assert same(policy, without(policy, number, key, parts), tmp_path) == (kind is not None), (number, key, parts)
                if not parts:
                    assert same(policy, marked(policy, number, key), tmp_path) == (kind in ("unmatchable", "shadowed")), (number, key)
                    alone = {**policy, "rule_sets": [policy["rule_sets"][number - 1]]}
                    nothing = same(alone, marked(alone, 1, key), tmp_path)
                    assert nothing == (kind == "unmatchable"), (number, key)
                else:
                    assert kind in (None, "redundant")
    assert idle == {}
    return document


@pytest.mark.parametrize("name", HAND)
def test_by_hand(name, tmp_path):
    policy, expected = HAND[name]
    document = exact(policy, tmp_path)
    assert [(row["kind"], row["rule_set"], row["nr"], row["parts"]) for row in document["idle"]] == \
        [(kind, rule_set, CALLS[key], parts) for kind, rule_set, key, parts in expected]
    assert all(row["arch"] == "x86_64" for row in document["idle"])


def random_rule(rng, depth):
    kind = rng.choice(["args", "any_of", "all_of"]) if depth else "args"
    if kind == "args":
        if rng.random() < 0.05:
            return True
        return {"args": {str(rng.randrange(2)): {rng.choice(["eq", "ne", "lt", "ge"]): rng.randrange(1, 4)}}}
    return {kind: [random_rule(rng, depth - 1) for _ in range(rng.randrange(1, 4))]}


def random_policy(rng):
    sets = [(rng.choice(["allow", "errno(EPERM)", "errno(EACCES)", "log"]),
             {name: random_rule(rng, 2) for name in rng.sample(sorted(CALLS), 2)}) for _ in range(4)]
    policy = policy_of(*sets)
    for rule_set in policy["rule_sets"]:
        rule_set["vsyscall"] = rng.random() < 0.2
    return policy


def test_random_policies(tmp_path):
    rng = random.Random(23)
    kinds = [(row["kind"], bool(row["parts"])) for _ in range(12) for row in exact(random_policy(rng), tmp_path)["idle"]]
    assert {("unmatchable", False), ("shadowed", False), ("redundant", False), ("redundant", True)} == set(kinds)


def test_each_architecture_for_itself(tmp_path):
    policy = policy_of(("trap", {"x86_64:read": True, "i386:write": True, "x32:open": True}), ("allow", {"read": True}),
                       arches=["x86_64", "i386", "x32"])
    policy["rule_sets"][1]["rules"].update({"i386:write": True, "open": True})
    document = linted(write(tmp_path / "policy.json", policy))
    assert {(row["kind"], row["rule_set"], row["arch"], row["nr"]) for row in document["idle"]} == {
        ("shadowed", 2, "x86_64", 0), ("shadowed", 2, "i386", 4), ("shadowed", 2, "x32", 0x40000002)}


def test_text(tmp_path):
    policy, _ = HAND["shadowed"]
    assert run("lint", write(tmp_path / "p.json", policy)).out == (
        "rule set 2 (ALLOW), x86_64:read: shadowed: earlier rule sets decide everything it matches\nfail: 1 idle rule\n")
    policy, _ = HAND["any-of"]
    assert run("lint", write(tmp_path / "p.json", policy)).out == (
        "rule set 1 (ALLOW), x86_64:read, part 2: redundant: without it the policy decides the same\nfail: 1 idle rule\n")


def numbers(policy, getpid):
    return {report("run", getpid, "--nr", key)[0]["data"]["nr"]: key for rules in policy["rule_sets"] for key in rules["rules"]}


@pytest.mark.parametrize("path", sorted((POLICIES / "seed").glob("*.json")), ids=lambda path: path.stem)
def test_seeds(path, tmp_path, getpid):
    document = linted(path)
    policy = json.loads(path.read_text())
    if policy["arches"] != ["x86_64"] or not document["idle"]:
        return  # leaving a rule out is not as simple as that
    keys = numbers(policy, getpid)
    for row in document["idle"]:
        assert same(policy, without(policy, row["rule_set"], keys[row["nr"]], row["parts"]), tmp_path), row
        if not row["parts"]:
            assert same(policy, marked(policy, row["rule_set"], keys[row["nr"]]), tmp_path) == (row["kind"] in ("unmatchable", "shadowed")), row


def test_seeds_say_themselves_what_is_idle():
    rows = {name: [(row["rule_set"], row["nr"], row["kind"]) for row in linted(POLICIES / "seed" / (name + ".json"))["idle"]]
            for name in ("vsyscall", "signed-fds")}
    assert (5, 0, "shadowed") in rows["vsyscall"] and rows["signed-fds"] == []


def test_real_policies(tmp_path, getpid):
    path = POLICIES / "gvisor" / "systrap-everything.json"
    document = linted(path)
    policy = json.loads(path.read_text())
    keys = numbers(policy, getpid)
    assert document["idle"]
    for row in document["idle"][:3] + document["idle"][-3:]:
        assert same(policy, without(policy, row["rule_set"], keys[row["nr"]], row["parts"]), tmp_path), row


def test_container_profiles():
    for name, status in (("docker-default", 0), ("podman-default", 1)):
        document, done = report("lint", POLICIES / "oci" / (name + ".json"))
        assert done.status == status and "skipped system call" in done.err
        shown = [line for line in run("lint", POLICIES / "oci" / (name + ".json")).out.splitlines()]
        assert len(shown) == len(document["idle"]) + 1


def test_errors(getpid, tmp_path):
    bad = write(tmp_path / "bad.json", {**policy_of(), "version": 2})
    for path in (getpid, tmp_path / "nonexistent.json", bad):
        document, done = report("lint", path)
        assert done.status == 2 and document["schema"] == "secequiv.error/1", done
        assert run("lint", path).out == ""
