"""Tests `secequiv lint`: it reports exactly the rules and parts of rules that can be removed (`prove` confirms this); its warnings agree
with an enumeration of all alternatives."""

import copy
import itertools
import json
import operator
import random
import re

import pytest
from cli_tool import POLICIES, ROOT, report, run

CALLS = {"read": 0, "write": 1, "open": 2, "close": 3}


def eq(index, value):
    return {"args": {str(index): {"eq": value}}}


def policy_of(*sets, **fields):
    return {"version": 1, "arches": ["x86_64"], "default_action": "errno(EPERM)",
            "rule_sets": [{"action": action, "rules": rules} for action, rules in sets], **fields}


# Each policy has a list of its redundant rules: kind, rule set, system call, parts.
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
              [("duplicate", 1, "read", [3])]),
    "twice-and-redundant": (policy_of(("allow", {"read": {"any_of": [{"args": {"0": {"lt": 9}}}, eq(0, 4), eq(0, 4)]}})),
                            [("redundant", 1, "read", [2]), ("duplicate", 1, "read", [3])]),
    "twice-all-of": (policy_of(("allow", {"read": {"all_of": [eq(0, 4), eq(1, 5), eq(0, 4)]}})), [("duplicate", 1, "read", [3])]),
    "twice-nested": (policy_of(("allow", {"read": {"any_of": [{"any_of": [eq(0, 4), eq(0, 5)]}, {"any_of": [eq(0, 6), eq(0, 5)]}]}})),
                     [("duplicate", 1, "read", [2, 2])]),
    "twice-in-another-order": (policy_of(("allow", {"read": {"any_of": [eq(0, 4), eq(0, 5), {"any_of": [eq(0, 5), eq(0, 4)]}]}})),
                               [("duplicate", 1, "read", [3])]),
    "twice-but-not-beside": (policy_of(("allow", {"read": {"any_of": [
        {"all_of": [eq(0, 4), eq(1, 5)]}, {"all_of": [eq(0, 4), eq(1, 6)]}]}})), []),
    "twice-always-true": (policy_of(("allow", {"read": {"all_of": [{"args": {"0": {"ge": 0}}}] * 2}})), [("duplicate", 1, "read", [2])]),
    "twice-within": (policy_of(("allow", {"read": {"any_of": [eq(0, 9), {"all_of": [eq(0, 4), eq(0, 4)]}]}})),
                     [("duplicate", 1, "read", [2, 2])]),
    "twice-all-of-it": (policy_of(("allow", {"read": {"any_of": [{"all_of": [eq(0, 4), eq(1, 4)]}, {"all_of": [eq(0, 4), eq(1, 4)]}]}})),
                        [("duplicate", 1, "read", [2])]),
    "all-of": (policy_of(("allow", {"read": {"all_of": [{"args": {"0": {"lt": 9}}}, eq(0, 4), eq(1, 7)]}})),
               [("redundant", 1, "read", [1])]),
    "deep": (policy_of(("allow", {"close": {"any_of": [eq(0, 1), {"all_of": [eq(1, 2), {"any_of": [
        eq(2, 3), eq(2, 4), {"args": {"2": {"le": 3}}}]}]}]}})), [("redundant", 1, "close", [2, 2, 1])]),
    "single-children": (policy_of(("allow", {"open": {"any_of": [{"all_of": [{"any_of": [eq(0, 1), eq(0, 1)]}]}]}})),
                        [("duplicate", 1, "open", [1, 1, 2])]),
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


def all_parts(rule, duplicates, parts=()):
    """Returns the paths to all parts, except duplicates, that can be removed from a rule without leaving an empty any_of or all_of."""
    kept = [(parts + (i,), child) for i, child in enumerate(children(rule), 1) if parts + (i,) not in duplicates]
    for path, child in kept:
        if len(kept) > 1:
            yield list(path)
        yield from all_parts(child, duplicates, path)


def without(policy, rule_set, key, parts):
    out = copy.deepcopy(policy)
    rules = out["rule_sets"][rule_set - 1]["rules"]
    if parts:
        children(descend(rules[key], parts[:-1])).pop(parts[-1] - 1)
    else:
        del rules[key]
    return out


def marked(policy, rule_set, key):
    """Returns the policy with the rule moved into a new rule set at the same place, with another action."""
    out = without(policy, rule_set, key, [])
    own = policy["rule_sets"][rule_set - 1]
    out["rule_sets"].insert(rule_set - 1, {**own, "action": "trace(777)", "rules": {key: own["rules"][key]}})
    return out


def leaves(rule, kind, path=()):
    """Returns (path, child) for each child of an any_of (or all_of), after flattening nested ones of the same kind."""
    for i, child in enumerate(rule[kind], 1):
        if child is not True and kind in child:
            yield from leaves(child, kind, path + (i,))
        else:
            yield path + (i,), child


def trees(rule, path=()):
    """Returns each any_of and all_of whose parent is of another kind, as (kind, path, rule)."""
    for kind in ("any_of", "all_of"):
        if rule is not True and kind in rule:
            yield kind, path, rule
            for below, child in leaves(rule, kind):
                yield from trees(child, path + below)


