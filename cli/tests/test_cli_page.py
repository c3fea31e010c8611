"""--html: the page agrees with the other reports, and a browser shows it."""

import hashlib
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
    """Collects tags with their attributes, the text of each script, and the rows of each table."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.scripts = []
        self.tables = {}
        self.rows = None  # of the table that is being read
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
    assert not re.search(r"@@(TITLE|STYLE|SCRIPT|VERDICT|STATE|DIRECTION|REASON|TEXT|DIFFERENCE|COST|CACHE|PROVENANCE|VERSION|COMMAND)@@", text)
    for _, attrs in reader.tags:  # the page loads no other file
        assert not {"src", "srcset", "action", "data"} & set(attrs), attrs
        assert not attrs.get("href", "#").startswith(("http", "/")), attrs
    assert re.findall(r"https?://[^\"'\s]*", text.replace("http://www.w3.org/2000/svg", "")) == []
    return json.loads(reader.scripts[0]), reader, text


def steps(trace):
    """[(pc, A, X)] of a stored trace, decoded by a second implementation."""
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
    (data, reader, text), folder = everything
    before, after = EVERYTHING
    assert len(text) < LIMIT_BYTES
    assert [insn[5] for insn in data["sides"][1]["insns"]] == marks_of_listing((folder / "listing").read_text())
    # Each infeasible edge has a reason: a condition that holds for all inputs that reach its instruction.
    odd = [insn for side in data["sides"] for insn in side["insns"] if "-" in insn[5]]
    assert odd
    for insn in odd:
        for mark, reason in zip(insn[5], insn[6]):
            assert data["texts"][reason].startswith("proven: ") == (mark == "-")
    for side in data["sides"]:
        assert "!" not in "".join(insn[5] for insn in side["insns"])
    cost, _ = report("cost", before, after)
    for side in cost["sides"]:
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
    rows = [(change, region) for change in diff["changes"] for region in change["regions"]]
    assert len(rows) == len(reader.tables["difference-rows"]) == 3
    for (_, region), shown in zip(rows, reader.tables["difference-rows"]):
        assert shown["For which inputs"].endswith(region["condition"])
        assert "socket" in shown["System call"] and shown["class"] == shown["Effect"] == "closed"
        assert shown["Before"] == "ALLOW" and shown["After"] == "ERRNO(1 EPERM)"
    assert data["inputs"][0]["label"] == "the witness"
    full, _ = report("check", *DOCKER)
    for side in ("before", "after"):
        wanted = [(step["pc"], step["a"], step["x"]) for step in full["traces"][side]["steps"]]
        assert steps(data["inputs"][0][side]) == wanted
        assert data["inputs"][0][side]["result"].startswith(full["traces"][side]["result"]["value"])
    assert ("header", {"class": "bad"}) in reader.tags and "witness   ALLOW became ERRNO(1 EPERM) for nr=41 (socket)" in text


def test_edges_covered_by_the_prover_are_marked_covered(tmp_path, asm, getpid):
    """This holds even if another edge is undecided."""
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
    assert "ModK" in data["sides"][0]["refusal"] and ("header", {"class": "bad"}) in reader.tags


def test_names_are_never_markup(tmp_path, asm):
    name = "<img src=x onerror=alert(1)>\"'&amp;@@DATA@@<script>.asm"
    evil = asm("ld [0]\njeq #39, a, b\na: ret #0x7fff0000\nb: ret #0".replace("a,", "y,").replace("a:", "y:"), name)
    data, reader, text = page_of(tmp_path, evil, asm("ret #0", "<b>.asm"), status=1)
    assert {tag for tag, _ in reader.tags} <= {"html", "head", "meta", "title", "style", "body", "a", "header", "h1", "span", "p", "nav",
                                               "main", "section", "h2", "div", "pre", "noscript", "label", "input", "table", "thead", "tr",
                                               "th", "td", "tbody", "select", "option", "button", "footer", "script", "b", "small", "dl", "dt", "dd"}
    assert sum(tag == "script" for tag, _ in reader.tags) == 2 and "img" not in dict(reader.tags)
    assert data["sides"][0]["name"].endswith(name)


def test_a_command_cannot_end_the_script(tmp_path, getpid):
    command = "cat '%s' # </script><img src=x>" % getpid
    data, reader, _ = page_of(tmp_path, getpid, "--after-cmd", command, status=0)
    assert "</script>" in data["sides"][1]["name"] and "img" not in dict(reader.tags)


def test_policies_too_long_for_the_kernel_show_their_difference(tmp_path):
    _, reader, text = page_of(tmp_path, *DOCKER[:2], status=4)
    assert [row["Effect"] for row in reader.tables["difference-rows"]] == ["closed"] * 3
    assert 'id="direction" class="">only stricter: socket' in text


def test_the_page_of_a_difference_names_the_rules_and_shows_no_instructions(tmp_path):
    data, reader, text = page_of(tmp_path, *DOCKER[:2], command="diff", status=1)
    rows = reader.tables["difference-rows"]
    assert [row["Effect"] for row in rows] == ["closed"] * 3 and "only stricter: socket" in text
    assert all(row["Before"].startswith("ALLOW") and len(row["Before"]) > len("ALLOW") for row in rows)
    assert [side["insns"] for side in data["sides"]] == [[], []] and "ld [4]" not in text
    both = [run("diff", *DOCKER[:2], *more).out for more in ([], ["--html", tmp_path / "p.html"])]
    assert both[0] == both[1]


def test_newly_allowed_calls_come_first_and_in_red(tmp_path, asm):
    text = "ld [4]\njeq #0xc000003e, native, other\nother: ret #0\nnative: ld [0]\njeq #39, first, next\nfirst: ret #%s\nnext: jeq #319, second, rest\nsecond: ret #%s\nrest: ret #0x%s"
    pair = asm(text % ("0x7fff0000", "0", "50001"), "a.asm"), asm(text % ("0", "0x7fff0000", "50002"), "b.asm")
    _, reader, page = page_of(tmp_path, *pair, status=1)
    assert [row["class"] for row in reader.tables["difference-rows"]] == ["opened", "closed", "changed"]
    assert reader.tables["difference-rows"][0]["System call"] == "x86_64 memfd_create"
    assert 'id="direction" class="opened">LOOSER: memfd_create' in page
    assert ("span", {"class": "card opened"}) in reader.tags


def test_the_page_shows_its_provenance(tmp_path, getpid, getpid_enoent):
    _, _, text = page_of(tmp_path, getpid, getpid_enoent, status=1)
    assert hashlib.sha256(getpid.read_bytes()).hexdigest() in text
    assert "check %s %s --html" % (getpid, getpid_enoent) in text


def test_a_call_that_lost_the_cache_is_never_green(tmp_path, asm):
    # With the instruction pointer tested, the kernel cannot cache the call.
    before = asm("ld [4]\njeq #0xc000003e, n, k\nn: ld [0]\njeq #39, y, k\ny: ret #0x7fff0000\nk: ret #0", "a.asm")
    after = asm("ld [8]\nld [4]\njeq #0xc000003e, n, k\nn: ld [0]\njeq #39, y, k\ny: ld [8]\njeq #0, z, z\nz: ret #0x7fff0000\nk: ret #0", "b.asm")
    _, reader, _ = page_of(tmp_path, before, after, "--allow-cache-loss", status=0)
    row = next(row for row in reader.tables["cost-rows"] if row["System call"] == "getpid")
    assert "cached" in row["Before"] and row["Change"].startswith("no longer cached: 0 to ")


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
    """Opens a page in the browser; at the end, its console must be empty."""
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


def wait_for(browser, selector):
    from selenium.webdriver.support.ui import WebDriverWait
    WebDriverWait(browser, 10).until(lambda _: shown(browser, selector))


def press(browser, key):
    from selenium.webdriver.common.action_chains import ActionChains
    ActionChains(browser).send_keys(key).perform()


def test_one_key_leads_to_the_step_where_the_traces_part(opened, docker):
    from selenium.webdriver.common.keys import Keys
    browser = opened(docker)
    assert shown(browser, "#step-sides .parts") == 2 and shown(browser, "#step-sides .parts.now") == 0
    press(browser, "d")
    assert shown(browser, "#step-sides .parts.now") == 2
    step = text_of(browser, "#step")
    press(browser, Keys.ARROW_LEFT)  # no element of the section has the focus
    assert text_of(browser, "#step") != step
    keys(browser, "#listing-filter", "d", Keys.ARROW_LEFT)  # an ordinary letter in a field
    assert shown(browser, "#step-sides .parts.now") == 0
    # Failed comparisons are one row, until someone wants them; a step shows names as a listing does.
    assert "failed comparisons: nr == read to nr == " in text_of(browser, "#step-sides .fold")
    assert "nr == socket" in text_of(browser, "#step-sides")
    rows = shown(browser, "#step-sides .steps-list > div")
    browser.execute_script("document.querySelector('#step-sides .fold button').click()")
    assert shown(browser, "#step-sides .steps-list > div") > rows + 20
    browser.execute_script("document.getElementById('fold').click()")
    assert shown(browser, "#step-sides .fold") == 0


def test_a_listing_shows_what_a_call_can_execute(opened, docker):
    browser = opened(docker)
    browser.execute_script("document.getElementById('only-reachable').click()")
    assert "socket" in text_of(browser, "#reachable-call")
    reachable = browser.execute_script("return stepper.reachable().map((side) => [...side])")
    executed = browser.execute_script("return stepper.executed.map((side) => [...side])")
    for some, all_of_them in zip(executed, reachable):
        assert set(some) < set(all_of_them) and len(all_of_them) < len(some) + 60
    assert shown(browser, "#listings [data-pc]") == sum(map(len, reachable))


def test_the_graph_is_searched_dragged_and_leads_to_the_listing(opened, everything):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    browser = opened(everything)
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('graph-box').scrollIntoView()")
    wait_for(browser, "#graph-box .node")
    assert browser.execute_script(
        "return [...document.querySelectorAll('#graph-box text')].every((t) => t.getComputedTextLength() <= t.previousElementSibling.getBBox().width"
        " || t.previousElementSibling.tagName === 'text')")
    box = browser.find_element(By.ID, "graph-box")
    place = "const b = document.getElementById('graph-box'); return [b.scrollLeft, b.scrollTop, graph.view.getAttribute('x')]"
    was = browser.execute_script(place)
    ActionChains(browser).move_to_element(box).click_and_hold().move_by_offset(60, 40).release().perform()
    now = browser.execute_script(place)
    assert now[0] == pytest.approx(was[0] - 60, abs=2) and now[1] == pytest.approx(was[1] - 40, abs=2) and now[2] != was[2]
    assert shown(browser, "#graph-box .selected") == 0
    keys(browser, "#graph-search", "futex")
    assert 0 < shown(browser, "#graph-box .found") < 20 and text_of(browser, "#graph-status").startswith("block 1 of ")
    browser.find_element(By.CSS_SELECTOR, "#graph-box .found").click()
    first = text_of(browser, "#graph-box .selected text").split()[0]
    assert first == browser.execute_script("return document.querySelector('#listings [aria-selected=true]').dataset.pc")
    browser.execute_script("document.getElementById('graph-call').click()")
    assert 0 < shown(browser, "#graph-box .node") < 200


def test_tables_need_no_javascript(browser, docker):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get((docker[1] / "page.html").as_uri())
        for table, rows in (("difference", 3), ("cost", 300), ("cache", 2)):
            found = browser.find_elements("css selector", "#%s-rows tr" % table)
            assert len(found) >= rows and found[0].is_displayed()
        assert not browser.find_element("id", "difference-filter").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_filters_and_steps_work_in_a_browser(opened, docker):
    from selenium.webdriver.common.keys import Keys
    browser = opened(docker)
    assert shown(browser, "section") == 8
    assert shown(browser, "#difference-rows tr") == 3
    keys(browser, "#difference-filter", "i386")
    assert shown(browser, "#difference-rows tr") == 1 and text_of(browser, "#difference-count") == "1 of 3"
    keys(browser, "#difference-filter", *[Keys.BACKSPACE] * 4)
    assert shown(browser, "#difference-rows tr") == 3
    # The keyboard steps through a trace, starting at the button of a row.
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
    # The listing shows only the executed instructions, then those that match a text, then one chosen by keyboard.
    total = shown(browser, "#listings [data-pc]")
    browser.execute_script("document.getElementById('only-executed').click()")
    executed = shown(browser, "#listings [data-pc]")
    assert 0 < executed < total and executed == shown(browser, "#listings .ran")
    keys(browser, "#listing-filter", "socket")
    assert 0 < shown(browser, "#listings [data-pc]") < executed
    browser.execute_script("document.getElementById('only-executed').click()")
    keys(browser, "#listings .list", Keys.ARROW_DOWN)
    assert "socket" in text_of(browser, "#detail") and "reached by " in text_of(browser, "#detail")


def test_the_page_of_the_largest_pair_is_usable(opened, everything):
    browser = opened(everything)
    browser.execute_script("document.getElementById('graph-box').scrollIntoView()")
    wait_for(browser, "#graph-box .node")
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
def test_the_page_is_readable_at_phone_width_in_both_colour_schemes(opened, docker, dark):
    browser = opened(docker)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    try:
        # Only elements that scroll in their own box are wider than the screen.
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
        contrast = browser.execute_script(CONTRAST)
        assert contrast and min(contrast.values()) >= 4.5, contrast
        back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back)[:3])) < 150) == dark
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# The contrast (WCAG) of some texts with their background.
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
for (const selector of [".verdict", "#reason", "nav a", "pre", "#direction", ".card.opened", ".card.closed", ".card.changed", "td.effect", ".parts", ".fold button", "dt", "#difference-rows td", ".legend", ".list i", ".list b", ".list .ran", ".list .now", "footer"]) {
  const element = document.querySelector(selector);
  if (!element) continue;
  const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((x, y) => y - x);
  out[selector] = (a + 0.05) / (b + 0.05);
}
return out;
"""
