"""Tests --html: the page agrees with the other reports, and text from inputs cannot become markup."""

import hashlib
import html
import json
import os
import re
from datetime import datetime, timedelta, timezone

import pytest
from cli_tool import HARD_AFTER, HARD_BEFORE, POLICIES, PROGRAMS, report, run
from page_tool import CHAIN, DOCKER, EVERYTHING, OCI, docker, everything, page_of, steps  # noqa: F401

LIMIT_BYTES = 3_000_000


def marks_of_listing(text):
    return [line[:3].strip() for line in text.splitlines() if not line.startswith(";")]


def test_a_page_agrees_with_the_other_reports(everything):
    (data, reader, text), folder = everything
    before, after = EVERYTHING
    assert len(text) < LIMIT_BYTES
    assert [insn[5] for insn in data["sides"][1]["insns"]] == marks_of_listing((folder / "listing").read_text())
    # Each infeasible edge has a reason: a condition that holds for all inputs that reach its instruction.
    odd = [insn for side in data["sides"] for insn in side["insns"] if "-" in insn[5]]
    assert odd
    for insn in odd:
        for mark, reason in zip(insn[5], insn[6]):
            assert data["texts"][reason].startswith("proven infeasible") == (mark == "-")
    for side in data["sides"]:
        assert "!" not in "".join(insn[5] for insn in side["insns"])
    cost, _ = report("cost", before, after)
    for side, when in zip(cost["sides"], ("Before", "After")):
        assert "%s: %s, %d instructions." % (when, side["name"], side["instructions"]) in text
        assert "%.2f " % side["mean"] in text and "%d " % side["worst"]["instructions"] in text
    rows = reader.tables["cost-rows"]
    assert [row["System call"] for row in rows] == [call["name"] for call in cost["sides"][0]["calls"]]
    for row, *calls in zip(rows, *[side["calls"] for side in cost["sides"]]):
        assert [("cached" in row[name]) for name in ("Before", "After")] == [call["cached"] for call in calls]
    assert "no input differs" in text and "difference-rows" not in reader.tables


def test_the_page_shows_the_cache_of_the_report(tmp_path):
    pair = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
    _, reader, _ = page_of(tmp_path, *pair, "--max-inputs", "1000", status=0)
    check, _ = report("check", *pair, "--max-inputs", "1000")
    rows = [tuple(row[name] for name in ("Architecture", "Before", "After", "Lost", "Gained")) for row in reader.tables["cache-rows"]]
    assert rows == [(c["arch"], str(c["before"]), str(c["after"]), ", ".join(c["lost"]) or "none", ", ".join(c["gained"]) or "none")
                    for c in check["cache"]["arches"]]
    assert int(rows[0][1]) > 40


def test_the_page_shows_the_difference_and_its_traces(docker):
    (data, reader, text), _ = docker
    diff, _ = report("diff", *DOCKER[:2])
    conditions = [region["condition"] for change in diff["changes"] for region in change["regions"]]
    row, = reader.tables["difference-rows"]  # one call, on three architectures
    assert len(conditions) == 3 and all(condition.replace("0x26", "AF_ALG") in row["For which inputs"] for condition in conditions)
    assert "i386, x32 if arg0.lo == AF_ALG" in row["For which inputs"] and "x86_64 if arg0 == AF_ALG" in row["For which inputs"]
    assert row["System call"] == "socket i386, x86_64, x32" and row["class"] == row["Effect"] == "closed"
    assert re.fullmatch(r"ALLOW\S*docker-default-0.1.0.json:\d+ \(syscalls\[2\]\)", row["Before"])
    assert row["After"] == "ERRNO(1 EPERM)%s:2 (defaultAction)" % DOCKER[1].name
    assert data["inputs"][0]["label"] == "the witness"
    full, _ = report("check", *DOCKER)
    for side in ("before", "after"):
        wanted = [(step["pc"], step["a"], step["x"]) for step in full["traces"][side]["steps"]]
        assert steps(data["inputs"][0][side]) == wanted
        assert data["inputs"][0][side]["result"].startswith(full["traces"][side]["result"]["value"])
    assert ("header", {"class": "closed"}) in reader.tags and "witness   ALLOW became ERRNO(1 EPERM) for nr=41 (socket)" in text