def checked_duplicates(policy, rows, whole, redundant, tmp_path):
    """Checks that `rows` list exactly the duplicates; returns the policy with a neutral rule in place of each."""
    out = copy.deepcopy(policy)
    for number, rule_set in enumerate(policy["rule_sets"], 1):
        for key, rule in rule_set["rules"].items():
            here = {tuple(row["parts"]): row for row in rows if (row["rule_set"], row["nr"]) == (number, CALLS[key])}
            covered = lambda path, listed: any(path[:end] in listed for end in range(len(path) + 1))
            for path, row in here.items():
                assert all(tuple(part) < path for part in row["originals"])
                assert same(policy, without(policy, number, key, list(path)), tmp_path), row
                parent = descend(out["rule_sets"][number - 1]["rules"][key], path[:-1])
                children(parent)[path[-1] - 1] = {"args": {"0": {"lt": 0}}} if "any_of" in parent else True
            for kind, at, tree in trees(rule):
                seen = []
                for below, leaf in leaves(tree, kind):
                    path = at + below
                    if (number, CALLS[key]) in whole or covered(at, here) or any(
                            (number, CALLS[key], path[:end]) in redundant for end in range(len(path) + 1)):
                        seen.append(leaf)
                        continue
                    assert covered(path, here) == (leaf in seen), (number, key, path)
                    if covered(path, here):
                        of = [part for listed in here if path[:len(listed)] == listed for part in here[listed]["originals"]]
                        assert leaf in [descend(rule, part) for part in of]
                    seen.append(leaf)
    assert same(policy, out, tmp_path)
    return out


def write(path, policy):
    path.write_text(json.dumps(policy))
    return path


def same(before, after, tmp_path):
    proof, done = report("prove", write(tmp_path / "before.json", before), write(tmp_path / "after.json", after))
    assert proof["verdict"] in ("equivalent", "different"), done
    return proof["verdict"] == "equivalent"


def in_text(rows):
    """Returns the lines of these findings in text: one line for each finding, with all of its architectures."""
    arches = {}
    for row in rows:
        before, after = row["text"].split(" %s:" % row["arch"], 1)
        arches.setdefault((before, after), []).append(row["arch"])
    return ["%s %s:%s" % (before, ",".join(names), after) for (before, after), names in arches.items()]


def linted(path, *options):
    """Returns the JSON report, after checking that the text agrees with it."""
    document, done = report("lint", path, *options)
    text = run("lint", path, *options)
    idle, warnings = document["idle"], document["warnings"]
    assert document["strict"] == ("--strict" in options)
    assert text.status == done.status == (1 if idle or options and warnings else 0), done
    lines, doubts = in_text(idle), ["warning: " + line for line in in_text(warnings)]
    assert text.out.splitlines() == [
        "%s: %d redundant rule%s%s%s" % (document["verdict"], len(lines), "" if len(lines) == 1 else "s",
                                    ", %d warning%s" % (len(doubts), "" if len(doubts) == 1 else "s") if doubts else "",
                                    "; each can be removed alone, but perhaps not all together" if len(lines) > 1 else "")] + lines + doubts
    for row in idle + warnings:
        origin = row["origin"]
        assert origin["file"] == str(path) and origin["path"].startswith("rule_sets[%d].rules." % (row["rule_set"] - 1)), row
        place = "%s:%d (%s): %s:" % (path, origin["line"], origin["path"], row["arch"])
        parts = "".join(", part %d" % part for part in row.get("parts", []))
        assert re.match(r"%s\w+%s: %s: " % (re.escape(place), parts, row["kind"]), row["text"]), row
    return document


def alternatives(rule, path=()):
    """Returns all alternatives of a rule, as (paths of the chosen branches, fields that are checked)."""
    if rule is True:
        return [((), frozenset())]
    if "args" in rule:
        return [((), frozenset(field for field, matcher in rule["args"].items() if matcher != "any"))]
    below = [[((path + (i,),) + chosen, fields) if "any_of" in rule else (chosen, fields)
              for chosen, fields in alternatives(child, path + (i,))] for i, child in enumerate(children(rule), 1)]
    if "any_of" in rule:
        return [one for child in below for one in child]
    return [(sum((chosen for chosen, _ in each), ()), frozenset().union(*(fields for _, fields in each)))
            for each in itertools.product(*below)]


def compared(rule):
    """Returns (reduced rule, whether it differs). Removes from every any_of the alternatives that check nothing, if others check
    something."""
    if not children(rule):
        return rule, False
    kind = "any_of" if "any_of" in rule else "all_of"
    done = [compared(child) for child in children(rule)]
    found = any(one for _, one in done)
    kept = [child for child, _ in done]
    if kind == "any_of":
        busy = [child for child in kept if any(fields for _, fields in alternatives(child))]
        found = found or 0 < len(busy) < len(kept)
        kept = busy or kept
    return {kind: kept}, found


def trivial_in(rule, path=()):
    """Returns the trivial conditions of a hand-written or random rule, in which only `lt 0` (never true) is trivial."""
    for field, matcher in ({} if rule is True else rule.get("args", {})).items():
        if matcher == {"lt": 0}:
            yield "never_true", "arg" + field, path
    for i, child in enumerate(children(rule), 1):
        yield from trivial_in(child, path + (i,))


COMPARED = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


def satisfies(value, matcher):
    if matcher == "non_negative_fd":
        return value % 2**32 < 2**31
    return matcher == "any" or all(COMPARED[op](value, constant) for op, constant in matcher.items())


def matches(rule, args):
    """Returns whether a rule matches arguments."""
    if children(rule):
        return (any if "any_of" in rule else all)(matches(child, args) for child in children(rule))
    return rule is True or all(satisfies(args[field], matcher) for field, matcher in rule["args"].items())


