"""--html: what the page says is what the other reports say, and a browser shows it."""

import json
import os
import re
from html.parser import HTMLParser

import pytest
from cli_tool import FULL, HARD_AFTER, HARD_BEFORE, POLICIES, PROGRAMS, report, run

EVERYTHING = [PROGRAMS / "gvisor" / ("systrap-everything.%s.bpf" % side) for side in ("before", "after")]
OCI = POLICIES / "oci"
LIMIT_BYTES = 3_000_000


class Reader(HTMLParser):
    """Tags with their attributes, and the text of each script."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.scripts = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += text


DOCKER = (OCI / "docker-default-0.1.0.json", OCI / "docker-default.json", "--any-length")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """The page of the largest pair, and the listing written with it."""
    folder = tmp_path_factory.mktemp("everything")
    return page_of(folder, *EVERYTHING, "--listing", folder / "listing", status=0), folder


@pytest.fixture(scope="module")
def docker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docker")
    return page_of(folder, *DOCKER, status=1), folder


def page_of(tmp_path, *args, status, command="check"):
    path = tmp_path / "page.html"
    done = run(command, *args, "--html", path)
    assert done.status == status, done
    text = path.read_text()
    reader = Reader(text)
    assert not re.search(r"@@(TITLE|STYLE|SCRIPT|VERDICT|STATE|REASON|TEXT|VERSION|COMMAND)@@", text)
    for _, attrs in reader.tags:  # nothing is loaded from anywhere
        assert not {"src", "srcset", "action", "data"} & set(attrs), attrs
        assert not attrs.get("href", "#").startswith(("http", "/")), attrs
    assert re.findall(r"https?://[^\"'\s]*", text.replace("http://www.w3.org/2000/svg", "")) == []
    return json.loads(reader.scripts[0]), reader, text


def steps(trace):
    """[(pc, A, X)] of a stored trace, read a second time."""
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


def marks_of_listing(text):
    return [line[:3].strip() for line in text.splitlines() if not line.startswith(";")]


def test_a_page_agrees_with_the_other_reports(everything):
    (data, _, text), folder = everything
    before, after = EVERYTHING
    assert len(text) < LIMIT_BYTES
    assert [insn[5] for insn in data["sides"][1]["insns"]] == marks_of_listing((folder / "listing").read_text())
    # Each infeasible edge has its reason, as a condition that all inputs that come there meet.
    odd = [insn for side in data["sides"] for insn in side["insns"] if "-" in insn[5]]
    assert odd
    for insn in odd:
        for mark, reason in zip(insn[5], insn[6]):
            assert data["texts"][reason].startswith("proven: ") == (mark == "-")
    for side in data["sides"]:
        assert "!" not in "".join(insn[5] for insn in side["insns"])
    cost, _ = report("cost", before, after)
    for side, wanted in zip(data["cost"]["sides"], cost["sides"]):
        assert side["mean"] == pytest.approx(wanted["mean"]) and side["exact"] == wanted["exact"]
        assert side["worst"] == wanted["worst"]["instructions"]
    assert [row[0] for row in data["cost"]["rows"]] == [call["name"] for call in cost["sides"][0]["calls"]]
    assert data["difference"] == "no input differs" and data["regions"] == []


def test_the_cache_is_that_of_the_report(tmp_path):
    pair = [PROGRAMS / "gvisor" / ("systrap.%s.bpf" % side) for side in ("before", "after")]
    data, _, _ = page_of(tmp_path, *pair, "--max-inputs", "1000", status=0)
    check, _ = report("check", *pair, "--max-inputs", "1000")
    rows = [[(c["arch"], c["before"], c["after"], c["lost"], c["gained"]) for c in changes]
            for changes in (data["cache"], check["cache"]["arches"])]
    assert rows[0] == rows[1] and rows[0][0][1] > 40


def test_a_difference_and_its_traces(docker):
    (data, reader, text), _ = docker
    diff, _ = report("diff", *DOCKER[:2])
    rows = [(change, region) for change in diff["changes"] for region in change["regions"]]
    assert len(rows) == len(data["regions"]) == 3
    for (_, region), shown in zip(rows, data["regions"]):
        assert shown["condition"] == region["condition"]
        assert any("socket" in call for call in shown["calls"])
        assert shown["before"] == "ALLOW" and shown["after"] == "ERRNO(1 EPERM)"
    assert data["inputs"][0]["label"] == "the witness"
    full, _ = report("check", *DOCKER)
    for side in ("before", "after"):
        wanted = [(step["pc"], step["a"], step["x"]) for step in full["traces"][side]["steps"]]
        assert steps(data["inputs"][0][side]) == wanted
        assert data["inputs"][0][side]["result"].startswith(full["traces"][side]["result"]["value"])
    assert ("header", {"class": "bad"}) in reader.tags and "witness   ALLOW became ERRNO(1 EPERM) for nr=41 (socket)" in text


def test_what_only_the_prover_met_is_met(tmp_path, asm, getpid):
    """Also where another edge is open."""
    data, _, _ = page_of(tmp_path, getpid, getpid, "--max-inputs", "0", status=0)
    marks = [insn[5] for insn in data["sides"][1]["insns"]]
    assert set("".join(marks)) <= set("+-") and any(text.startswith("the prover's: ") for text in data["texts"])
    # Whether both products are ever different is more than a second's work.
    text = "ld [0]\njeq #39, y, n\ny: ret #0\nn: " + HARD_BEFORE.strip() + "\nst M[3]\n" + HARD_AFTER.strip() + "\nldx M[3]\njeq x, same, odd\nodd: ret #1\nsame: ret #2\n"
    data, _, _ = page_of(tmp_path, *[asm(text, name) for name in ("a.asm", "b.asm")], "--max-inputs", "0", "--engine", "z3", "--timeout", "1", status=3)
    marks = [insn[5] for insn in data["sides"][1]["insns"]]
    assert "!" in marks[-2] + marks[-3] and marks[-1] == "+" and "!" not in "".join(marks[:-3]), marks


def test_the_page_of_fuzzing_with_a_policy_from_standard_input(tmp_path, getpid):
    policy = (POLICIES / "seed" / "ten-syscalls.json").read_bytes()
    done = run("fuzz", getpid, getpid, "--policy", "-", "--trials", "100", "--html", tmp_path / "page.html", stdin=policy)
    assert done.status == 0 and done.err == "" and (tmp_path / "page.html").stat().st_size > 10000, done


def test_what_the_kernel_refuses_has_a_page_too(tmp_path, asm):
    bad, good = asm("ld [0]\nmod #3\nret a"), asm("ret #0")
    data, reader, _ = page_of(tmp_path, bad, good, status=4)
    assert data["verdict"] == "rejected" and data["inputs"] == []
    assert "ModK" in data["sides"][0]["refusal"] and ("header", {"class": "bad"}) in reader.tags


def test_names_are_text_and_never_markup(tmp_path, asm):
    name = "<img src=x onerror=alert(1)>\"'&amp;@@DATA@@<script>.asm"
    evil = asm("ld [0]\njeq #39, a, b\na: ret #0x7fff0000\nb: ret #0".replace("a,", "y,").replace("a:", "y:"), name)
    data, reader, text = page_of(tmp_path, evil, asm("ret #0", "<b>.asm"), status=1)
    assert {tag for tag, _ in reader.tags} <= {"html", "head", "meta", "title", "style", "body", "a", "header", "h1", "span", "p", "nav",
                                               "main", "section", "h2", "div", "pre", "noscript", "label", "input", "table", "thead", "tr",
                                               "th", "tbody", "select", "option", "button", "footer", "script", "b"}
    assert sum(tag == "script" for tag, _ in reader.tags) == 2 and "img" not in dict(reader.tags)
    assert data["sides"][0]["name"].endswith(name)


def test_no_command_ends_the_script(tmp_path, getpid):
    command = "cat '%s' # </script><img src=x>" % getpid
    data, reader, _ = page_of(tmp_path, getpid, "--after-cmd", command, status=0)
    assert "</script>" in data["sides"][1]["name"] and "img" not in dict(reader.tags)


def test_both_registers_are_in_a_trace(tmp_path, asm):
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


def test_of_fuzzing_a_pair_and_of_nothing_else(tmp_path, getpid, getpid_enoent):
    data, _, _ = page_of(tmp_path, getpid, getpid_enoent, "--trials", "100", command="fuzz", status=1)
    assert data["regions"]
    done = run("fuzz", "--optimizer", "cat", "--html", tmp_path / "p.html")
    assert done.status == 2 and "--html" in done.err and "pair" in done.err
    assert run("check", getpid, getpid, "--html", "-").status == 2


# The browser.


@pytest.fixture(scope="module")
def browser():
    if not FULL:
        pytest.skip("in the development build only")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
        missing = [path for path in ("/usr/bin/chromium", "/usr/bin/chromedriver") if not os.path.exists(path)]
    except ImportError:
        missing = ["selenium"]
    if missing:
        if os.environ.get("SECEQUIV_REQUIRE_BROWSER"):
            pytest.fail("no %s" % missing[0])
        pytest.skip("no %s (scripts/lib/setup.sh, group browser)" % missing[0])
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser):
    """Opens a page; afterwards the console must be empty."""
    def open_page(made):
        browser.get((made[1] / "page.html").as_uri())
        return browser
    yield open_page
    assert browser.get_log("browser") == []


def shown(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility()).length", selector)


def keys(browser, selector, *pressed):
    from selenium.webdriver.common.by import By
    element = browser.find_element(By.CSS_SELECTOR, selector)
    for key in pressed:
        element.send_keys(key)


def text_of(browser, selector):
    return browser.execute_script("return document.querySelector(arguments[0]).textContent", selector)


def test_filters_and_steps_work_in_a_browser(opened, docker):
    from selenium.webdriver.common.keys import Keys
    browser = opened(docker)
    assert shown(browser, "section") == 7
    assert shown(browser, "#difference-rows tr") == 3
    keys(browser, "#difference-filter", "i386")
    assert shown(browser, "#difference-rows tr") == 1 and text_of(browser, "#difference-count") == "1 of 3"
    keys(browser, "#difference-filter", *[Keys.BACKSPACE] * 4)
    assert shown(browser, "#difference-rows tr") == 3
    # Steps by keyboard, from the button of a row.
    browser.execute_script("document.querySelectorAll('#difference-rows button')[1].focus()")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.execute_script("return document.activeElement.id") == "next"
    first = text_of(browser, "#step")
    assert first.startswith("step 1 of ")
    keys(browser, "#next", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert text_of(browser, "#step").startswith("step 3 of ")
    assert shown(browser, "#step-sides .now") == 2
    keys(browser, "#next", Keys.END)
    count = first.split(" of ")[1]
    assert text_of(browser, "#step") == "step %s of %s" % (count, count)
    keys(browser, "#first", Keys.HOME)
    assert text_of(browser, "#step") == first
    # The listing: only what that input executes; then by text; then one chosen with the keyboard.
    total = shown(browser, "#listings [data-pc]")
    browser.execute_script("document.getElementById('only-executed').click()")
    executed = shown(browser, "#listings [data-pc]")
    assert 0 < executed < total and executed == shown(browser, "#listings .ran")
    keys(browser, "#listing-filter", "socket")
    assert 0 < shown(browser, "#listings [data-pc]") < executed
    browser.execute_script("document.getElementById('only-executed').click()")
    keys(browser, "#listings .list", Keys.ARROW_DOWN)
    assert "socket" in text_of(browser, "#detail") and "reached by " in text_of(browser, "#detail")


def test_the_largest_pair_is_usable(opened, everything):
    browser = opened(everything)
    browser.execute_script("document.getElementById('graph-draw').click()")
    assert text_of(browser, "#graph-status").startswith("815 blocks")
    assert shown(browser, "#graph-box .node") == 815 and shown(browser, "#graph-box .node.ran") > 0
    browser.execute_script("document.getElementById('only-infeasible').click()")
    odd = shown(browser, "#listings [data-pc]")
    assert odd == browser.execute_script(
        "return data.sides.flatMap((side) => side.insns).filter((insn) => /[-!]/.test(insn[5])).length") > 0
    browser.execute_script("document.querySelector('#listings > div:last-child [data-pc]:not([hidden])').click()")
    assert "proven: all " in text_of(browser, "#detail")
    keys(browser, "#cost-filter", "openat")
    assert shown(browser, "#cost-rows tr") == 2  # openat2


@pytest.mark.parametrize("dark", [False, True])
def test_at_phone_width_light_and_dark(opened, docker, dark):
    browser = opened(docker)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    try:
        # Nothing is wider than the screen but what scrolls in its own box.
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
        contrast = browser.execute_script(CONTRAST)
        assert contrast and min(contrast.values()) >= 4.5, contrast
        back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back)[:3])) < 150) == dark
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# The contrast (WCAG) of some texts with what is behind them.
CONTRAST = """
const luminance = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((c) => c / 255)
  .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (element) => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    if (!/, 0[)]$/.test(colour)) return colour;
  }
};
const out = {};
for (const selector of [".verdict", "#reason", "nav a", "pre", "#difference-rows td", ".legend", ".list i", ".list b", ".list .ran", ".list .now", "footer"]) {
  const element = document.querySelector(selector);
  if (!element) continue;
  const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((x, y) => y - x);
  out[selector] = (a + 0.05) / (b + 0.05);
}
return out;
"""