# Pairs with the instruction of each program at which their traces part.
PASS = ("ld [20]\njeq #0, lo, no\nlo: ld [16]\njeq #3, ok, no\nok: ret #0x7fff0000\nno: ret #0x50001\n",
        "ld [16]\njeq #3, ok, no\nok: ret #0x7fff0000\nno: ret #0x50001\n")
SWAPPED = ("ld [0]\njeq #3, y, n\ny: ret #0x7fff0000\nn: ret #0\n", "ld [0]\njeq #3, n, y\ny: ret #0x7fff0000\nn: ret #0\n")


@pytest.mark.parametrize("pair, parting", [(PASS, [0, 0]), (CHAIN, [1, 1]), (SWAPPED, [1, 1])])
def test_all_reports_agree_on_where_the_traces_part(tmp_path, asm, pair, parting):
    """`parting` has one instruction of each program: the one at which its trace parts from the other trace."""
    files = [asm(text, name) for text, name in zip(pair, ("a.asm", "b.asm"))]
    data, _, _ = page_of(tmp_path, *files, "--sarif", tmp_path / "report.sarif", status=1)
    shown = [data["inputs"][0][side]["runs"] for side in ("before", "after")]
    assert [runs[0] for runs in shown] == [0, 0] and all(at < runs[1] for at, runs in zip(data["inputs"][0]["parting"], shown))
    assert data["inputs"][0]["parting"] == parting  # in the first run, the number of a step is its instruction
    result, = [one for one in json.loads((tmp_path / "report.sarif").read_text())["runs"][0]["results"] if one["ruleId"] == "decision"]
    lines = [result[name][0]["physicalLocation"]["region"]["startLine"] for name in ("relatedLocations", "locations")]
    assert lines == [at + 1 for at in parting]
    out = run("check", *files, "--trace").out
    rows = [line.split(" | ") for line in out.splitlines() if " | " in line]
    assert [int(pc) for side in (0, 1) for row in rows for pc in re.findall(r"> +(\d+): A=", row[side])] == parting, out


def test_the_page_lists_warnings_with_their_places_and_notes(tmp_path):
    pair = OCI / "docker-default.json", OCI / "podman-default.json"
    for command in ("diff", "check"):
        _, reader, text = page_of(tmp_path, *pair, command=command, status=1)
        document, done = report(command, *pair)
        section = html.unescape(re.search(r'<section id="notes">.*?</section>', text, re.S).group(0))
        assert len(document["not_compared"]) > 40
        for part in document["not_compared"]:
            assert "<code>%s:%d (%s" % (part["file"], part["line"], part["path"]) in section
        assert ": <a href=\"#notes\">%d parts</a>" % len(document["not_compared"]) in text
        # The section has everything that standard error has.
        for line in done.err.splitlines():
            shown = line.removeprefix("secequiv: ").removeprefix("warning: ")
            assert shown.split(", which were not compared")[0] in section, line
        for part in ("no architecture has a system call 'syscall'", "skipped setns at line 704"):
            assert part in section
        folded = section[section.index("<details open><summary>"):]
        assert "skipped setns" in folded and "no architecture has" not in folded


def test_edges_covered_by_the_prover_are_marked_covered(tmp_path, asm, getpid):
    """The page marks such edges as covered even if another edge is undecided."""
    data, _, _ = page_of(tmp_path, getpid, getpid, "--max-inputs", "0", status=0)
    marks = [insn[5] for insn in data["sides"][1]["insns"]]
    assert set("".join(marks)) <= set("+-") and any(text.startswith("the prover's: ") for text in data["texts"])
    # The solver cannot decide within a second whether the products ever differ.
    text = "ld [0]\njeq #39, y, n\ny: ret #0\nn: " + HARD_BEFORE.strip() + "\nst M[3]\n" + HARD_AFTER.strip() + "\nldx M[3]\njeq x, same, odd\nodd: ret #1\nsame: ret #2\n"
    data, _, _ = page_of(tmp_path, *[asm(text, name) for name in ("a.asm", "b.asm")], "--max-inputs", "0", "--engine", "z3", "--timeout", "1", status=3)
    marks = [insn[5] for insn in data["sides"][1]["insns"]]
    assert "!" in marks[-2] + marks[-3] and marks[-1] == "+" and "!" not in "".join(marks[:-3]), marks


def test_fuzz_writes_a_page_with_a_policy_from_standard_input(tmp_path, getpid):
    policy = (POLICIES / "seed" / "ten-syscalls.json").read_bytes()
    done = run("fuzz", getpid, getpid, "--policy", "-", "--trials", "100", "--html", tmp_path / "page.html", stdin=policy)
    assert done.status == 0 and done.err == "" and (tmp_path / "page.html").stat().st_size > 10000, done


