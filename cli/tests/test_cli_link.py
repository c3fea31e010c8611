"""Tests --link: what the link contains, and where it appears."""

import base64
import json
import os
import re
import threading

import pytest
from cli_tool import POLICIES, read_raw, run

BASE = "http://127.0.0.1/"
LINK = "http://127.0.0.1/#before=t.cmV0ICMweDdmZmYwMDAwCg&after=t.cmV0ICMweDUwMDAxCg"


@pytest.fixture
def pair(asm):
    return asm("ret #0x7fff0000\n", "before.asm"), asm("ret #0x50001\n", "after.asm")


def side(link, name):
    """Returns the kind (t: text, r: raw program) and the bytes of a side."""
    kind, digits = re.search(r"[#&]%s=(.)\.([\w-]*)" % name, link).groups()
    return kind, base64.urlsafe_b64decode(digits + "=" * (-len(digits) % 4))


@pytest.mark.parametrize("command", ["prove", "check", "diff"])
def test_a_link_is_the_last_line_and_in_the_page(pair, tmp_path, command):
    page = tmp_path / "page.html"
    html = [] if command == "prove" else ["--html", page]
    done = run(command, "--link", BASE, *pair, *html)
    assert done.status == 1 and done.out.endswith("\nlink: %s\n" % LINK), done
    if html:
        assert '<dt>Link</dt><dd><a href="%s">' % LINK.replace("&", "&amp;") in page.read_text()
        run(command, *pair, *html)
        assert "<dt>Link</dt>" not in page.read_text()
    done = run(command, "--link", BASE, "--json", *pair)
    assert done.status == 2 and "--link: a JSON report has no place for the link" in done.err, done


@pytest.mark.parametrize("command", ["check", "diff"])
def test_with_json_the_link_is_only_in_the_page(pair, tmp_path, command):
    page = tmp_path / "page.html"
    done = run(command, "--link", BASE, "--json", "--html", page, *pair)
    assert done.status == 1 and "verdict" in json.loads(done.out) and '<a href="%s">' % LINK.replace("&", "&amp;") in page.read_text()


def test_a_link_has_the_options_that_decide_the_answer(pair):
    for command, *options in (("prove", "--refines"), ("diff", "--same", "behaviour"), ("check", "--arch", "i386"), ("diff", "--assume", "nr == 1 && arg0 < 3")):
        done = run(command, "--link", BASE, *options, *pair)
        assert done.out.rstrip("\n").endswith({"--refines": "&refines=true", "--same": "&same=behaviour", "--arch": "&arch=i386",
                                               "--assume": "&assume=nr%20%3D%3D%201%20%26%26%20arg0%20%3C%203"}[options[0]]), done


def test_quiet_prints_no_link_after_a_pass(pair):
    for command in ("prove", "check", "diff"):
        done = run(command, "--quiet", "--link", BASE, pair[0], pair[0])
        assert (done.status, done.out) == (0, ""), done


@pytest.mark.parametrize("base", ["javascript:alert(1)", "page.html", "http://x/ y", "http://x/\ny", "http://x/\x1b[0m", "ftp://x/"])
def test_a_bad_address_is_an_error(pair, base):
    done = run("prove", "--link", base, *pair)
    assert (done.status, done.out) == (2, "") and "--link: expected the address of the page, such as " in done.err, done


def test_an_address_copied_from_the_page_loses_its_state(pair):
    done = run("prove", "--link", LINK + "&tab=diff", *pair)
    assert done.out.endswith("\nlink: %s\n" % LINK), done


def test_an_address_cannot_leave_its_attribute(pair, tmp_path):
    page = tmp_path / "page.html"
    run("diff", "--link", "http://x/\"><script>", "--html", page, *pair)
    assert 'href="http://x/&quot;&gt;&lt;script&gt;#before=' in page.read_text()


@pytest.mark.parametrize("command", ["prove", "diff"])
def test_a_stack_has_no_link(pair, command):
    done = run(command, "--link", BASE, "%s,%s" % pair, pair[0])
    assert (done.status, done.out) == (2, "") and "--link: expected two filters, found a stack" in done.err


def test_a_link_has_the_text_of_a_file_and_the_program_of_a_pipe(asm, tmp_path):
    """A pipe can be read only once, so the link holds its program."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=("ret #0x7fff0000\n",))
    writer.start()
    done = run("prove", "--link", "http://127.0.0.1/", fifo, asm("ret #0x50001\n"))
    writer.join()
    assert done.status == 1 and done.out.endswith("link: http://127.0.0.1/#before=r.BgAAAAAA_38&after=t.cmV0ICMweDUwMDAxCg\n"), done


def test_a_link_has_the_program_if_its_text_alone_means_another(tmp_path, asm):
    """The page has no options for capabilities or for the values of names."""
    docker = POLICIES / "oci" / "docker-default.json"
    compiled = tmp_path / "docker.bpf"
    assert run("optimize", docker, "--cap", "CAP_SYS_ADMIN", "--passes", "none", "--to", "raw", "-o", compiled).status == 0
    plain = run("prove", "--link", BASE, docker, docker).out
    assert side(plain, "before") == ("t", docker.read_bytes())
    kind, program = side(run("prove", "--link", BASE, "--cap", "CAP_SYS_ADMIN", docker, docker).out, "before")
    assert kind == "r" and read_raw(program) == read_raw(compiled.read_bytes())
    named = asm("ret #$VALUE\n", "named.asm")
    for value in (0, 1, 0x50002):
        done = run("prove", "--link", BASE, "--set", "VALUE=%d" % value, named, named)
        assert side(done.out, "before") == ("r", bytes.fromhex("06000000") + value.to_bytes(4, "little"))
    done = run("prove", "--link", BASE, named, named)
    assert (done.status, done.out) == (2, "") and "named.asm has names without a value, which the page cannot read; set them with --set" in done.err


def test_the_link_of_a_policy_and_its_optimized_form(tmp_path):
    policy = POLICIES / "seed" / "ten-syscalls.json"
    done = run("check", "--link", BASE, policy)
    assert done.status == 0 and side(done.out, "before") == ("t", policy.read_bytes())
    optimized = tmp_path / "optimized.bpf"
    assert run("optimize", policy, "--to", "raw", "-o", optimized).status == 0
    assert side(done.out, "after") == ("r", optimized.read_bytes())
