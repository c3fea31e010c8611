"""Tests the page in a browser: its answers are those of the command line, and the state is in the address. Needs the page that scripts/play builds."""
# Annex: wasm

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cli/tests"))
sys.path.insert(0, str(ROOT / "scripts"))
from browser_tool import chromium, wait_until  # noqa: E402
from wheels.compare import pairs  # noqa: E402

PAGE = Path(os.environ.get("SECEQUIV_PLAY") or ROOT / "build/play/index.html")
COMMAND = Path(os.environ.get("SECEQUIV_BIN") or ROOT / "build/release/bin") / "secequiv"
ALLOW = "ld [0]\njne #39, deny\nret #0x7fff0000\ndeny: ret #0x50001\n"
KILL = ALLOW.replace("0x7fff0000", "0")


@pytest.fixture(scope="module")
def browser():
    if not PAGE.exists():
        pytest.skip("no page (scripts/play --build-only)")
    with chromium() as driver:
        yield driver


@pytest.fixture
def page(browser):
    """Opens the page as a file; at the end, its console must be empty."""
    def opened(fragment="", base=PAGE.resolve().as_uri()):
        browser.get("about:blank")
        browser.get(base + fragment)
        return browser
    yield opened
    assert browser.get_log("browser") == []


def fill(browser, before, after=""):
    """Enters filters, waits for the answer, and returns the verdict."""
    browser.execute_script("""delete document.body.dataset.answered;
        for (const [id, text] of [['before', arguments[0]], ['after', arguments[1]]]) document.getElementById(id).value = text;
        document.getElementById('before').dispatchEvent(new Event('input'));""", before, after)
    return settled(browser)


def settled(browser):
    wait_until(browser, "return document.body.dataset.answered && document.getElementById('cancel').hidden")
    return browser.find_element("id", "verdict").text


def tab(browser, name):
    browser.execute_script("delete document.body.dataset.answered; document.getElementById('tab-' + arguments[0]).click()", name)
    settled(browser)
    return browser.find_element("id", "text").text


def hexadecimal(path):
    return path.read_bytes().hex()


def bytes_of(text):
    return bytes.fromhex(text) if re.fullmatch(r"[0-9a-f\s]+", text) else text.encode()