def test_a_rejected_program_has_a_page(tmp_path, asm):
    bad, good = asm("ld [0]\nmod #3\nret a"), asm("ret #0")
    data, reader, text = page_of(tmp_path, bad, good, status=4)
    assert ">rejected<" in text and data["inputs"] == []
    assert "ModK" in data["sides"][0]["refusal"] and ("header", {"class": "other"}) in reader.tags


def test_names_are_never_markup(tmp_path, asm):
    name = "<img src=x onerror=alert(1)>\"'&amp;@@DATA@@<script>.asm"
    evil = asm("ld [0]\njeq #39, a, b\na: ret #0x7fff0000\nb: ret #0".replace("a,", "y,").replace("a:", "y:"), name)
    data, reader, text = page_of(tmp_path, evil, asm("ret #0", "<b>.asm"), status=1)
    assert {tag for tag, _ in reader.tags} <= {"html", "head", "meta", "title", "style", "body", "a", "header", "h1", "span", "p", "nav",
                                               "main", "section", "h2", "div", "pre", "noscript", "label", "input", "table", "thead", "tr",
                                               "th", "td", "tbody", "select", "option", "button", "footer", "script", "b", "small", "dl", "dt", "dd", "ul", "li", "code",
                                               "details", "summary", "wbr"}
    assert sum(tag == "script" for tag, _ in reader.tags) == 2 and "img" not in dict(reader.tags)
    assert data["sides"][0]["name"].endswith(name)


def test_a_command_cannot_end_the_script(tmp_path, getpid):
    command = "cat '%s' # </script><img src=x>" % getpid
    data, reader, _ = page_of(tmp_path, getpid, "--after-cmd", command, status=0)
    assert "</script>" in data["sides"][1]["name"] and "img" not in dict(reader.tags)


def test_policies_too_long_for_the_kernel_show_their_difference(tmp_path):
    _, reader, text = page_of(tmp_path, *DOCKER[:2], status=1)
    assert [row["Effect"] for row in reader.tables["difference-rows"]] == ["closed"]
    assert '<div id="direction">only stricter: socket' in text and "<title>only stricter: " in text


def test_the_page_of_a_difference_names_the_rules_and_shows_no_instructions(tmp_path):
    data, reader, text = page_of(tmp_path, *DOCKER[:2], command="diff", status=1)
    rows = reader.tables["difference-rows"]
    assert [row["Effect"] for row in rows] == ["closed"] and "only stricter: socket" in text
    assert all(row["Before"].startswith("ALLOW") and len(row["Before"]) > len("ALLOW") for row in rows)
    assert [side["insns"] for side in data["sides"]] == [[], []] and "ld [4]" not in text
    both = [run("diff", *DOCKER[:2], *more).out for more in ([], ["--html", tmp_path / "p.html"])]
    assert both[0] == both[1]


def cards(page):
    return re.findall(r'<span class="card (\w+)(?: none)?">(at least )?<b>(\w+)</b> (calls?) \1', page)


def test_newly_allowed_calls_come_first_and_in_red(tmp_path, asm):
    text = "ld [4]\njeq #0xc000003e, native, other\nother: ret #0\nnative: ld [0]\njeq #39, first, next\nfirst: ret #%s\nnext: jeq #319, second, rest\nsecond: ret #%s\nrest: ret #0x%s"
    pair = asm(text % ("0x7fff0000", "0", "50001"), "a.asm"), asm(text % ("0", "0x7fff0000", "50002"), "b.asm")
    _, reader, page = page_of(tmp_path, *pair, status=1)
    assert [row["class"] for row in reader.tables["difference-rows"]] == ["opened", "closed", "changed"]
    assert reader.tables["difference-rows"][0]["System call"] == "memfd_create x86_64"
    assert ("header", {"class": "opened"}) in reader.tags and '<div id="direction">LOOSER: memfd_create' in page
    assert "<title>LOOSER: %s → %s</title>" % pair in page
    assert re.search(r"other data of the same action: every system call on x32; \d+ calls on x86_64; numbers without a name", page)
    document, _ = report("check", *pair)
    changed = str(len({call["name"] for call in document["direction"]["changed"]["calls"]}))
    assert cards(page) == [("opened", "", "1", "call"), ("closed", "", "1", "call"), ("changed", "", changed, "calls")]
    assert '<b>%s</b> calls changed <small>and numbers without a name</small>' % changed in page
    assert page.count("<code>%s</code>" % pair[0]) == 1  # the header names both sides


