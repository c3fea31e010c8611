"""Tests --html in a browser: the page, the keyboard, the mouse, narrow screens and printing."""
# Annex: browser

import re

import pytest
from browser_tool import chromium, wait_until
from cli_tool import PROGRAMS
from page_tool import CHAIN, OCI, docker, everything, page_of  # noqa: F401

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


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
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility({visibilityProperty: true})).length", selector)


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


def test_one_key_leads_to_the_step_where_the_traces_diverge(opened, docker):
    from selenium.webdriver.common.keys import Keys
    browser = opened(docker)
    assert shown(browser, "#step-sides .parts") == 2 and shown(browser, "#step-sides .parts.now") == 0
    press(browser, "d")
    assert shown(browser, "#step-sides .parts.now") == 2
    step = text_of(browser, "#step")
    press(browser, Keys.ARROW_LEFT)  # no element of the section has the focus
    assert text_of(browser, "#step") != step
    keys(browser, "#listings .list", Keys.ARROW_RIGHT)
    assert text_of(browser, "#step") == step
    press(browser, Keys.ARROW_LEFT)
    keys(browser, "#listing-filter", "d", Keys.ARROW_LEFT)  # in the search field, `d` is an ordinary letter
    assert shown(browser, "#step-sides .parts.now") == 0
    # Failed comparisons are folded into one row until the user opens it; a step shows names as a listing does.
    assert "failed comparisons: nr == read to nr == " in text_of(browser, "#step-sides .fold")
    assert "nr == socket" in text_of(browser, "#step-sides")
    rows = shown(browser, "#step-sides .steps-list > div")
    browser.execute_script("document.querySelector('#step-sides .fold button').click()")
    assert shown(browser, "#step-sides .steps-list > div") > rows + 20
    browser.execute_script("document.getElementById('fold').click()")
    assert shown(browser, "#step-sides .fold") == 0


def test_the_label_is_where_the_other_reports_see_the_traces_part(opened, tmp_path, asm):
    page = page_of(tmp_path, *[asm(text, name) for text, name in zip(CHAIN, ("a.asm", "b.asm"))], status=1)
    browser = opened((page, tmp_path))
    marked = browser.execute_script("return [...document.querySelectorAll('#step-sides .parts')].map((row) => Number(row.dataset.step))")
    assert marked == page[0]["inputs"][0]["parting"] == [1, 1]  # even if a run of failed comparisons starts there
    assert "failed comparisons" in text_of(browser, "#step-sides .fold")


def test_the_label_where_the_traces_part_covers_nothing(opened, docker):
    """The label stands above its row. Beside the row, it would cover the operand and the comment, which matter most here."""
    browser = opened(docker)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    try:
        label = "const row = document.querySelector('#step-sides .parts'); const style = (part) => getComputedStyle(row, part); return [style('::before').content, style('::before').display, style('::after').content, row.offsetHeight]"
        press(browser, "d")
        assert browser.execute_script(label) == ['"they part here"', "block", "none", 38]
        # The label stays in sight when the list is scrolled sideways, and its text fits.
        width, view = browser.execute_script(
            "const row = document.querySelector('#step-sides .parts'); return [parseFloat(getComputedStyle(row, '::before').width), row.parentElement.clientWidth]")
        assert 0 < width < view
        assert browser.execute_script("return getComputedStyle(document.querySelector('#step-sides .parts'), '::before').position") == "sticky"
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


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
    ActionChains(browser).move_to_element(box).click_and_hold().move_by_offset(60, -40).release().perform()
    now = browser.execute_script(place)
    assert now[0] == pytest.approx(was[0] - 60, abs=2) and now[1] == pytest.approx(was[1] + 40, abs=2) and now[2] != was[2]
    assert shown(browser, "#graph-box .selected") == 0
    keys(browser, "#graph-search", "futex")
    assert 0 < shown(browser, "#graph-box .found") < 20 and text_of(browser, "#graph-status").startswith("block 1 of ")
    browser.find_element(By.CSS_SELECTOR, "#graph-box .found").click()
    first = text_of(browser, "#graph-box .selected text").split()[0]
    assert first == browser.execute_script("return document.querySelector('#listings [aria-selected=true]').dataset.pc")
    browser.execute_script("document.getElementById('graph-call').click()")
    assert 0 < shown(browser, "#graph-box .node") < 200


