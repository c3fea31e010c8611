"""Tests the schemas of reports: they are printed with absolute names, and an ordinary validator needs only one call."""

import json

import jsonschema
import pytest
from cli_tool import POLICIES, SCHEMAS, run

NAMES = run("--print-schema").out.split()
REPORTS = {"check": ["check", "getpid.asm", "getpid-enoent.asm"], "prove": ["prove", "getpid.asm", "getpid-enoent.asm"], "diff": ["diff", "getpid.asm", "getpid-enoent.asm"],
           "why": ["why", "getpid.asm"], "cost": ["cost", "getpid.asm"], "mutate": ["mutate", "getpid.asm"], "run": ["run", "getpid.asm"], "cover": ["cover", "getpid.asm"],
           "validate": ["validate", "getpid.asm"], "error": ["check", "nonexistent"], "actions": ["actions", "getpid.asm"], "reach": ["reach", "getpid.asm"], "cache": ["cache", "getpid.asm"],
           "guard": ["guard", "getpid.asm"]}


def printed(name):
    done = run("--print-schema", name)
    assert done.status == 0 and done.err == "", done
    return json.loads(done.out)


def test_all_schemas_are_listed():
    assert NAMES == sorted([path.name.split(".")[0] for path in SCHEMAS.glob("*.json")] + ["policy"])


@pytest.mark.parametrize("name", NAMES)
def test_schemas_have_absolute_names(name):
    schema = printed(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "https://github.com/secequiv/secequiv/schemas/%s.schema.json" % name


def test_the_generated_schemas_are_those_of_the_program():
    assert {path.name.split(".")[0]: path.read_text() for path in SCHEMAS.glob("*.json")} == {name: run("--print-schema", name).out for name in NAMES if name != "policy"}


@pytest.mark.parametrize("kind", REPORTS)
def test_one_call_of_a_validator_checks_a_report(kind, getpid, getpid_enoent):
    report = json.loads(run(*REPORTS[kind], "--json", cwd=getpid.parent).out)
    jsonschema.validate(report, printed(kind))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**report, "schema": "secequiv.other/1"}, printed(kind))


def test_one_call_of_a_validator_checks_a_policy():
    jsonschema.validate(json.loads((POLICIES / "seed" / "ten-syscalls.json").read_text()), printed("policy"))


def test_an_unknown_schema_is_an_error():
    done = run("--print-schema", "chekc")
    assert done.status == 2 and done.out == "" and "there is no schema 'chekc'; did you mean check" in done.err, done
    assert run("--print-schema", "check", "extra").status == 2
