"""Applies to every test in Python: selects the tests of this build, and notes what each one did, for scripts/lib/outcomes.py."""

import hashlib
import os
from pathlib import Path

import pytest

FULL = os.environ.get("SECEQUIV_FULL_TESTS") == "1"  # the development build
# A folder: one file for each process, a line "id TAB outcome TAB reason" for each test. Tests that start pytest again must not write there.
NOTES = os.environ.pop("SECEQUIV_OUTCOMES", None)
ONLY_FULL = pytest.StashKey()
ROOT = "%s/" % Path(__file__).resolve().parent


def pytest_configure(config):
    config.addinivalue_line("markers", "full: the result is the same in every build, so only the development build has this test")
    if NOTES:
        config.pluginmanager.register(Notes(Path(NOTES), config.invocation_params.args), "secequiv-notes")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    if not FULL:
        left_out = [item for item in items if item.get_closest_marker("full")]
        items[:] = [item for item in items if not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        config.stash[ONLY_FULL] = bool(left_out) and not items


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    """A file that has tests only in the development build passes in other builds."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash.get(ONLY_FULL, False):
        session.exitstatus = pytest.ExitCode.OK


@pytest.fixture(scope="module")
def library():
    """The installed libseccomp, in its pinned version."""
    from corpus import sources  # only tests that put scripts/ on the path use this
    from pinned import Missing

    try:
        return sources.Libseccomp()
    except Missing as missing:
        pytest.skip(str(missing))


def short(name):
    """Returns the name without the place of this tree. A name of more than 200 characters, like one with a whole program, ends with a hash."""
    name = name.replace(ROOT, "")
    return name if len(name) <= 200 else "%s~%s" % (name[:180], hashlib.sha256(name.encode()).hexdigest()[:12])


class Notes:
    """Writes one file when the process ends. A test counts as failed if its set-up, its body or its clean-up failed."""

    def __init__(self, folder, arguments):
        files = [str(argument).replace("/", ".") for argument in arguments if str(argument).endswith(".py")]
        self.path = folder / ("%s.pytest" % "+".join(files or [str(os.getpid())]))
        self.outcomes = {}

    def pytest_collection_finish(self, session):
        if session.config.option.collectonly:
            self.outcomes = {item.nodeid: ("collected", "") for item in session.items}

    def pytest_collectreport(self, report):
        if report.skipped:
            self.note(report)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self.note(report)

    def note(self, report):
        reason = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
        if self.outcomes.get(report.nodeid, ("",))[0] != "failed":
            self.outcomes[report.nodeid] = (report.outcome, " ".join(reason.split()))

    def pytest_sessionfinish(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join("%s\t%s\t%s\n" % (short(name), *outcome) for name, outcome in self.outcomes.items()))