def test_the_graph_finds_calls_whose_number_only_ranges_contain(opened, everything):
    """Trees of comparisons test ranges of numbers, so a call may have no test of its own."""
    browser = opened(everything)
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('graph-box').scrollIntoView()")
    wait_for(browser, "#graph-box .node")
    keys(browser, "#graph-search", "openat")
    found = browser.execute_script("return graph.matches.map(({ element }) => element.textContent)")
    assert any("nr >= 0x101 (openat)" in text for text in found), found
    browser.execute_script("document.getElementById('graph-search').value = ''")
    keys(browser, "#graph-search", "afs_syscall")
    assert text_of(browser, "#graph-status").startswith("no test names afs_syscall; it can reach the marked blocks: block 1 of ")
    reached = browser.execute_script("const { insns } = data.sides[graph.side]; const all = reachableBy(insns, 183, 0xc000003e); return graph.nodes.filter(({ block }) => all.has(block.first)).length")
    assert 2 < shown(browser, "#graph-box .found") == reached < 100
    browser.execute_script("document.getElementById('graph-search').value = ''")
    keys(browser, "#graph-search", "no_such_call")
    assert text_of(browser, "#graph-status") == "no block has this text"


VISIBLE = """const box = document.getElementById('graph-box').getBoundingClientRect();
return graph.nodes.filter(({ element }) => { const at = element.getBoundingClientRect();
  return at.left >= box.left && at.right <= box.right && at.top >= box.top && at.bottom <= box.bottom; }).map(({ block }) => block.first)"""


def test_a_large_graph_opens_at_its_first_block_and_returns_there(opened, tmp_path):
    pair = [PROGRAMS / "libseccomp" / ("docker-x86_64.%s.bpf" % kind) for kind in ("linear", "tree")]
    browser = opened((page_of(tmp_path, *pair, "--max-inputs", "1000", status=0), tmp_path))
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('graph-box').scrollIntoView()")
    wait_for(browser, "#graph-box .node")
    seen = browser.execute_script(VISIBLE)
    assert 0 in seen and len(seen) > 8 and browser.execute_script("return graph.scale") >= 0.9
    browser.execute_script("document.getElementById('graph-fit').click()")
    assert browser.execute_script("return graph.scale") < 0.1
    browser.execute_script("document.getElementById('graph-start').click()")
    assert browser.execute_script(VISIBLE) == seen


def test_panels_of_small_programs_are_no_higher_than_their_content(opened, tmp_path, asm):
    """An overview beside a graph that is visible as a whole would be a bar."""
    pair = asm("ld [0]\njeq #3, y, n\ny: ret #0x7fff0000\nn: ret #0", "a.asm"), asm("ret #0", "b.asm")
    browser = opened((page_of(tmp_path, *pair, status=1), tmp_path))
    heights = browser.execute_script("return listings.map(({ list }) => list.offsetHeight)")
    assert all(4 * 19 <= height < 6 * 19 for height in heights) and heights[0] == heights[1]
    browser.execute_script("document.getElementById('graph-box').scrollIntoView()")
    wait_for(browser, "#graph-box .node")
    assert shown(browser, "#graph-map") == 0