def values_near(rule, field):
    """Returns values on both sides of each constant with which a rule compares a field."""
    constants = {constant for matcher in matchers(rule, field) if isinstance(matcher, dict) for constant in matcher.values()}
    return sorted({0, 2**31, 2**64 - 1} | {max(near, 0) for constant in constants for near in (constant - 1, constant, constant + 1)})


def without_field(rule, field):
    if children(rule):
        return {kind: [without_field(child, field) for child in below] for kind, below in rule.items()}
    return True if rule is True else {"args": {key: matcher for key, matcher in rule["args"].items() if key != field}}


def together_in(rule, path=(), known=frozenset()):
    """Returns each any_of that checks a field in every alternative, but matches the same calls without these conditions."""
    fields = sorted(set().union(*(fields for _, fields in alternatives(rule)))) if rule is not True and "any_of" in rule else []
    inputs = [dict(zip(fields, values)) for values in itertools.product(*(values_near(rule, field) for field in fields))] if len(fields) < 4 else []
    for field in fields:
        checked = all(field in fields for _, fields in alternatives(rule))
        if field not in known and checked and {"ge": 0} not in matchers(rule, field):
            found = [matches(rule, args) for args in inputs]
            if any(found) and found == [matches(without_field(rule, field), args) for args in inputs]:
                known |= {field}
                yield "together_true", field if field == "ip" else "arg" + field, path
    for i, child in enumerate(children(rule), 1):
        yield from together_in(child, path + (i,), known)


def matchers(rule, field):
    if children(rule):
        return [one for child in children(rule) for one in matchers(child, field)]
    return [] if rule is True else [rule["args"][field]] if field in rule["args"] else []


def right_warnings(policy, warnings):
    """Checks that the warnings are exactly those that follow from an enumeration of all alternatives."""
    for number, rule_set in enumerate(policy["rule_sets"], 1):
        for key, rule in rule_set["rules"].items():
            rows = [row for row in warnings if (row["rule_set"], row["nr"]) == (number, CALLS[key])]
            trivial = [row for row in rows if row["kind"] in ("always_true", "never_true")]
            assert {(row["kind"], row["field"], tuple(row["parts"])) for row in trivial} == set(trivial_in(rule))
            together = [row for row in rows if row["kind"] == "together_true"]
            assert {(row["kind"], row["field"], tuple(row["parts"])) for row in together} == set(together_in(rule))
            rows = [row for row in rows if row not in trivial + together]
            reduced, match_all = compared(rule)
            assert [row["kind"] for row in rows] == ["match_all"] * match_all + ["inconsistent"] * (len(rows) - match_all)
            sets = [fields for _, fields in alternatives(reduced)]
            doubtful = frozenset().union(*sets) - frozenset.intersection(*sets)
            names = {field: "ip" if field == "ip" else "arg" + field for field in doubtful}
            assert [row["field"] for row in rows if "field" in row] == sorted(names.values())
            for row in rows:
                for part in row["unchecked"]:
                    fields = [fields for _, fields in alternatives(descend(rule, part))]
                    assert "any_of" in descend(rule, part[:-1])
                    if row["kind"] == "match_all":
                        assert not any(fields), row
                    else:
                        assert not any(row["field"].replace("arg", "") in one for one in fields) and any(fields), row
                if row["kind"] == "inconsistent":
                    fields = [fields for _, fields in alternatives(compared(descend(rule, row["checked"]))[0])]
                    assert all(row["field"].replace("arg", "") in one for one in fields), row
                    # Every alternative that does not check the field uses a branch that is listed.
                    for chosen, fields in alternatives(rule):
                        if fields and row["field"].replace("arg", "") not in fields:
                            listed = {tuple(part) for part in row["unchecked"]}
                            listed |= {tuple(part) for one in rows if one["kind"] == "match_all" for part in one["unchecked"]}
                            assert listed & set(chosen), (row, chosen)


def exact(policy, tmp_path):
    """Checks that each reported part can be removed and no other part can; returns the report."""
    document = linted(write(tmp_path / "policy.json", policy))
    right_warnings(policy, document["warnings"])
    names = {number: name for name, number in CALLS.items()}
    idle = {(row["rule_set"], names[row["nr"]], tuple(row["parts"])): row["kind"] for row in document["idle"]}
    assert len(idle) == len(document["idle"])
    whole = {(row["rule_set"], row["nr"]) for row in document["idle"] if not row["parts"]}
    redundant = {(row["rule_set"], row["nr"], tuple(row["parts"])) for row in document["idle"] if row["kind"] == "redundant"}
    policy = checked_duplicates(policy, [row for row in document["idle"] if row["kind"] == "duplicate"], whole, redundant, tmp_path)
    listed = set(idle)
    for number, rule_set in enumerate(policy["rule_sets"], 1):
        for key, rule in rule_set["rules"].items():
            duplicates = {parts for (of_set, of_key, parts), kind in idle.items() if (of_set, of_key, kind) == (number, key, "duplicate")}
            for parts in [[]] + list(all_parts(rule, duplicates)):
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
    assert set(idle.values()) <= {"duplicate"}
    return document


@pytest.mark.parametrize("name", HAND)
def test_findings_match_a_list_made_by_hand(name, tmp_path):
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


def test_exactly_the_redundant_rules_of_random_policies_are_found(tmp_path):
    rng = random.Random(23)
    kinds = [(row["kind"], bool(row["parts"])) for _ in range(12) for row in exact(random_policy(rng), tmp_path)["idle"]]
    assert {("unmatchable", False), ("shadowed", False), ("redundant", False), ("redundant", True), ("duplicate", True)} == set(kinds)