def test_each_call_has_a_row_with_its_rules_and_their_lines(tmp_path):
    """Calls that differ under the same condition have separate rows, too, because each has its own line in the profile."""
    pair = OCI / "docker-default.json", OCI / "podman-default.json"
    _, reader, text = page_of(tmp_path, *pair, command="diff", status=1)
    rows = {(row["Effect"], row["System call"].split()[0]): row for row in reader.tables["difference-rows"]}
    assert len(rows) == len(reader.tables["difference-rows"])
    lines = pair[1].read_text().splitlines()
    for call in ("fsopen", "mount", "pivot_root", "sigaction"):
        row = rows["opened", call]
        line = int(re.search(r"podman-default\.json:(\d+) ", row["After"]).group(1))
        assert lines[line - 1].strip().strip(",") == '"%s"' % call
        assert row["Before"] == "ERRNO(1 EPERM)%s:2 (defaultAction)" % pair[0].name and row["For which inputs"].startswith("whatever the arguments")
    # If the mouse points at the name, the page shows the whole path.
    assert '<small title="%s">%s:2 (defaultAction)</small>' % (pair[0], pair[0].name) in text
    # The cards count the same calls as the direction, which can be more or fewer than the rows.
    document, _ = report("diff", *pair)
    counts = [len({call["name"] for part in parts for call in document["direction"][part]["calls"]})
              for parts in (("allowed", "looser"), ("stricter",), ("changed",))]
    assert [(effect, count) for effect, _, count, _ in cards(text)] == list(zip(("opened", "closed", "changed"), map(str, counts)))
    assert counts[2] > sum(row["Effect"] == "changed" for row in rows.values())  # one row stands for many
    _, _, less = page_of(tmp_path, *pair, "--max-regions", "2", command="diff", status=1)
    assert "; ERRNO(1 EPERM) to ALLOW: the page shows 1 of " in less and cards(less) == cards(text)


def test_a_rule_that_decides_only_some_inputs_is_marked_as_an_example(tmp_path):
    pair = OCI / "docker-default.json", OCI / "podman-default.json"
    _, reader, _ = page_of(tmp_path, *pair, command="diff", status=1)
    rows = {(row["System call"].split()[0], row["After"]) for row in reader.tables["difference-rows"] if row["Effect"] == "opened"}
    lines = dict(rows)
    assert lines["mount"].startswith("ALLOW" + pair[1].name) and "ALLOWfor example %s:" % pair[1].name in lines["socket"]
    out = run("diff", *pair, "--rules").out
    assert "  after:  for example %s:" % pair[1] in out and "  before: %s:2 (defaultAction)\n" % pair[0] in out


def test_the_heading_is_red_only_if_a_call_became_more_permissive(tmp_path, asm):
    text = "ld [0]\njeq #39, y, n\ny: ret #%s\nn: ret #0x%s"
    allowed, denied, other = [asm(text % (action, "50001"), "%s.asm" % name) for name, action in (("allow", "0x7fff0000"), ("deny", "0"), ("errno", "0x50002"))]
    errno = asm(text % ("0x50003", "50001"))
    for pair, status, tone in (((denied, allowed), 1, "opened"), ((allowed, denied), 1, "closed"), ((other, errno), 1, "changed"), ((denied, denied), 0, "good")):
        _, reader, _ = page_of(tmp_path, *pair, status=status)
        assert ("header", {"class": tone}) in reader.tags


