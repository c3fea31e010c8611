"""Tests that scripts/sbom writes a complete, well-formed bill, that scripts/check_reproducible checks its arguments, and that sources
contain no build time."""

import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from as_module import load  # noqa: E402

# These are the requirements of CycloneDX 1.5 for the parts that we use (bom-1.5.schema.json).
LICENCES = {"type": "array", "minItems": 1, "items": {"oneOf": [
    {"type": "object", "required": ["license"], "additionalProperties": False,
     "properties": {"license": {"oneOf": [{"required": ["id"]}, {"required": ["name"]}], "additionalProperties": False,
                                "properties": {"id": {"enum": ["Apache-2.0"]}, "name": {"type": "string", "minLength": 1}}}}},
    {"type": "object", "required": ["expression"], "additionalProperties": False, "properties": {"expression": {"type": "string", "minLength": 1}}}]}}
COMPONENT = {"type": "object", "required": ["type", "name", "version", "bom-ref", "licenses"], "additionalProperties": False, "properties": {
    "type": {"enum": ["application", "library"]}, "name": {"type": "string", "minLength": 1}, "version": {"type": "string", "minLength": 1},
    "bom-ref": {"type": "string", "minLength": 1}, "purl": {"type": "string", "pattern": r"^pkg:(deb|golang|cargo|pypi)/[^ @]+@[^ ]+$"},
    "scope": {"enum": ["required", "optional", "excluded"]}, "licenses": LICENCES,
    "hashes": {"type": "array", "items": {"type": "object", "required": ["alg", "content"], "additionalProperties": False, "properties": {
        "alg": {"const": "SHA-256"}, "content": {"type": "string", "pattern": "^[a-f0-9]{64}$"}}}},
    "properties": {"type": "array", "items": {"type": "object", "required": ["name"], "additionalProperties": False,
                                              "properties": {"name": {"type": "string"}, "value": {"type": "string"}}}}}}
BILL = {"type": "object", "required": ["bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"],
        "additionalProperties": False, "properties": {
            "bomFormat": {"const": "CycloneDX"}, "specVersion": {"const": "1.5"}, "version": {"const": 1},
            "serialNumber": {"type": "string", "pattern": "^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
            "metadata": {"type": "object", "required": ["timestamp", "component"], "additionalProperties": False, "properties": {
                "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}, "component": COMPONENT}},
            "components": {"type": "array", "items": COMPONENT, "uniqueItems": True},
            "dependencies": {"type": "array", "items": {"type": "object", "required": ["ref"], "additionalProperties": False,
                                                        "properties": {"ref": {"type": "string"}, "dependsOn": {"type": "array", "uniqueItems": True}}}}}}


def tool(name, *args, **environment):
    return subprocess.run([str(ROOT / "scripts" / name), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, **environment})


def test_the_bill_of_materials_is_well_formed_and_complete():
    done = tool("sbom")
    bill = json.loads(done.stdout)
    jsonschema.Draft202012Validator(BILL).validate(bill)
    refs = [one["bom-ref"] for one in bill["components"]]
    assert len(refs) == len(set(refs))
    for row in bill["dependencies"]:
        assert {row["ref"], *row["dependsOn"]} <= {"secequiv", *refs}
    names = {one["name"] for one in bill["components"]}
    absent = set(done.stderr.split("left out: ")[1].split()) if done.returncode == 1 else set()
    assert done.returncode == (1 if absent else 0), done
    setup = (ROOT / "scripts/lib/setup.sh").read_text()
    wanted = {name for words in re.findall(r"^SETUP_(?:BUILD|TEST|CLANG)=\((.*)\)", setup, re.MULTILINE) for name in words.split()}
    assert wanted == (wanted & names) | absent and not names & absent
    for lock, pattern in (("gvisor/go.sum", r"^(\S+) v\S+ h1"), ("seccompiler/Cargo.lock", r'^name = "([^"]+)"')):
        locked = set(re.findall(pattern, (ROOT / "adapters" / lock).read_text(), re.MULTILINE)) - {"secequiv-adapter-seccompiler", "secequiv"}
        assert locked and locked <= names
    # The same tree gives the same bytes; another date gives another bill.
    assert tool("sbom").stdout == done.stdout
    assert json.loads(tool("sbom", SOURCE_DATE_EPOCH="0").stdout)["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"


def test_a_bill_of_materials_without_a_version_is_invalid():
    bill = json.loads(tool("sbom").stdout)
    del bill["components"][0]["version"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(BILL).validate(bill)


def test_licences_are_read_from_debian_copyright_files(tmp_path):
    sbom = load(ROOT / "scripts/sbom")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/copyright").write_text("Format: x\n\nFiles: *\nCopyright: somebody\nLicense: MIT\n text\n\nLicense: GPL-2\n text\n")
    assert sbom.debian_licence("p", tmp_path) == "MIT"
    assert sbom.debian_licence("q", tmp_path) is None


def test_modules_without_a_licence_are_errors(tmp_path, capsys, monkeypatch):
    sbom = load(ROOT / "scripts/sbom")
    for name in ("golang.org/x/sys", "libc"):
        monkeypatch.delitem(sbom.LICENCES, name)
    assert sbom.main(["-o", str(tmp_path / "bill.json")]) == 2
    output = capsys.readouterr()
    assert output.out == "" and "unknown licence: golang.org/x/sys libc;" in output.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args, words", [(["--jobs", "0"], "above 0"), (["--revision", "no-such"], "unknown revision 'no-such'"), (["--no-such"], "unrecognized"),
                                         (["--keep", "/"], "'/' exists")])
def test_check_reproducible_refuses_bad_arguments(args, words):
    done = tool("check_reproducible", *args)
    assert done.returncode == 2 and words in done.stderr and done.stdout == "", done


def test_a_release_contains_no_path_and_no_time():
    assert "$<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>" in (ROOT / "cmake/options.cmake").read_text()
    for folder in ("adapters", "analyze", "api", "cli", "fuzz", "harness", "verify"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".cc", ".h"):
                assert not re.search(r"__(DATE|TIME|TIMESTAMP)__", path.read_text()), path