def test_each_architecture_has_its_own_findings(tmp_path):
    policy = policy_of(("trap", {"x86_64:read": True, "i386:write": True, "x32:open": True}), ("allow", {"read": True}),
                       arches=["x86_64", "i386", "x32"])
    policy["rule_sets"][1]["rules"].update({"i386:write": True, "open": True})
    document = linted(write(tmp_path / "policy.json", policy))
    assert {(row["kind"], row["rule_set"], row["arch"], row["nr"]) for row in document["idle"]} == {
        ("shadowed", 2, "x86_64", 0), ("shadowed", 2, "i386", 4), ("shadowed", 2, "x32", 0x40000002)}


def test_findings_are_readable_in_text(tmp_path):
    policy, _ = HAND["shadowed"]
    path = write(tmp_path / "p.json", policy)
    assert run("lint", path).out == (
        "fail: 1 redundant rule\n"
        "%s:1 (rule_sets[1].rules.read): x86_64:read: shadowed: line 1 decides every call that this rule matches\n" % path)
    policy, _ = HAND["any-of"]
    assert run("lint", write(tmp_path / "p.json", policy)).out == (
        "fail: 1 redundant rule\n"
        "%s:1 (rule_sets[0].rules.read): x86_64:read, part 2: redundant: the policy makes the same decisions without it\n" % path)


