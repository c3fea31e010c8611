"""Makes pages with --html and reads them: their tags, tables and stored values. The tests with a browser use this module, too."""

import json
import re
from html.parser import HTMLParser

import pytest
from cli_tool import POLICIES, PROGRAMS, run

EVERYTHING = [PROGRAMS / "gvisor" / ("systrap-everything.%s.bpf" % side) for side in ("before", "after")]
OCI = POLICIES / "oci"
DOCKER = (OCI / "docker-default-0.1.0.json", OCI / "docker-default.json", "--any-length")

# Programs whose traces part at instruction 1, where one of them has a run of failed comparisons.
CHAIN = ("ld [0]\n%sret #0x50001\nok: ret #0x7fff0000\n" % "".join("jeq #%d, ok\n" % nr for nr in range(60, 70)),
         "ld [0]\njge #50, ok\nret #0x50001\nok: ret #0x7fff0000\n")


class Reader(HTMLParser):
    """Collects tags with their attributes, the text of each script, and the rows of each table."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.scripts = []
        self.tables = {}
        self.rows = None  # the rows of the table that is being read
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        if tag == "script":
            self.scripts.append("")
        if tag == "tbody":
            self.rows = self.tables[attrs["id"]] = []
        if tag == "tr" and self.rows is not None:
            self.rows.append({"class": attrs.get("class")})
        if tag == "td":
            self.rows[-1][attrs["data-label"]] = ""

    def handle_endtag(self, tag):
        if tag == "tbody":
            self.rows = None

    def handle_data(self, text):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += text
        elif self.rows and len(self.rows[-1]) > 1:
            label = list(self.rows[-1])[-1]
            self.rows[-1][label] += text.strip("\n")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """Returns the page of the largest pair, and the listing written with it."""
    folder = tmp_path_factory.mktemp("everything")
    return page_of(folder, *EVERYTHING, "--listing", folder / "listing", status=0), folder


@pytest.fixture(scope="module")
def docker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docker")
    return page_of(folder, *DOCKER, status=1), folder


def page_of(tmp_path, *args, status, command="check", cwd=None):
    path = tmp_path / "page.html"
    done = run(command, *args, "--html", path, cwd=cwd)
    assert done.status == status, done
    text = path.read_text()
    reader = Reader(text)
    assert not re.search(r"@@(TITLE|STYLE|SCRIPT|VERDICT|STATE|DIRECTION|PAIR|REASON|TEXT|DIFFERENCE|NOTES|COST|CACHE|PROVENANCE|VERSION|COMMAND)@@", text)
    for _, attrs in reader.tags:  # the page loads no other file
        assert not {"src", "srcset", "action", "data"} & set(attrs), attrs
        assert not attrs.get("href", "#").startswith(("http", "/")), attrs
    assert re.findall(r"https?://[^\"'\s]*", text.replace("http://www.w3.org/2000/svg", "")) == []
    return json.loads(reader.scripts[0]), reader, text


def steps(trace):
    """Returns a stored trace as [(pc, A, X)]; this is a second implementation of the decoder."""
    pcs = [pc for first, count in zip(trace["runs"][::2], trace["runs"][1::2]) for pc in range(first, first + count)]
    registers = []
    for name in ("a", "x"):
        changes = dict(zip(trace[name][::2], trace[name][1::2]))
        value, values = 0, []
        for i in range(len(pcs)):
            value = changes.get(i, value)
            values.append(value)
        registers.append(values)
    return list(zip(pcs, *registers))
