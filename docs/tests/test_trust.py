"""The table of docs/trust.md has the versions that are pinned and installed, and its commands exist."""

import ctypes
import datetime
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import pinned  # noqa: E402
from corpus import sources  # noqa: E402
from tables import sources as tables  # noqa: E402

HEADING = "## What other tools confirm\n"
ROW = re.compile(r"\| (?P<claim>.+) \| \[`(?P<name>[^`]+)`\]\(\.\./(?P<pin>[^)]+)\) \| (?P<version>.+) \| `(?P<command>[^`]+)` \| (?P<date>[\d-]+) \|")
PINNED_IN_PYTHON = {
    "scripts/pinned.py": {"libseccomp": pinned.LIBSECCOMP_VERSION},
    "scripts/corpus/sources.py": {sources.MOBY_MODULE: next(iter(sources.MOBY_SUMS)), sources.PODMAN.split()[0]: sources.PODMAN.split()[1]},
    "scripts/tables/sources.py": {tables.GO_MODULE: tables.GO_VERSION, "linux-libc-dev": tables.HEADERS_VERSION},
}
HELPERS = {"builtin", "broken", "oci", "serve", "tests"}  # folders of adapters without another project


class Row(NamedTuple):
    claim: str
    name: str
    pin: str  # the file that pins the version
    version: str
    command: str
    date: str


def rows(text):
    section = text[text.index(HEADING) + len(HEADING):].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [Row(**ROW.fullmatch(line).groupdict()) for line in lines]


ROWS = rows((ROOT / "docs" / "trust.md").read_text())


def pins(path):
    """Returns {name: version} of a file that pins versions."""
    text = (ROOT / path).read_text()
    if path in PINNED_IN_PYTHON:
        return PINNED_IN_PYTHON[path]
    if path.endswith("go.mod"):
        return dict(re.findall(r"^(?:require )?\t?([a-z]\S+/\S+) (v\S+)", text, re.MULTILINE))
    if path.endswith("Cargo.lock"):
        return {package["name"]: package["version"] for package in tomllib.loads(text)["package"]}
    if path.endswith("requirements.txt"):
        return dict(re.findall(r"^([\w-]+)==(\S+)", text, re.MULTILINE))
    if path.endswith("kernels.json"):
        releases = sorted(tuple(map(int, re.findall(r"\d+", kernel["release"].split("+")[0])[:4])) for kernel in json.loads(text)["kernels"])
        oldest, newest = releases[0], releases[-1]
        return {"Linux": "%d.%d.%d-%d to %d.%d.%d" % (*oldest, *newest[:3])}
    return {Path(path).parent.name: version for version in re.findall(r"\(Debian 12:\s+(\d[\d.]*\d)\)", text)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "%s: %s" % (row.name, row.command))
def test_the_version_is_the_pinned_one(row):
    assert row.version == pins(row.pin)[row.name]


def test_the_installed_libpcap_has_this_version():
    try:
        library = ctypes.CDLL("libpcap.so.0.8")
    except OSError:
        pytest.skip("libpcap.so.0.8 is not installed")
    library.pcap_lib_version.restype = ctypes.c_char_p
    assert {row.version for row in ROWS if row.name == "libpcap"} == {library.pcap_lib_version().decode().split()[2]}


def test_each_adapter_has_a_row():
    folders = {path.name for path in (ROOT / "adapters").iterdir() if (path / "README.md").exists()} - HELPERS
    assert len(folders) >= 12
    pinning = {Path(row.pin).parent.name for row in ROWS} | {row.name for row in ROWS}
    assert folders <= pinning, folders - pinning


@pytest.mark.parametrize("command", sorted({row.command for row in ROWS}))
def test_commands_run_tests_that_exist(command):
    program, *words = command.split()
    files = [ROOT / word for word in words if word.endswith(".py")] if program == "pytest" else [ROOT / program]
    assert files and all(file.is_file() for file in files)
    if "-k" in words:
        known = (ROOT / "corpus" / "known.toml").read_text()  # test_known.py has a test for each entry
        assert any(words[words.index("-k") + 1] in file.read_text() + (known if file.stem == "test_known" else "") for file in files), words


def test_dates():
    for row in ROWS:
        assert datetime.date(2026, 11, 1) <= datetime.date.fromisoformat(row.date) <= datetime.date.today() + datetime.timedelta(days=1), row
    (kernels,) = {kernel["date"] for kernel in json.loads((ROOT / "corpus" / "kernels.json").read_text())["kernels"]}
    assert {row.date for row in ROWS if row.name == "Linux"} == {kernels}


def test_another_version_is_noticed():
    text = (ROOT / "docs" / "trust.md").read_text().replace("v1.5.2", "v1.5.3")
    assert [row.name for row in rows(text) if row.version != pins(row.pin)[row.name]] == ["github.com/opencontainers/runc"]