def test_findings_have_lines(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("""{"version": 1, "arches": ["x86_64"], "default_action": "errno(1)", "rule_sets": [
      {"action": "allow", "rules": {"read": true}},
      {"action": "log", "rules": {
        "read": true,
        "write": {"any_of": [
          {"args": {"0": {"eq": 1}}},
          {"args": {"0": {"eq": 1}}}]}}}]}""")
    document = linted(path)
    assert [(row["kind"], row["origin"]) for row in document["idle"]] == [
        ("shadowed", {"file": str(path), "line": 4, "path": "rule_sets[1].rules.read"}),
        ("duplicate", {"file": str(path), "line": 7, "path": "rule_sets[1].rules.write"})]
    assert "part 2: duplicate: it repeats part 1 (line 6)" in run("lint", path).out
    run("lint", path, "--sarif", tmp_path / "s.json")
    results = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    assert [result["locations"][0]["physicalLocation"]["region"] for result in results] == [{"startLine": 4}, {"startLine": 7}]


FD = {"args": {"0": "non_negative_fd", "1": {"eq": 1}}}

# Each rule of read has a list of its warnings: kind, field, checked, unchecked.
DOUBTS = {
    "one": (FD, []),
    "no-alternatives": ({"all_of": [eq(0, 1), eq(1, 2)]}, []),
    "consistent": ({"any_of": [eq(0, 1), {"args": {"0": {"ge": 7}}}]}, []),
    "forgotten": ({"any_of": [FD, eq(0, 9), FD | {}, eq(0, 8)]}, [("inconsistent", "arg1", [1], [[2], [4]])]),
    "any-is-no-check": ({"any_of": [FD, {"args": {"0": {"eq": 9}, "1": "any"}}]}, [("inconsistent", "arg1", [1], [[2]])]),
    "always-true-is": ({"any_of": [FD, {"args": {"0": {"eq": 9}, "1": {"ge": 0}}}]}, []),
    "both-ways": ({"any_of": [eq(2, 1), eq(5, 1)]}, [("inconsistent", "arg2", [1], [[2]]), ("inconsistent", "arg5", [2], [[1]])]),
    "ip": ({"any_of": [eq("ip", 1), eq(0, 1)]}, [("inconsistent", "arg0", [2], [[1]]), ("inconsistent", "ip", [1], [[2]])]),
    "checked-around": ({"all_of": [{"any_of": [eq(0, 1), {"args": {"0": {"eq": 2}, "1": {"eq": 3}}}]}, eq(1, 3)]}, []),
    "not-around": ({"all_of": [{"any_of": [eq(0, 1), {"args": {"0": {"eq": 2}, "1": {"eq": 3}}}]}, eq(2, 3)]},
                   [("inconsistent", "arg1", [1, 2], [[1, 1]])]),
    "product": ({"all_of": [{"any_of": [eq(0, 1), eq(1, 2)]}, {"any_of": [eq(0, 3), eq(1, 4)]}]},
                [("inconsistent", "arg0", [1, 1], [[1, 2], [2, 2]]), ("inconsistent", "arg1", [1, 2], [[1, 1], [2, 1]])]),
    "nested": ({"any_of": [{"any_of": [FD, eq(0, 2)]}, {"any_of": [eq(0, 3), eq(0, 4)]}]},
               [("inconsistent", "arg1", [1, 1], [[1, 2], [2]])]),
    "match-all": ({"any_of": [FD, True, {"args": {}}]}, [("match_all", None, None, [[2], [3]])]),
    "match-all-inside": ({"all_of": [eq(0, 1), {"any_of": [eq(1, 2), {"all_of": [True, True]}]}]}, [("match_all", None, None, [[2, 2]])]),
    "match-all-in-all-of": ({"all_of": [True, FD]}, []),
    "nothing-but-match-all": ({"any_of": [True, {"args": {"0": "any"}}]}, []),
    "match-all-and-more": ({"any_of": [FD, True, eq(0, 4)]}, [("match_all", None, None, [[2]]), ("inconsistent", "arg1", [1], [[3]])]),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_warnings_match_a_list_made_by_hand(name, tmp_path):
    rule, expected = DOUBTS[name]
    policy = policy_of(("allow", {"read": rule}))
    path = write(tmp_path / "p.json", policy)
    document = linted(path)
    right_warnings(policy, document["warnings"])
    assert [(row["kind"], row.get("field"), row.get("checked"), row["unchecked"]) for row in document["warnings"]] == expected
    strict = linted(path, "--strict")
    assert strict["verdict"] == ("fail" if expected or document["idle"] else "pass")
    assert {**strict, "strict": False, "verdict": document["verdict"]} == document


def test_a_rule_with_many_alternatives_is_checked_without_enumerating_them(tmp_path):
    both = {"any_of": [eq(0, 1), eq(1, 1)]}
    policy = policy_of(("allow", {"read": {"all_of": [{"any_of": [eq(0, i), eq(1, i)]} for i in range(40)]}, "write": both}))
    document, done = report("lint", write(tmp_path / "p.json", policy))
    assert done.status == 1 and len(document["warnings"][0]["unchecked"]) == 40


def test_warnings_and_duplicates_are_readable_in_text(tmp_path):
    rule = {"any_of": [FD, eq(0, 4)]}
    for _ in range(5):
        rule = {"any_of": [rule, FD]}
    rules = {"read": rule, "write": {"any_of": [FD, *(eq(0, i) for i in range(20, 30))]}, "close": {"any_of": [FD, True]},
             "open": {"any_of": [eq(0, 1), eq(0, 2), {"any_of": [eq(0, 2), eq(0, 1)]}]}}
    path = write(tmp_path / "p.json", policy_of(("allow", rules)))
    lines = run("lint", path).out.splitlines()

    def at(call):
        return "%s:1 (rule_sets[0].rules.%s): x86_64:%s" % (path, call, call)
    assert lines[0] == "fail: 7 redundant rules, 3 warnings; each can be removed alone, but perhaps not all together"
    assert lines[1] == at("read") + ", part 1, part 1, part 1, part 1, part 2: duplicate: it repeats part 1(x6) (line 1)"
    assert at("open") + ", part 3: duplicate: it repeats parts 2, 1 (line 1)" in lines
    assert lines[-3:] == [
        "warning: " + at("read") + ": inconsistent: part 1(x6) checks arg1, but part 1(x5).2 does not",
        "warning: " + at("write") + ": inconsistent: part 1 checks arg1, but parts 2, 3, 4, 5, 6, 7, 8, 9 and 2 more do not",
        "warning: " + at("close") + ": match_all: part 2 checks nothing, so the others have no effect"]


def numbers(policy, getpid):
    return {report("run", getpid, "--nr", key)[0]["data"]["nr"]: key for rules in policy["rule_sets"] for key in rules["rules"]}


@pytest.mark.parametrize("path", sorted((POLICIES / "seed").glob("*.json")), ids=lambda path: path.stem)
def test_redundant_rules_of_seed_policies_can_be_removed(path, tmp_path, getpid):
    document = linted(path)
    policy = json.loads(path.read_text())
    if policy["arches"] != ["x86_64"] or not document["idle"]:
        return  # with several architectures, a rule can have more than one key
    keys = numbers(policy, getpid)
    for row in document["idle"]:
        assert same(policy, without(policy, row["rule_set"], keys[row["nr"]], row["parts"]), tmp_path), row
        if not row["parts"]:
            assert same(policy, marked(policy, row["rule_set"], keys[row["nr"]]), tmp_path) == (row["kind"] in ("unmatchable", "shadowed")), row


def test_seed_policies_have_the_expected_redundant_rules():
    rows = {name: [(row["rule_set"], row["nr"], row["kind"]) for row in linted(POLICIES / "seed" / (name + ".json"))["idle"]]
            for name in ("vsyscall", "signed-fds")}
    assert (5, 0, "shadowed") in rows["vsyscall"] and rows["signed-fds"] == []


def test_redundant_rules_of_a_real_policy_can_be_removed(tmp_path, getpid):
    path = POLICIES / "gvisor" / "systrap-everything.json"
    document = linted(path)
    policy = json.loads(path.read_text())
    keys = numbers(policy, getpid)
    assert document["idle"]
    found = {(row["kind"], keys[row["nr"]]) for row in document["idle"] + document["warnings"]}
    assert {("duplicate", "pread64"), ("redundant", "tgkill"), ("match_all", "tgkill"), ("inconsistent", "ptrace")} <= found
    for row in document["idle"][:3] + document["idle"][-3:]:
        assert same(policy, without(policy, row["rule_set"], keys[row["nr"]], row["parts"]), tmp_path), row


def test_container_profiles_are_linted():
    for name, status in (("docker-default", 0), ("podman-default", 1)):
        document, done = report("lint", POLICIES / "oci" / (name + ".json"))
        assert done.status == status and "of other architectures" in done.err
        *shown, host = run("lint", POLICIES / "oci" / (name + ".json")).out.splitlines()
        assert host.startswith("holds for x86_64, Linux 6.1, no capabilities ("), host
        unknown = [row for row in document["warnings"] if row["kind"] == "unknown_name"]
        rules = [row for row in document["idle"] + document["warnings"] if row not in unknown]
        assert len(shown) == 1 + len(in_text(rules)) + len(unknown) < 1 + len(document["idle"] + document["warnings"]) or name == "docker-default"


def oci(names, action="ALLOW", *conditions):
    """Returns an entry of a container profile; a condition is (argument, operator, value[, second value])."""
    args = [{"index": index, "op": "SCMP_CMP_" + op, "value": value, "valueTwo": more[0] if more else 0}
            for index, op, value, *more in conditions]
    return {"names": names.split(), "action": "SCMP_ACT_" + action, **({"args": args} if args else {})}


def profile_of(path, entries, **fields):
    """Writes a container profile with one entry in each line, from line 2."""
    head = json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"], **fields})[:-1]
    path.write_text('%s, "syscalls": [\n%s\n]}' % (head, ",\n".join(json.dumps(entry) for entry in entries)))
    return path


# Entries, and what lint reports about them: line, kind, system call, and the rest of the text.
ENTRIES = {
    "conditional-after-unconditional": ([oci("socket"), oci("socket", "ALLOW", (0, "EQ", 1))],
                                        [(3, "shadowed", "socket", "line 2 decides every call that this rule matches")]),
    "conditional-before-unconditional": ([oci("socket", "ALLOW", (0, "EQ", 1)), oci("read socket")],
                                         [(2, "shadowed", "socket", "line 3 decides every call that this rule matches")]),
    "twice": ([oci("read write"), oci("close"), oci("write")], [(4, "shadowed", "write", "listed twice: line 2 has the same rule")]),
    "twice-with-condition": ([oci("read", "ALLOW", (0, "EQ", 1)), oci("read", "ALLOW", (0, "EQ", 1))],
                             [(3, "duplicate", "read", "it repeats line 2")]),
    "default": ([oci("mount", "ERRNO"), oci("read"), oci("keyctl", "ERRNO", (0, "EQ", 1))],
                [(2, "redundant", "mount", "its action is the default action of line 1"),
                 (4, "redundant", "keyctl", "its action is the default action of line 1")]),
    "default-beside-another": ([oci("read", "ERRNO"), oci("read")], [(2, "shadowed", "read", "line 3 decides every call that this rule matches")]),
    "another-errno-than-the-default": ([{**oci("mount", "ERRNO"), "errnoRet": 38}], []),
    "other-actions": ([oci("read"), oci("read", "LOG"), oci("write", "LOG", (0, "EQ", 1)), oci("write", "TRAP")],
                      [(3, "shadowed", "read", "line 2 decides every call that this rule matches"),
                       (4, "shadowed", "write", "line 5 decides every call that this rule matches")]),
    "within-another": ([oci("read", "ALLOW", (0, "LE", 9)), oci("read", "ALLOW", (0, "EQ", 4))],
                       [(3, "redundant", "read", "line 2 matches every call that this entry matches")]),
    "within-two-others": ([oci("read", "ALLOW", (0, "LE", 4)), oci("read", "ALLOW", (0, "GE", 4)), oci("read", "ALLOW", (0, "NE", 4))],
                          [(2, "redundant", "read", "the policy makes the same decisions without it")]),  # only one of the three can be removed
    "different": ([oci("read", "ALLOW", (0, "EQ", 1)), oci("read", "LOG", (0, "EQ", 2)), oci("write", "LOG")], []),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_profile_entries_without_effect_are_reported_with_their_lines(name, tmp_path):
    entries, expected = ENTRIES[name]
    path = profile_of(tmp_path / "p.json", entries)
    document, done = report("lint", path, "--sarif", tmp_path / "s.json", "--junit", tmp_path / "j.xml")
    assert done.status == (1 if expected else 0)
    lines = ["%s:%d (syscalls[%d]): x86_64:%s: %s: %s" % (path, line, line - 2, call, kind, text) for line, kind, call, text in expected]
    assert [row["text"] for row in document["idle"]] == lines
    assert [line for line in run("lint", path).out.splitlines()[1:] if not line.startswith("warning: ")] == lines
    results = json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
    found = [(row["message"]["text"], row["locations"][0]["physicalLocation"]["region"]["startLine"]) for row in results]
    assert [row for row in found if not row[0].startswith("warning: ")] == [(text, line) for text, (line, *_) in zip(lines, expected)]
    junit = (tmp_path / "j.xml").read_text()
    assert 'failures="%d"' % len(lines) in junit and all(text in junit for text in lines)


def test_exactly_the_profile_entries_without_effect_are_found(tmp_path):
    """Removing a reported entry changes no decision. Removing any other entry changes a decision, unless a reported entry replaces it."""
    rng = random.Random(8)
    kinds = {"removable": 0, "needed": 0}
    for _ in range(40):
        def entry():
            condition = (rng.randrange(2), rng.choice(["EQ", "LE", "MASKED_EQ"]), rng.randrange(3))
            return oci(rng.choice(["read", "write"]), rng.choice(["ALLOW", "ALLOW", "LOG", "ERRNO"]), *[condition] * (rng.random() < 0.7))
        entries = [entry() for _ in range(6)]
        path = profile_of(tmp_path / "p.json", entries)
        document, done = report("lint", path)
        if done.status == 4:  # the same conditions with another action
            continue
        listed = {row["origin"]["line"]: row["nr"] for row in document["idle"]}
        for k in range(len(entries)):
            less = profile_of(tmp_path / "less.json", entries[:k] + entries[k + 1:])
            removable = report("prove", path, less)[0].get("verdict") == "equivalent"
            if k + 2 in listed:
                assert removable, (entries, k)
            elif removable:
                assert CALLS[entries[k]["names"][0]] in listed.values(), (entries, k)
            kinds["removable" if removable else "needed"] += 1
    assert min(kinds.values()) > 40, kinds


# A condition, and the warning if every value or no value satisfies it.
TRIVIAL = [((0, "MASKED_EQ", 0, 0), "always_true"), ((0, "MASKED_EQ", 0, 5), "always_true"), ((1, "GE", 0), "always_true"),
           ((5, "LE", 2**64 - 1), "always_true"), ((0, "LT", 0), "never_true"), ((2, "GT", 2**64 - 1), "never_true"),
           ((0, "MASKED_EQ", 1, 1), None), ((0, "GE", 1), None), ((0, "LE", 2**64 - 2), None), ((0, "NE", 0), None)]


@pytest.mark.parametrize("condition, kind", TRIVIAL)
def test_conditions_that_every_or_no_value_satisfies_are_warnings(condition, kind, tmp_path):
    path = profile_of(tmp_path / "p.json", [oci("read"), oci("clone", "ALLOW", condition)])
    document, done = report("lint", path)
    assert [(row["kind"], row["field"], row["origin"]["line"], row["parts"]) for row in document["warnings"]] == (
        [(kind, "arg%d" % condition[0], 3, [])] if kind else []), done
    text = "warning: %s:3 (syscalls[1]): x86_64:clone: %s: %s value of arg%d satisfies this condition" % (
        path, kind, "every" if kind == "always_true" else "no", condition[0])
    assert (text in run("lint", path).out) == (kind is not None)
    assert (", whose mask is 0; it checks nothing\n" in run("lint", path).out) == (condition[1:3] == ("MASKED_EQ", 0))
    assert run("lint", path, "--strict").status == (1 if kind else 0)


# The conditions of each alternative, and the arguments of which the alternatives together admit every value.
TOGETHER = [([[(0, "NE", 40)], [(0, "NE", 38)]], [0]), ([[(0, "LT", 5)], [(0, "GE", 5)]], [0]), ([[(0, "NE", 40)], [(1, "NE", 38)]], []),
            ([[(0, "NE", 40), (1, "EQ", 1)], [(0, "NE", 38), (1, "EQ", 1)]], [0]), ([[(0, "NE", 40)], [(0, "LT", 38)]], []),
            ([[(0, "NE", 40)], [(0, "GE", 0)]], []), ([[(0, "MASKED_EQ", 1, 1)], [(0, "MASKED_EQ", 1, 0)]], [0])]


@pytest.mark.parametrize("conditions, fields", TOGETHER)
def test_alternatives_that_together_admit_every_value_are_warnings(conditions, fields, tmp_path):
    path = profile_of(tmp_path / "p.json", [oci("read")] + [oci("socket", "ALLOW", *each) for each in conditions])
    document, done = report("lint", path)
    rows = [row for row in document["warnings"] if row["kind"] == "together_true"]
    assert [(row["field"], row["origin"]["line"], row["parts"]) for row in rows] == [("arg%d" % field, 3, []) for field in fields], done
    for row in rows:
        assert row["text"] == ("%s:3 (syscalls[1]): x86_64:socket: together_true: the conditions on %s of lines 3, 4 together admit "
                               "every value, so they check nothing" % (path, row["field"]))


def test_conditions_of_policies_are_examined_in_every_part(tmp_path):
    rule = {"any_of": [eq(0, 1), {"all_of": [eq(1, 2), {"args": {"2": {"lt": 0}}}]}, {"args": {"0": {"eq": 7}, "3": {"ge": 0}}}]}
    document = linted(write(tmp_path / "p.json", policy_of(("allow", {"read": rule}))))
    assert [(row["field"], row["parts"]) for row in document["warnings"] if row["kind"] == "never_true"] == [("arg2", [2, 2])]
    assert not any(row["kind"] == "always_true" for row in document["warnings"]), "ge 0 states that any value is meant"


@pytest.mark.parametrize("low, wide", [("read", "write"), ("write", "read")])
def test_equal_conditions_on_the_low_half_and_on_the_whole_value_are_examined_apart(low, wide, tmp_path):
    """Every low half is below 2^32, but not every value."""
    rules = {name: {"args": {"0": {"le": 2**32 - 1, **bits}}} for name, bits in ((low, {"bits": 32}), (wide, {}))}
    document = linted(write(tmp_path / "p.json", policy_of(("allow", rules))))
    assert [(row["kind"], row["nr"]) for row in document["warnings"]] == [("always_true", CALLS[low])]


def test_bad_policies_are_errors(getpid, tmp_path):
    bad = write(tmp_path / "bad.json", {**policy_of(), "version": 2})
    for path in (getpid, tmp_path / "nonexistent.json", bad):
        document, done = report("lint", path)
        assert done.status == 2 and document["schema"] == "secequiv.error/1", done
        assert run("lint", path).out == ""


def test_the_time_limit_applies_to_all_proofs_together():
    document, done = report("lint", POLICIES / "gvisor" / "kvm-everything.json", "--timeout", "0.001")
    assert done.status == 3 and document["error"] == "budget"
    assert "limit" in done.err


def test_a_timeout_beyond_the_clocks_range_is_no_limit():
    policy = POLICIES / "seed" / "ten-syscalls.json"
    done, usual = run("lint", policy, "--timeout", "1e10"), run("lint", policy)
    assert (done.status, done.out) == (usual.status, usual.out) == (0, "pass: 0 redundant rules\n"), done


def test_quiet_keeps_warnings(tmp_path):
    profile = tmp_path / "p.json"
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [
        {"names": ["reboot"], "action": "SCMP_ACT_ALLOW", "include": {"caps": ["CAP_SYS_BOOT"]}}]}))
    done = run("lint", profile, "--quiet")
    assert done.status == 1 and done.out.startswith("fail: ") and "did you mean includes?" in done.err, done
    profile.write_text(profile.read_text().replace('"include"', '"remark"'))
    done = run("lint", profile, "--quiet")
    assert (done.status, done.out) == (0, "") and "warning: " in done.err and "unknown key 'remark'" in done.err, done


