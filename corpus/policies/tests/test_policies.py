"""The schema and the reader agree: both accept every policy and refuse every malformed document, with listed exceptions."""

import copy
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

FOLDER = Path(__file__).resolve().parents[1]
ROOT = FOLDER.parents[1]
SEEDS = sorted((FOLDER / "seed").glob("*.json"))
POLICIES = SEEDS + sorted((FOLDER / "gvisor").glob("*.json"))
SCHEMA = json.loads((FOLDER / "schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

NAMES = """ten-syscalls fcntl futex ioctl-nvproxy-like directfs-openat systrap-stub systemd-deny masked-flags signed-fds multi-arch
           vsyscall orders errno-zoo nested big-endian variables""".split()


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def load(path):
    return json.loads(path.read_text(), object_pairs_hook=no_duplicates)


def described(schema):
    """Returns (name, subschema) for every key that the schema declares."""
    if isinstance(schema, dict):
        for name, value in schema.get("properties", {}).items():
            yield name, value
        for value in schema.values():
            yield from described(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from described(value)


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_describes_every_key():
    body = {key: value for key, value in SCHEMA.items() if key != "dependentSchemas"}
    keys = list(described(body))
    assert len(keys) >= 30
    assert [name for name, value in keys if not value.get("description")] == []
    assert [name for name, value in SCHEMA["$defs"].items() if not value.get("description")] == []


def test_every_seed_policy_exists():
    assert {path.stem for path in SEEDS} >= set(NAMES)


def test_the_default_policy_exists():
    assert FOLDER / "gvisor" / "systrap.json" in POLICIES  # cli/CMakeLists.txt embeds it


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_policies_match_the_schema(path):
    error = jsonschema.exceptions.best_match(VALIDATOR.iter_errors(load(path)))
    assert error is None, "%s: %s" % (error.json_path, error.message)


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_seeds_have_name_and_description(path):
    policy = load(path)
    assert policy["$schema"] == "../schema.json"
    assert policy["name"] == path.stem
    assert len(policy["description"]) > 60


def uses(node, found):
    """Collects keys and bare words of a document."""
    if isinstance(node, dict):
        for key, value in node.items():
            found.add(key)
            uses(value, found)
    elif isinstance(node, list):
        for value in node:
            uses(value, found)
    elif isinstance(node, str):
        found.add(node)


def test_the_seeds_use_the_whole_format():
    found = set()
    for path in SEEDS:
        uses(load(path), found)
    declared = {name for name, _ in described(SCHEMA)}
    assert declared <= found
    assert {"any", "non_negative_fd", "kill_process", "kill_thread", "trap", "trace", "user_notif", "log", "allow"} <= found


SMALL = {
    "version": 1, "arches": ["x86_64"], "default_action": "errno(EPERM)", "variables": {"pid": 7}, "hot": ["read"],
    "rule_sets": [{"action": "allow", "rules": {
        "read": True,
        "write": {"any_of": [{"args": {"0": {"eq": 1}}}, {"args": {"0": {"eq": "$pid"}, "ip": {"lt": -1}}}]},
        "openat": {"args": {"2": {"masked_eq": {"mask": "O_NOFOLLOW|0x1", "value": "O_NOFOLLOW"}}}}}}],
}


def changed(path, value):
    """Returns SMALL with the item at `path` replaced, or removed if `value` is None."""
    document = copy.deepcopy(SMALL)
    at = document
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return document


SET = ("rule_sets", 0)
RULES = SET + ("rules",)


def with_matcher(value):
    return changed(RULES + ("openat", "args", "2"), value)


# Both the schema and the reader refuse these.
BROKEN = {
    "not an object": [],
    "no version": changed(("version",), None),
    "version 2": changed(("version",), 2),
    "version as text": changed(("version",), "1"),
    "no arches": changed(("arches",), None),
    "empty arches": changed(("arches",), []),
    "arches as text": changed(("arches",), "x86_64"),
    "unknown arch": changed(("arches",), ["vax"]),
    "arch twice": changed(("arches",), ["x86_64", "x86_64"]),
    "no default action": changed(("default_action",), None),
    "no rule sets": changed(("rule_sets",), None),
    "rule sets as object": changed(("rule_sets",), {}),
    "unknown key": changed(("defaultAction",), "allow"),
    "unknown key in a rule set": changed(SET + ("priority",), 1),
    "name is a number": changed(("name",), 5),
    "description is a list": changed(("description",), ["a"]),
    "unknown action": changed(("default_action",), "deny"),
    "errno without number": changed(("default_action",), "errno"),
    "errno with a wrong name": changed(("default_action",), "errno(PERM)"),
    "errno above 16 bits": changed(("default_action",), "errno(65536)"),
    "trap data above 16 bits": changed(("default_action",), "trap(0x10000)"),
    "action not closed": changed(("default_action",), "trap(1"),
    "action above 32 bits": changed(("default_action",), 2**32),
    "action as text above 32 bits": changed(("default_action",), "4294967296"),
    "negative action": changed(("bad_arch_action",), -1),
    "action is a boolean": changed(("bad_arch_action",), True),
    "x32_action without x86_64": {**changed(("arches",), ["i386"]), "x32_action": "trap"},
    "x32_action beside x32": {**changed(("arches",), ["x86_64", "x32"]), "x32_action": "trap"},
    "default ranges as object": changed(("default_ranges",), {"arch": "x86_64", "action": "log"}),
    "default range without action": changed(("default_ranges",), [{"arch": "x86_64"}]),
    "default range without arch": changed(("default_ranges",), [{"first": 5, "action": "log"}]),
    "default range with an unknown key": changed(("default_ranges",), [{"arch": "x86_64", "to": 5, "action": "log"}]),
    "default range above 32 bits": changed(("default_ranges",), [{"arch": "x86_64", "last": 2**32, "action": "log"}]),
    "hot is text": changed(("hot",), "read"),
    "hot entry is a number": changed(("hot",), [0]),
    "variable above 32 bits": changed(("variables", "pid"), 2**32),
    "negative variable": changed(("variables", "pid"), -1),
    "variable is text": changed(("variables", "pid"), "7"),
    "variables as list": changed(("variables",), []),
    "rule set as list": changed(SET, []),
    "rule set without action": changed(SET + ("action",), None),
    "rule set without rules": changed(SET + ("rules",), None),
    "rules as list": changed(RULES, ["read"]),
    "vsyscall is a number": changed(SET + ("vsyscall",), 1),
    "call with a dash": changed(RULES + ("open-at",), True),
    "call of an unknown arch": changed(RULES + ("vax:read",), True),
    "number above 32 bits": changed(RULES + ("4294967296",), True),
    "rule is false": changed(RULES + ("read",), False),
    "rule is text": changed(RULES + ("read",), "any"),
    "rule is null": {**SMALL, "rule_sets": [{"action": "allow", "rules": {"read": None}}]},
    "empty rule": changed(RULES + ("read",), {}),
    "rule of two kinds": changed(RULES + ("read",), {"any_of": [True], "all_of": [True]}),
    "unknown kind of rule": changed(RULES + ("read",), {"none_of": [True]}),
    "empty any_of": changed(RULES + ("read",), {"any_of": []}),
    "empty all_of": changed(RULES + ("read",), {"all_of": []}),
    "any_of with a number": changed(RULES + ("read",), {"any_of": [True, 1]}),
    "all_of with text": changed(RULES + ("read",), {"all_of": [True, "any"]}),
    "all_of as object": changed(RULES + ("read",), {"all_of": {"args": {}}}),
    "any_of as object": changed(RULES + ("read",), {"any_of": {"args": {}}}),
    "args as list": changed(RULES + ("read",), {"args": [{"eq": 1}]}),
    "argument 6": changed(RULES + ("read",), {"args": {"6": {"eq": 1}}}),
    "unknown word for a matcher": with_matcher("none"),
    "number for a matcher": with_matcher(1),
    "empty matcher": with_matcher({}),
    "matcher of two kinds": with_matcher({"gt": 1, "lt": 5}),
    "unknown matcher": with_matcher({"equals": 1}),
    "value above 64 bits": with_matcher({"eq": 2**64}),
    "value below 64 bits": with_matcher({"eq": -(2**63) - 1}),
    "value with a fraction": with_matcher({"eq": 1.5}),
    "value is a list": with_matcher({"eq": [1, 2]}),
    "value is empty": with_matcher({"eq": ""}),
    "value ends in a bar": with_matcher({"eq": "O_RDWR|"}),
    "hex value too long": with_matcher({"eq": "0x10000000000000000"}),
    "masked_eq as list": with_matcher({"masked_eq": [1, 1]}),
    "masked_eq without value": with_matcher({"masked_eq": {"mask": 1}}),
    "masked_eq without mask": with_matcher({"masked_eq": {"value": 1}}),
    "masked_eq with an unknown key": with_matcher({"masked_eq": {"mask": 1, "value": 1, "not": 1}}),
    "variable as mask": with_matcher({"masked_eq": {"mask": "$pid", "value": 0}}),
    "variable in bits_allowlist": with_matcher({"bits_allowlist": "$pid"}),
    "variable in a sum": with_matcher({"eq": "$pid|1"}),
}

# The schema accepts these, but the reader refuses them; the schema's description lists the reasons.
MEANINGLESS = {
    "unknown system call": changed(RULES + ("raed",), True),
    "unknown hot system call": changed(("hot",), ["raed"]),
    "unknown constant": with_matcher({"eq": "O_NOFOLLOWW"}),
    "undeclared variable": with_matcher({"eq": "$uid"}),
    "number without an architecture": {**changed(RULES + ("0",), True), "arches": ["x86_64", "i386"]},
    "call twice": changed(RULES + ("x86_64:read",), True),
    "call of an unlisted arch": changed(RULES + ("i386:read",), True),
    "arch twice by two names": changed(("arches",), ["x86_64", "amd64"]),
    "value with an exponent": with_matcher({"eq": 1e3}),
}

# Only the schema refuses these: the reader ignores the first two keys, the case of words, and the names of variables.
STRICTER = {
    "$schema is a number": changed(("$schema",), 5),
    "description of a rule set is a number": changed(SET + ("description",), 5),
    "variable with a blank": changed(("variables", "process id"), 5),
    "action in mixed case": changed(("default_action",), "Allow"),
}


@pytest.mark.parametrize("document", [*BROKEN.values(), *STRICTER.values()], ids=[*BROKEN, *STRICTER])
def test_the_schema_refuses_malformed_policies(document):
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("document", [SMALL, *MEANINGLESS.values()], ids=["small", *MEANINGLESS])
def test_the_schema_accepts_wellformed_policies(document):
    assert VALIDATOR.is_valid(document)


@pytest.fixture(scope="module")
def binary():
    folder = os.environ.get("SECEQUIV_BIN")
    if folder:
        found = Path(folder) / "secequiv"
        assert found.is_file(), "SECEQUIV_BIN is set, but %s is missing" % found
        return found
    for preset in ("dev", "release"):
        found = ROOT / "build" / preset / "bin" / "secequiv"
        if found.is_file():
            return found
    return pytest.skip("secequiv is not built, and SECEQUIV_BIN is not set")


def validate(binary, path):
    return subprocess.run([str(binary), "validate", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_the_reader_accepts_every_policy(binary, path):
    done = validate(binary, path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document,status", [
    *[(document, 2) for document in (*BROKEN.values(), *MEANINGLESS.values())],
    *[(document, 0) for document in (SMALL, *STRICTER.values())],
], ids=[*BROKEN, *MEANINGLESS, "small", *STRICTER])
def test_the_reader_refuses_malformed_policies(binary, tmp_path, document, status):
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(document))
    done = validate(binary, path)
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert "policy.json" in done.stderr