@pytest.mark.parametrize("command", ["diff", "check"])
def test_long_masks_of_flags_are_cut_off_neither_on_screens_nor_on_paper(opened, tmp_path, command):
    browser = opened((page_of(tmp_path, OCI / "docker-default.json", OCI / "podman-default.json", command=command, status=1), tmp_path))
    cut = "return [...document.querySelectorAll('#difference .scroll, #summary .scroll')].filter((box) => box.scrollWidth > box.clientWidth + 2).map((box) => box.scrollWidth)"
    try:
        for media, width in (("", 1400), ("", 800), ("print", 718)):
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
            assert browser.execute_script(cut) == [] and browser.execute_script("return document.documentElement.scrollWidth") <= width, (media, width)
            # Whole names and actions are never squeezed to some letters.
            assert browser.execute_script("return Math.min(...[...document.querySelectorAll('#difference-rows td')].map((cell) => cell.offsetWidth))") >= 60
            right = browser.execute_script("return Math.max(0, ...[...document.querySelectorAll('button.step')].map((one) => one.getBoundingClientRect().right))")
            assert right <= width and (right > 0) == (command == "check" and media == "")
    finally:
        browser.get("about:blank")  # to lay the page out for screens again would take seconds
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_phone_shows_the_numbers_of_calls_on_its_first_screen(opened, tmp_path):
    browser = opened((page_of(tmp_path, "docker-default.json", "podman-default.json", command="diff", status=1, cwd=OCI), tmp_path))
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    try:
        assert browser.execute_script("return document.querySelector('header').offsetHeight") < 480
        assert browser.execute_script("return document.querySelector('.cards').getBoundingClientRect().bottom") < 740
        # Long lists of notes are closed until the reader opens them.
        assert shown(browser, "#notes details li") == 0 < shown(browser, "#notes .places li")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_tables_need_no_javascript(browser, docker):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get((docker[1] / "page.html").as_uri())
        for table, rows in (("difference", 1), ("cost", 300), ("cache", 2)):
            found = browser.find_elements("css selector", "#%s-rows tr" % table)
            assert len(found) >= rows and found[0].is_displayed()
        assert not browser.find_element("id", "difference-filter").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_filters_and_steps_work_in_a_browser(opened, docker):
    from selenium.webdriver.common.keys import Keys
    browser = opened(docker)
    assert shown(browser, "section") == 9
    assert shown(browser, "#difference-rows tr") == 1
    keys(browser, "#difference-filter", "i387")
    assert shown(browser, "#difference-rows tr") == 0 and text_of(browser, "#difference-count") == "0 of 1"
    keys(browser, "#difference-filter", Keys.BACKSPACE)
    assert shown(browser, "#difference-rows tr") == 1
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
    # The listing shows what differs, then only the executed instructions, then those that match a text, then one chosen by keyboard.
    total = shown(browser, "#listings [data-pc]")
    browser.execute_script("document.getElementById('only-different').click()")
    different = shown(browser, "#listings [data-pc]")
    assert shown(browser, "#listings .removed, #listings .inserted, #listings .elsewhere") < different < total / 2
    assert shown(browser, "#listings .cut") >= 2
    browser.execute_script("document.getElementById('only-different').click()")
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
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('graph-box').scrollIntoView()")
    wait_for(browser, "#graph-box .node")
    assert text_of(browser, "#graph-status").startswith("815 blocks")
    took = browser.execute_script("const start = performance.now(); drawGraph(); return performance.now() - start")
    assert took < 2000
    # The overview has every block, and a click in it moves the detailed view to any place; the detailed view stays readable.
    assert browser.execute_script("return document.querySelector('#graph-map .blocks').getAttribute('d').split('M').length - 1") == 815
    assert browser.execute_script("return graph.scale * 11") >= 9
    was = browser.execute_script("return document.getElementById('graph-box').scrollLeft")
    browser.find_element("id", "graph-map").click()
    assert browser.execute_script("return document.getElementById('graph-box').scrollLeft") != was
    assert shown(browser, "#graph-box .node") == 815 and shown(browser, "#graph-box .node.ran") > 0
    browser.execute_script("document.getElementById('only-infeasible').click()")
    odd = shown(browser, "#listings [data-pc]")
    assert odd == browser.execute_script(
        "return data.sides.flatMap((side) => side.insns).filter((insn) => /[-!]/.test(insn[5])).length") > 0
    browser.execute_script("document.querySelector('#listings > div:last-child [data-pc]:not([hidden], .gap)').click()")
    assert "proven infeasible: all " in text_of(browser, "#detail")
    keys(browser, "#cost-filter", "openat")
    assert shown(browser, "#cost-rows tr") == 2  # openat2


ALIGNED = """ld [4]
jeq #0xc000003e, native, kill
native: ld [0]
jeq #39, allow, one
one: jeq #57, allow, %s
%stwo: jeq #60, %s, kill
kill: ret #0
allow: ret #0x7fff0000
"""