def test_only_an_equal_entry_counts_as_listed_twice(tmp_path):
    path = profile_of(tmp_path / "p.json", [oci("read"), oci("write"), oci("read")])
    text = run("lint", path).out
    assert "p.json:4 (syscalls[2]): x86_64:read: shadowed: listed twice: line 2 has the same rule\n" in text, text
    path = profile_of(tmp_path / "q.json", [oci("read"), oci("read", "ALLOW", (0, "EQ", 1))])
    assert "shadowed: line 2 decides every call that this rule matches" in run("lint", path).out


# Profiles about which an earlier version said nothing.

REGRESS = ROOT / "corpus" / "regress" / "lint"


@pytest.mark.parametrize("name, kind, field, calls", [
    ("three-ne", "repeated_argument", "arg1", ["sched_setscheduler"]), ("same-argument-twice", "repeated_argument", "arg0", ["socket"]),
    ("range-one-argument", "repeated_argument", "arg0", ["lseek"]), ("errno-0", "errno_zero", None, ["setuid", "setgid"])])
def test_entries_that_mean_something_else_are_warnings(name, kind, field, calls):
    document, done = report("lint", REGRESS / (name + ".json"))
    found = [one for one in document["warnings"] if one["kind"] == kind]
    assert sorted(one["text"].split("x86_64:")[1].split(":")[0] for one in found) == sorted(calls)
    assert all(one.get("field") == field for one in found)
    lines = [line for line in run("lint", REGRESS / (name + ".json")).out.splitlines() if kind in line]
    assert len(lines) == 1 and lines[0].startswith("warning: ")
    assert run("lint", REGRESS / (name + ".json"), "--strict").status == 1
    assert run("--explain", kind).status == 0