def test_the_page_shows_its_provenance(tmp_path, getpid, getpid_enoent):
    _, _, text = page_of(tmp_path, getpid, getpid_enoent, status=1)
    assert hashlib.sha256(getpid.read_bytes()).hexdigest() in text
    assert "check %s %s --html" % (getpid, getpid_enoent) in text
    assert re.search(r"<dt>Version</dt><dd>%s</dd>" % re.escape(run("--version").out.split()[1]), text)
    date = datetime.strptime(re.search(r"<dt>Date</dt><dd>(.*?) UTC</dd>", text).group(1), "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc)
    assert abs(datetime.now(timezone.utc) - date) < timedelta(minutes=5)


def test_an_input_that_can_be_read_only_once_has_no_hash_of_its_file(tmp_path, getpid, getpid_enoent):
    read, write = os.pipe()
    os.write(write, getpid.read_bytes())
    os.close(write)
    pipe = "/dev/fd/%d" % read
    done = run("check", pipe, getpid_enoent, "--html", tmp_path / "page.html", pass_fds=(read,))
    os.close(read)
    text = (tmp_path / "page.html").read_text()
    assert done.status == 1 and "SHA-256 of %s" % pipe not in text and hashlib.sha256(b"").hexdigest() not in text
    assert text.count("<dt>SHA-256 of the ") == 2 and "<dt>SHA-256 of %s</dt>" % getpid_enoent in text


def test_the_page_shows_the_options_of_the_run(tmp_path, getpid, getpid_enoent):
    def options(text):
        return [re.search("<dt>%s</dt><dd>(.*?)</dd>" % name, text).group(1).split(", ") for name in ("Options given", "Options at their defaults")]
    html = "--html %s" % (tmp_path / "page.html")
    _, _, text = page_of(tmp_path, getpid, getpid_enoent, "--timeout", "7", "--any-length", status=1)
    given, default = options(text)
    assert sorted(given) == sorted(["--timeout 7", "--any-length", html])
    assert {"--same raw", "--arch x86_64", "--engine dd"} <= set(default) and "--timeout 60" not in default
    _, _, text = page_of(tmp_path, getpid, getpid_enoent, "--assume", "nr == read", "--same", "behaviour", command="diff", status=1)
    given, default = options(text)
    assert sorted(given) == sorted(["--assume 'nr == read'", "--same behaviour", html]) and "--timeout 60" in default, given


def test_a_call_that_is_no_longer_cached_is_never_green(tmp_path, asm):
    # The kernel cannot cache a call for which the filter tests the instruction pointer.
    before = asm("ld [4]\njeq #0xc000003e, n, k\nn: ld [0]\njeq #39, y, k\ny: ret #0x7fff0000\nk: ret #0", "a.asm")
    after = asm("ld [8]\nld [4]\njeq #0xc000003e, n, k\nn: ld [0]\njeq #39, y, k\ny: ld [8]\njeq #0, z, z\nz: ret #0x7fff0000\nk: ret #0", "b.asm")
    _, reader, page = page_of(tmp_path, before, after, "--allow-cache-loss", status=0)
    row = next(row for row in reader.tables["cost-rows"] if row["System call"] == "getpid")
    assert "cached" in row["Before"] and row["Change"].startswith("no longer cached: 0 to ")
    shown = re.search(r"<tr><td[^>]*>getpid</td>.*</tr>", page).group(0)
    assert 'class="num more">no longer cached' in shown and '<span class="bar more">' in shown and "less" not in shown
    # A ratio that is shown as 1.00 is marked neither better nor worse.
    assert not re.search(r'class="[^"]*(more|less)[^"]*">1\.00', page)


def test_traces_contain_both_registers(tmp_path, asm):
    text = "ld [16]\ntax\nld [20]\nadd x\njeq #7, y, n\ny: ret #0x7fff0000\nn: ret #%d"
    pair = asm(text % 1), asm(text % 2)
    data, _, _ = page_of(tmp_path, *pair, status=1)
    full, _ = report("check", *pair)
    for shown in data["inputs"]:
        for side, path in zip(("before", "after"), pair):
            words = dict(shown["words"])
            args = [int(words.get("args[0]." + half, "0"), 16) for half in ("lo", "hi")]
            assert steps(shown[side])[2:4] == [(2, args[0], args[0]), (3, args[1], args[0])]
    assert any(int(dict(shown["words"]).get("args[0].lo", "0"), 16) for shown in data["inputs"])
    assert steps(data["inputs"][0]["before"]) == [(s["pc"], s["a"], s["x"]) for s in full["traces"]["before"]["steps"]]


def test_only_fuzzing_of_a_pair_writes_a_page(tmp_path, getpid, getpid_enoent):
    _, reader, _ = page_of(tmp_path, getpid, getpid_enoent, "--trials", "100", command="fuzz", status=1)
    assert reader.tables["difference-rows"]
    done = run("fuzz", "--optimizer", "cat", "--html", tmp_path / "p.html")
    assert done.status == 2 and "--html" in done.err and "pair" in done.err
    assert run("check", getpid, getpid, "--html", "-").status == 2