def test_the_listings_are_aligned(opened, tmp_path, asm):
    """An inserted instruction moves all targets, yet only the lines that differ are marked."""
    inserted = "new: jeq #101, allow, new2\nnew2: jeq #102, allow, two\n"
    pair = asm(ALIGNED % ("two", "", "allow"), "a.asm"), asm(ALIGNED % ("new", inserted, "kill"), "b.asm")
    page = page_of(tmp_path, *pair, status=1)
    browser = opened((page, tmp_path))
    rows = browser.execute_script("return aligned.map((row) => [...row.pcs.map((pc) => pc ?? null), row.state])")
    assert rows == [[0, 0, "same"], [1, 1, "same"], [2, 2, "same"], [3, 3, "same"], [4, 4, "elsewhere"], [None, 5, "only"],
                    [None, 6, "only"], [5, 7, "elsewhere"], [6, 8, "same"], [7, 9, "same"]]
    assert text_of(browser, "#alignment") == "6 instructions are the same, 0 only in before, 2 only in after, 2 lead elsewhere."
    assert shown(browser, "#listings .inserted") == 2 and shown(browser, "#listings .elsewhere") == 4
    tops = browser.execute_script("return aligned.map((row) => row.cells.map((cell) => cell.getBoundingClientRect().top))")
    assert all(abs(a - b) < 1 for a, b in tops)  # both cells of a row have the same height, even beside gaps
    assert browser.execute_script("return aligned[5].cells.map((cell) => getComputedStyle(cell, '::before').content)[1]") == '"+ "'
    browser.execute_script("listings[0].select(4)")
    assert "(~ the same test leads elsewhere in the other program)" in text_of(browser, "#detail")
    # Short traces get low panels, without empty space below.
    for height, content in browser.execute_script("return stepper.boxes.map(({ list }) => [list.offsetHeight, list.scrollHeight])"):
        assert 19 * 3 < height < 19 * 12 and abs(height - content) < 20