def test_a_default_action_of_errno_0_is_a_warning(tmp_path):
    path = written(tmp_path, defaultErrnoRet=0, architectures=["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"])
    document, _ = report("lint", path)
    assert [(one["kind"], one["arch"], "nr" in one, one["rule_set"]) for one in document["warnings"]] == [("errno_zero", arch, False, 2) for arch in ("x86_64", "i386")]
    assert ": x86_64,i386:calls without a rule: errno_zero: " in run("lint", path).out.splitlines()[1]


def test_tests_of_different_arguments_are_no_alternatives(tmp_path):
    args = [{"index": index, "value": 3, "op": "SCMP_CMP_EQ"} for index in (0, 1)]
    path = written(tmp_path, syscalls=[{"names": ["lseek"], "action": "SCMP_ACT_ALLOW", "args": args}])
    assert report("lint", path)[0]["warnings"] == []


def test_an_entry_has_one_line_for_all_its_calls(tmp_path):
    """The entry has a line for each name and repeats the default action; the second one repeats the first entry's names."""
    names = ["read", "write", "open", "close", "stat", "fstat", "lstat", "poll", "lseek", "mmap", "time"]
    entry = {"names": names, "action": "SCMP_ACT_ALLOW"}
    for default, text in (("SCMP_ACT_ALLOW", "its action is the default action of line 2"), ("SCMP_ACT_ERRNO", "listed twice: the entry syscalls[0] has the same rule")):
        path = written(tmp_path, defaultAction=default, architectures=["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"], syscalls=[entry] if "ALLOW" in default else [entry, entry])
        document, done = report("lint", path)
        assert done.status == 1 and len({(one["nr"], one["arch"]) for one in document["idle"]}) == 2 * len(names)
        lines = run("lint", path).out.splitlines()
        assert lines[0] == "fail: 1 redundant rule" and len(lines) == 2
        assert "x86_64,i386:read, write, open, close, stat, fstat, lstat, poll and 3 more: " in lines[1] and lines[1].endswith(text), lines
        run("lint", path, "--sarif", tmp_path / "s.json")
        assert len(json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]) == 1