def command(tmp_path, *texts):
    files = []
    for i, text in enumerate(texts):
        files.append(tmp_path / ("%d.txt" % i))
        files[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    done = subprocess.run([str(COMMAND), "prove", "--json", *map(str, files)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def test_the_verdict_witness_and_traces_of_a_pair(page, tmp_path):
    browser = page()
    assert fill(browser, ALLOW, KILL) == "different"
    text = browser.find_element("id", "text").text
    assert "witness: nr=39" in text and "where the traces part" in text
    assert json.loads(browser.execute_script("return document.body.dataset.json"))["witness"] == command(tmp_path, ALLOW, KILL)["witness"]
    assert fill(browser, ALLOW, ALLOW) == "equivalent"
    assert fill(browser, ALLOW, "ret #") == "error"
    assert fill(browser, ALLOW, "ld [0]\n") == "rejected"


def test_every_tab_answers(page):
    browser = page()
    fill(browser, ALLOW, KILL)
    assert "KILL_THREAD" in tab(browser, "diff")
    assert "getpid" in tab(browser, "actions")
    assert "jeq" in tab(browser, "dis")
    assert "instructions" in tab(browser, "optimize")
    assert "no policy can express" in tab(browser, "lift")
    assert "instructions" in tab(browser, "cost")
    tab(browser, "report")
    assert browser.find_element("id", "report").is_displayed()
    browser.switch_to.frame("report")
    wait_until(browser, "return document.querySelectorAll('#step-sides .parts').length === 2")
    browser.switch_to.default_content()


def test_each_example_has_the_verdict_of_the_command(page, tmp_path):
    browser = page()
    examples = json.loads(browser.execute_script("return document.getElementById('examples').textContent"))
    assert len(examples) > 40 and len({(example["before"], example["after"]) for example in examples}) == len(examples)
    count = 0
    for i, example in enumerate(examples):
        browser.execute_script("""delete document.body.dataset.answered; const list = document.getElementById('example');
            list.value = arguments[0]; list.dispatchEvent(new Event('change'));""", str(i))
        verdict = settled(browser)
        if example["after"] == "":
            assert verdict in ("One filter", "rejected", "error"), example["title"]
            continue
        count += 1
        sides = [bytes_of(example[side]) for side in ("before", "after")]
        assert verdict == command(tmp_path, *sides)["verdict"], example["title"]
    assert count >= 8 and sum(example["title"].startswith("Is my pass right?") for example in examples) >= 1


def test_the_address_is_the_whole_state(page):
    browser = page()
    fill(browser, ALLOW, KILL)
    tab(browser, "diff")
    browser.execute_script("const same = document.getElementById('same'); same.value = 'behaviour'; delete document.body.dataset.answered; same.dispatchEvent(new Event('input'))")
    settled(browser)
    wait_until(browser, "return location.hash.includes('same=behaviour') && location.hash.includes('tab=diff')")
    fragment = browser.execute_script("return location.hash")
    browser = page(fragment)
    settled(browser)
    assert [browser.execute_script("return document.getElementById(arguments[0]).value", name) for name in ("before", "after", "same")] == [ALLOW, KILL, "behaviour"]
    assert browser.find_element("css selector", "[aria-selected=true]").text == "Differences"
    browser = page("#before=z.%%%")
    wait_until(browser, "return document.getElementById('verdict').textContent === 'error'")


def test_the_command_line_prints_links_to_the_page(page, tmp_path):
    before = tmp_path / "before.asm"
    before.write_text(ALLOW)
    after = ROOT / "corpus/programs/libseccomp/allow306.tree.bpf"
    done = subprocess.run([str(COMMAND), "prove", "--link", PAGE.resolve().as_uri(), "--assume", "nr in {read, getpid}", str(before), str(after)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    (link,) = [line[6:] for line in done.stdout.splitlines() if line.startswith("link: ")]
    browser = page("", link)
    assert settled(browser) in done.stdout
    assert browser.execute_script("return [document.getElementById('before').value, document.getElementById('after').value.replace(/\\s/g, ''), document.getElementById('assume').value]") == [
        ALLOW, hexadecimal(after), "nr in {read, getpid}"]


ASKED = [[], ["--refines"], ["--same", "behaviour"], ["--same", "effect"], ["--assume", "arch == x86_64 && nr >= 40"], ["--arch", "aarch64"]]


def test_the_link_of_each_pair_gives_the_answer_of_the_command(page):
    verdicts = set()
    # A third of the pairs take seconds; with SECEQUIV_LONG, all.
    for i, pair in enumerate(pairs()[::1 if os.environ.get("SECEQUIV_LONG") else 3]):
        words = [str(COMMAND), "prove", *ASKED[i % len(ASKED)], *map(str, pair)]
        done = [subprocess.run([*words, *more], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
                for more in (["--json"], ["--link", PAGE.resolve().as_uri()])]
        expected = json.loads(done[0])
        (link,) = re.findall("^link: (.*)$", done[1], re.MULTILINE)
        browser = page("", link)
        assert settled(browser) == expected["verdict"], words
        found = json.loads(browser.execute_script("return document.body.dataset.json"))
        assert all(found.get(key) == expected.get(key) for key in ("relation", "question", "witness", "direction")), words
        verdicts.add(expected["verdict"])
    assert verdicts == {"equivalent", "different", "pass"}


def test_work_can_be_cancelled(page):
    browser = page()
    fill(browser, ALLOW, ALLOW)
    tree, linear = (ROOT / "corpus/programs/gvisor" / ("kvm-everything.%s.bpf" % side) for side in ("before", "after"))
    browser.execute_script("""document.getElementById('before').value = arguments[0]; document.getElementById('after').value = arguments[1];
        document.getElementById('tab-cost').click();""", hexadecimal(tree), hexadecimal(linear))
    wait_until(browser, "if (!document.getElementById('cancel').hidden) { document.getElementById('cancel').click(); return true; }")
    wait_until(browser, "return document.getElementById('text').textContent === 'Cancelled.\\n'")
    assert fill(browser, ALLOW, KILL) == "different"


def test_a_phone_shows_the_panes_below_each_other(page):
    browser = page()
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    try:
        fill(browser, ALLOW, KILL)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        assert browser.execute_script("const [a, b] = document.querySelectorAll('textarea'); return a.getBoundingClientRect().bottom < b.getBoundingClientRect().top")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_tabs_work_with_the_keyboard(page):
    from selenium.webdriver.common.keys import Keys
    browser = page()
    fill(browser, ALLOW, KILL)
    browser.execute_script("delete document.body.dataset.answered")
    browser.find_element("id", "tab-prove").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    settled(browser)
    assert browser.find_element("css selector", "[aria-selected=true]").text == "Differences"


def test_a_server_serves_the_same_page(page):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(PAGE.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = page("", "http://127.0.0.1:%d/" % server.server_address[1])
        assert fill(browser, ALLOW, KILL) == "different"
        server.shutdown()