def longest_common(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        before, row = row, [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


def test_the_alignment_of_large_programs_is_the_longest_possible(opened, everything):
    browser = opened(everything)
    keys_of = [[re.sub(", L.*| L.*", "", text) + comment for text, comment, *_ in side["insns"]] for side in everything[0][0]["sides"]]
    pairs = browser.execute_script("return aligned.filter((row) => row.state !== 'only').map((row) => row.pcs)")
    assert all(keys_of[0][i] == keys_of[1][j] for i, j in pairs)
    assert len(pairs) == longest_common(*keys_of)
    # Both listings scroll together.
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'; listings[0].list.scrollIntoView(); listings[0].list.scrollTop = 3000")
    wait_until(browser, "return listings[1].list.scrollTop === 3000")


def test_a_printed_page_shows_everything_except_the_controls(opened, docker):
    browser = opened(docker)
    keys(browser, "#cost-filter", "openat")
    assert shown(browser, "#cost-rows tr") < 5 and shown(browser, "#step-sides .fold") > 0 and shown(browser, ".controls") > 3
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        wait_for(browser, "#step-sides .list > div:not(.fold)")
        assert shown(browser, "#step-sides .fold") == 0
        steps = browser.execute_script("return stepper.views.reduce((sum, view) => sum + view.steps.length, 0)")
        assert shown(browser, "#step-sides .list > div") == steps
        assert shown(browser, "#cost-rows tr") > 300 and shown(browser, "#difference-rows li") == 2
        assert shown(browser, "#listings [data-pc]") == browser.execute_script("return data.sides[0].insns.length + data.sides[1].insns.length")
        assert shown(browser, "button, input, select, nav, #graph") == 0
        # Nothing is cut off: the page is no wider than A4 within its margins, and no box scrolls.
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 718
        assert browser.execute_script(
            "return [...document.querySelectorAll('.scroll, .list')].filter((box) => box.checkVisibility() && box.scrollHeight > box.clientHeight + 2).map((box) => box.className)") == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    wait_for(browser, "#step-sides .fold")
    assert shown(browser, ".controls") > 3


def test_many_conditions_are_folded_except_in_print(opened, tmp_path, asm):
    chain = "ld [0]\njeq #41, t0, deny\nt0: ld [16]\njset #1, odd, even\nodd: ld [24]\njset #2, allow, o2\no2: jset #4, log, deny\neven: ld [32]\njset #8, allow, e2\ne2: ld [40]\njset #16, allow, e3\ne3: ld [48]\njset #32, allow, e4\ne4: ld [20]\njset #64, allow, e5\ne5: ld [28]\njset #128, allow, deny\nlog: ret #0x7fff0000\nallow: ret #0x7fff0000\ndeny: ret #0"
    page = page_of(tmp_path, asm("ret #0", "a.asm"), asm(chain, "b.asm"), status=1)
    browser = opened((page, tmp_path))
    conditions = browser.execute_script("return document.querySelectorAll('#difference-rows tr:first-child li').length")
    assert conditions > 4 and shown(browser, "#difference-rows tr:first-child li") == 3
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert shown(browser, "#difference-rows tr:first-child li") == conditions
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_script("document.querySelector('#difference-rows ul + button').click()")
    assert shown(browser, "#difference-rows tr:first-child li") == conditions
    red = browser.execute_script("return getComputedStyle(document.querySelector('.card.opened')).color")
    assert browser.execute_script("return getComputedStyle(document.getElementById('direction')).color") == red


MANY = "ld [4]\njeq #0xc000003e, native, bad\nbad: ret #0\nnative: ld [0]\njge #130, deny, low\nlow: jge #60, more, deny\nmore: ret #%s\ndeny: ret #0x50001"


def test_many_names_are_folded_only_on_screens(opened, browser, tmp_path, asm):
    """A phone shows the table without scrolling through names; paper and readers without JavaScript see every name."""
    page = page_of(tmp_path, asm(MANY % "0x50001", "a.asm"), asm(MANY % "0x7fff0000", "b.asm"), command="diff", status=1)
    names = "return document.getElementById('direction').innerText.replace(/\\s+/g, ' ')"
    whole = 69  # commas between 70 names; without the summary they are one list
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    try:
        opened((page, tmp_path))
        short = browser.execute_script(names)
        assert short.count(",") == 9 and "and 60 more newly allowed" in short, short
        assert browser.execute_script("return document.getElementById('difference').getBoundingClientRect().top") < 370
        browser.find_element("css selector", "#direction summary").click()
        assert browser.execute_script(names).count(",") == whole
        browser.find_element("css selector", "#direction summary").click()
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        wait_until(browser, "return document.querySelector('#direction details').open")
        assert browser.execute_script(names).count(",") == whole and " more" not in browser.execute_script(names)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        wait_until(browser, "return !document.querySelector('#direction details').open")
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        opened((page, tmp_path))
        text = browser.find_element("id", "direction").text
        assert text.count(",") == whole and " more" not in text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_readable_at_phone_width_in_both_colour_schemes(opened, docker, dark):
    browser = opened(docker)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    try:
        # Only elements that scroll in their own box are wider than the screen.
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
        # A row is a card, in which each cell has its column's name; the listings stand one above the other.
        style = "return getComputedStyle(document.querySelector(arguments[0]), arguments[1])[arguments[2]]"
        assert browser.execute_script(style, "#cost-rows tr", None, "display") == "block"
        assert browser.execute_script(style, "#cost-rows td", "::before", "content") == '"System call"'
        keys(browser, "#cost-filter", "openat")
        assert shown(browser, "#cost-rows tr") == 2  # openat2
        tops = browser.execute_script("return listings.map(({ list }) => list.getBoundingClientRect().top)")
        assert tops[0] + 100 < tops[1]
        contrast = browser.execute_script(CONTRAST)
        assert contrast and min(contrast.values()) >= 4.5, contrast
        back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", back)[:3])) < 150) == dark
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# Some texts must have enough contrast with their background (WCAG).
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
for (const selector of [".verdict", "#reason", "nav a", "pre", "#direction", ".card.closed", ".card.none", "td.effect", "td.call", ".count", "small.cond", "#pair span", "#alignment", ".legend b", ".inserted i", ".removed i", ".elsewhere i", ".parts", ".fold button", "dt", "#difference-rows td", ".legend", ".list i", ".list b", ".list .ran", ".list .now", "footer"]) {
  const element = document.querySelector(selector);
  if (!element) continue;
  const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((x, y) => y - x);
  out[selector] = (a + 0.05) / (b + 0.05);
}
return out;
"""