def written(folder, **fields):
    profile = {"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW"}], **fields}
    path = folder / "profile.json"
    path.write_text(json.dumps(profile, indent=1))
    return path


ALLOWED = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["ptrace"], "action": "SCMP_ACT_ERRNO"}]}


@pytest.mark.parametrize("fields, error", [
    ({"syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW", "arg": []}]}, True),  # close to args
    ({"syscalls": [{"names": ["read"], "action": "SCMP_ACT_ALLOW", "remark": "x"}]}, False),
    ({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [], "rules": []}, True),  # nothing effective is left
    ({**ALLOWED, "rules": []}, False),
    ({**ALLOWED, "syscalls": [{"names": ["ptrace", "keyctll"], "action": "SCMP_ACT_ERRNO"}]}, True),
    ({"syscalls": [{"names": ["read", "keyctll"], "action": "SCMP_ACT_ALLOW"}]}, False)])
def test_an_unknown_name_that_leaves_calls_open_is_an_error(fields, error, tmp_path):
    path = written(tmp_path, **fields)
    document, done = report("lint", path)
    assert (done.status, len(document.get("errors", [])), len(document["warnings"])) == ((1, 1, 0) if error else (0, 0, 1))
    done = run("lint", path)
    assert done.out.splitlines()[1].startswith("error: " if error else "warning: ")
    assert ("fail: 0 redundant rules, 1 error" if error else "pass: 0 redundant rules, 1 warning") == done.out.splitlines()[0]
    assert "unknown key" in (quiet := run("lint", path, "--quiet").err) or "no architecture has" in quiet
