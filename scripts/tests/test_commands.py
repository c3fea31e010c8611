"""Tests scripts/test, scripts/demo, .ci/run and scripts/check_format, with fake cmake, ctest and secequiv commands."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from test_setup import GROUPS

CLOSING = "100%% tests passed, 0 tests failed out of %d"

# `cmake --build --preset P` fails if P is in $BROKEN, and never ends if P is $ENDLESS. `ctest` waits for the file $AWAITED. The variable named like the preset contains the counts that `ctest --preset
# P` prints.
CMAKE = """
case "$*" in
  --version) echo "cmake version 3.25.1" ;;
  *--build*)
    echo "[1/2] Building CXX object a.o"
    preset=$3
    if [ "$ENDLESS" = "$preset" ]; then echo $$ >build/$preset/endless; exec SLEEP 1000; fi
    case " $BROKEN " in *" $preset "*) echo "a.cc:1: error: expected ';'"; exit 1 ;; esac
    if [ -n "$WARNING" ]; then echo "$WARNING"; fi
    mkdir -p build/$preset/bin
    printf '#!%s\\nprintf "<%%s>" "$0" "$@"; exit ${CHECK_STATUS-0}\\n' "$(command -v bash)" >build/$preset/bin/secequiv
    chmod +x build/$preset/bin/secequiv
    ;;
esac
""".replace("SLEEP", shutil.which("sleep"))
# This script builds the fuzz targets in $TARGETS; it fails if fuzz is in $BROKEN.
OSS_FUZZ_CHECK = """
case " $BROKEN " in *" fuzz "*) echo "a.cc:1: error: expected ';'" >&2; exit 1 ;; esac
bin=build/oss_fuzz/short/objects/secequiv/bin
mkdir -p $bin
for name in $TARGETS fuzz_seeds; do
  printf '#!%s\\n%s\\n' "$(command -v bash)" 'pwd; echo "$0 $*"; [ "${0##*/}" != "$CRASH" ] || exit 77; echo "Done 10000 runs"' >$bin/$name
  chmod +x $bin/$name
done
"""
CTEST = r"""
preset=$2 junit=
[ "$1" = --preset ] || preset=changed
while [ $# -gt 0 ]; do
  if [ "$1" = --output-junit ]; then junit=$2; fi
  shift
done
counts=${!preset}
failed=${counts%/*} total=${counts#*/}
echo "  Start 1: one"
if [ -n "$AWAITED" ]; then
  for _ in {1..600}; do [ -s "$AWAITED" ] || SLEEP 0.1; done
  [ -s "$AWAITED" ] || exit 9
fi
mkdir -p "${junit%/*}"
if [ "$total" != - ]; then
  {
    echo '<testsuite>'
    for ((i = 1; i <= total; ++i)); do
      status=run
      if [ "$i" -le "$failed" ]; then status=fail; elif [ "t$i" = "$SKIPPED" ]; then status=notrun; fi
      if [ "t$i" != "$LOST" ]; then echo "<testcase name=\"t$i\" status=\"$status\"/>"; fi
    done
    echo '</testsuite>'
  } >"$junit"
fi
exit ${CTEST_STATUS-$((failed > 0 ? 8 : 0))}
""".replace("SLEEP", shutil.which("sleep"))


@pytest.fixture
def tree(sandbox):
    sandbox.installed(GROUPS["all"] + GROUPS["kernels"] + GROUPS["wasm"])
    sandbox.fake("cmake", CMAKE)
    sandbox.fake("ctest", CTEST)
    sandbox.fake("oss_fuzz_check", OSS_FUZZ_CHECK)
    (sandbox.bin / "oss_fuzz_check").rename(sandbox.root / "scripts/oss_fuzz_check")
    sandbox.fake("kernels", 'echo "kernels $*"; [ -z "$DIFFERENT" ]')
    (sandbox.bin / "kernels").rename(sandbox.root / "scripts/kernels")
    sandbox.fake("play", 'echo "play $*"; [ -z "$UNBUILT" ]')
    (sandbox.bin / "play").rename(sandbox.root / "scripts/play")
    (sandbox.root / "scripts/tests/generated").mkdir(parents=True)
    (sandbox.root / "scripts/tests/generated/all_tests.txt").write_text("".join("t%d\n" % number for number in range(1, 101)))
    (sandbox.root / "scripts/tests/may_skip.txt").write_text("[the preset fuzz does not run] a reason\nt7\n")
    planted = sandbox.root / "fuzz/targets/tests/test_planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text("import os\n\n\ndef test_found():\n    assert os.environ['SECEQUIV_FUZZ_BIN']\n"
                       "    assert 'UNFOUND' not in os.environ\n")
    return sandbox


def rows(output):
    """Returns the rows of the printed table: (preset, result, checks that ran)."""
    lines = output.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("preset   result"))
    table = []
    for line in lines[start + 1:]:
        if not line.strip() or line.startswith("tests: ") or not line[0].isalpha() or line[9:15] not in ("passed", "FAILED"):
            break
        table.append((line[:9].strip(), line[9:18].strip(), line[18:85].strip()))
        assert line.split()[-1].isdigit()
    return table


def last(done):
    return done.stdout.splitlines()[-1]


GOOD = {"house": "0/100", "dev": "0/100", "asan": "0/90", "gcc": "0/80", "wasm": "0/4", "TARGETS": "fuzz_pair fuzz_text"}


def test_every_preset_is_run_and_listed(tree):
    done = tree.run("bash", "scripts/test", "--all", **GOOD)
    assert done.returncode == 0, done.stderr
    assert rows(done.stdout) == [
        ("dev", "passed", "build, ctest"), ("asan", "passed", "build, ctest"), ("gcc", "passed", "build, ctest"),
        ("tidy", "passed", "clang-tidy"), ("fuzz", "passed", "checked as OSS-Fuzz does, 2 fuzz targets, planted bugs found"),
        ("kernels", "passed", "kernels of s390x and arm64, naive evaluator, interpreter"), ("wasm", "passed", "page, ctest")]
    assert "play --build-only\n" in done.stderr and done.stdout.count("1 passed") == 1  # planted bugs
    for name in ("s390x", "arm64"):
        assert "kernels check --boot-limit 600 %s\n" % name in done.stdout and "<kernel><--on><%s><--random-programs><2000>" % name in done.stdout
    assert done.stdout.splitlines()[-2:] == ["tests: 100 passed, 0 failed, 0 skipped as permitted, 0 skipped without permission, 0 not collected, 0 not listed", CLOSING % 274]
    assert [call.split()[2] for call in tree.noted("ctest")] == ["dev", "asan", "gcc", "wasm"]
    assert all("--output-on-failure --no-tests=error" in call for call in tree.noted("ctest"))
    for name in ("fuzz_pair", "fuzz_text"):
        folder, command = (tree.root / "build/oss_fuzz/short/smoke" / (name + ".log")).read_text().splitlines()[:2]
        assert command.rsplit("/", 1)[-1] == name + " -runs=10000 -max_total_time=15 -seed=1"
        assert folder != str(tree.root)


@pytest.mark.parametrize("environment", [{"DIFFERENT": "1"}, {"CHECK_STATUS": "1"}])
def test_a_kernel_that_differs_fails(tree, environment):
    done = tree.run("bash", "scripts/test", "kernels", **environment)
    assert (done.returncode, rows(done.stdout)) == (1, [("kernels", "FAILED", "kernels of s390x and arm64")])
    assert "the kernel of s390x failed\n" in done.stderr and "kernels check --boot-limit 600 arm64\n" in done.stderr


def test_a_failed_build_is_noticed_in_every_shell(tree):
    """build_preset does not depend on the options of the shell that calls it."""
    for broken in ("", "dev"):
        done = tree.run("bash", "-c", '. scripts/lib/build.sh && build_preset "$PWD" dev', BROKEN=broken)
        assert (done.returncode != 0) == bool(broken) and ("expected ';'" in done.stderr) == bool(broken), done


@pytest.mark.parametrize("environment, what", [({"UNBUILT": "1"}, "page"), ({"wasm": "1/4"}, "page, ctest")])
def test_webassembly_that_differs_fails(tree, environment, what):
    done = tree.run("bash", "scripts/test", "wasm", **GOOD | environment)
    assert (done.returncode, rows(done.stdout)) == (1, [("wasm", "FAILED", what)]), done.stderr


def test_a_planted_bug_that_is_not_found_fails(tree):
    done = tree.run("bash", "scripts/test", "fuzz", **GOOD, UNFOUND="1")
    assert done.returncode == 1
    assert rows(done.stdout) == [("fuzz", "FAILED", "checked as OSS-Fuzz does, 2 fuzz targets, planted bugs not found")]
    assert "UNFOUND" in done.stderr


@pytest.mark.parametrize("build,environment,status,row", [
    ("echo Closed", {}, 0, ("proved", "passed", "proofs, ctest")),
    ("echo 'a proof is wrong'; exit 1", {}, 1, ("proved", "FAILED", "proofs")),
    ("echo Closed", {"proved": "1/3"}, 1, ("proved", "FAILED", "proofs, ctest")),
])
def test_proved_checks_proofs_and_runs_their_tests(tree, build, environment, status, row):
    tree.installed(GROUPS["all"] + GROUPS["proved"])
    file = tree.root / "verify/proved/build"
    file.parent.mkdir(parents=True)
    file.write_text("#!%s\n[ \"$1\" = --again ] || exit 9\n%s\n" % (shutil.which("bash"), build))
    file.chmod(0o755)
    done = tree.run("bash", "scripts/test", "proved", **{"proved": "0/3"} | environment)
    assert (done.returncode, rows(done.stdout)) == (status, [row]), done.stderr
    assert "cmake --build --preset proved" in tree.noted("cmake") or status == 1
    assert ("Closed" in done.stdout) == ("Closed" in build) and ("a proof is wrong" in done.stderr) == ("wrong" in build)


def adapter(tree, name, step):
    """Makes an adapter whose build step is this text."""
    file = tree.root / "adapters" / name / "build"
    file.parent.mkdir(parents=True)
    file.write_text("#!%s\n%s\n" % (shutil.which("bash"), step))
    file.chmod(0o755)


BUILDS = "echo building >&2; printf '#!/bin/sh\\n' >\"$1\"; chmod +x \"$1\""


def test_dev_builds_the_adapters(tree):
    adapter(tree, "works", BUILDS)
    adapter(tree, "fails", "exit 1")
    assert tree.run("bash", "scripts/test", "gcc", **GOOD).returncode == 0
    assert not (tree.root / "build/adapters").exists()
    done = tree.run("bash", "scripts/test", "dev", **GOOD)
    assert done.returncode == 0, done.stderr  # the build passes without the adapter; only the adapter's tests fail
    assert (tree.root / "build/adapters/works").exists()
    assert "adapters: not built: fails" in done.stderr


def test_the_next_preset_is_built_while_tests_run(tree):
    done = tree.run("bash", "scripts/test", "asan", "gcc", **GOOD, AWAITED="build/gcc/bin/secequiv")
    assert done.returncode == 0, done.stdout
    assert rows(done.stdout) == [("asan", "passed", "build, ctest"), ("gcc", "passed", "build, ctest")]
    assert len([call for call in tree.noted("cmake") if "--build" in call]) == 2


def test_a_preset_that_cannot_be_built_ahead_fails_in_its_turn(tree):
    done = tree.run("bash", "scripts/test", "asan", "gcc", **GOOD, BROKEN="gcc")
    assert done.returncode == 1
    assert rows(done.stdout) == [("asan", "passed", "build, ctest"), ("gcc", "FAILED", "build")]
    assert "a.cc:1: error: expected ';'" in done.stderr


@pytest.mark.parametrize("unbuilt, status, result", [("", 0, ("wasm", "passed", "page, ctest")), ("1", 1, ("wasm", "FAILED", "page"))])
def test_the_page_is_built_once_while_fuzz_runs(tree, unbuilt, status, result):
    done = tree.run("bash", "scripts/test", "fuzz", "kernels", "wasm", **GOOD, UNBUILT=unbuilt)
    assert done.returncode == status, done.stderr
    assert [row[:2] for row in rows(done.stdout)[:2]] == [("fuzz", "passed"), ("kernels", "passed")] and rows(done.stdout)[2] == result
    assert done.stderr.count("play --build-only\n") == 1 and "play --build-only" not in done.stdout


@pytest.mark.parametrize("presets", [("fuzz", "fuzz", "wasm"), ("fuzz", "asan", "gcc", "wasm"), ("wasm", "fuzz")])
def test_the_page_is_built_once_in_every_order(tree, presets):
    done = tree.run("bash", "scripts/test", *presets, **GOOD)
    assert [row[:2] for row in rows(done.stdout)] == [(preset, "passed") for preset in presets], done.stderr
    assert len(tree.noted("play")) == 1


def running(process):
    """Returns whether the process runs; a process that ended may still have an entry, in state Z."""
    try:
        return open("/proc/%d/stat" % process).read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_failing_tests_stop_the_build_of_the_next_preset(tree):
    done = tree.run("bash", "scripts/test", "asan", "gcc", asan="1/90", AWAITED="build/gcc/endless", ENDLESS="gcc")
    assert done.returncode == 1
    assert rows(done.stdout) == [("asan", "FAILED", "build, ctest")]
    build = int((tree.root / "build/gcc/endless").read_text())
    for _ in range(600):  # a signal needs a moment
        if not running(build):
            return
        time.sleep(0.1)
    os.kill(build, signal.SIGKILL)
    pytest.fail("the build of gcc goes on")


def test_without_options_only_the_house_is_built_and_tested(tree):
    adapter(tree, "works", BUILDS)
    done = tree.run("bash", "scripts/test", **GOOD)
    assert (done.returncode, last(done)) == (0, CLOSING % 100), done.stderr
    assert rows(done.stdout) == [("house", "passed", "build, ctest")] and not (tree.root / "build/adapters").exists()
    assert [call for call in tree.noted("cmake") if "--preset" in call] == ["cmake --preset dev", "cmake --build --preset dev"]
    assert not {"coq", "chromium"} & set((tree.root.parent / "installed").read_text().split())


@pytest.mark.parametrize("environment, presets, shown", [
    ({"SKIPPED": "t5"}, ["house"], "1 skipped without permission, 0 not collected"),
    ({"SKIPPED": "t7"}, ["house"], None),
    ({"SKIPPED": "t7"}, ["dev", "fuzz"], "1 skipped without permission, 0 not collected"),  # fuzz should run it
    ({"SKIPPED": "t88"}, ["dev", "asan"], "1 skipped without permission, 0 not collected"),
    ({"SKIPPED": "t95"}, ["asan", "dev"], "1 skipped without permission, 0 not collected"),
    ({"SKIPPED": "t85", "gcc": "0/90"}, ["gcc"], "1 skipped without permission, 0 not collected"),
    ({"LOST": "t5"}, ["house"], "0 skipped without permission, 1 not collected"),
    ({"LOST": "t5"}, ["gcc"], None),  # gcc has only some of the tests
    ({"dev": "0/101"}, ["dev"], "0 not collected, 1 not listed"),
])
def test_skipped_and_lost_tests_fail(tree, environment, presets, shown):
    done = tree.run("bash", "scripts/test", *presets, **GOOD | environment)
    if shown is None:
        assert done.returncode == 0 and "tests passed" in last(done), done.stdout
        return
    assert (done.returncode, last(done)) == (1, "no closing line: tests were skipped or lost, or are not listed"), done.stdout
    assert shown in done.stdout.splitlines()[-2] and "  %s\n" % environment.get("SKIPPED", environment.get("LOST", "t101")) in done.stdout


def test_changes_choose_the_tests(tree):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false", "-C", str(tree.root)]
    (tree.bin / "git").symlink_to(shutil.which("git"))
    (tree.root / "scripts/lib/affected.py").write_text("import sys\nopen(sys.argv[2], 'w').write('0,0,0,3\\n' if len(sys.argv[1]) == 40 else '')\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    done = tree.run("bash", "scripts/test", "--changed", changed="0/1")
    assert (done.returncode, last(done)) == (0, CLOSING % 1), done.stdout + done.stderr
    assert rows(done.stdout) == [("changed", "passed", "build, ctest")] and "-I %s/build/dev/changed.txt" % tree.root in tree.noted("ctest")[0]
    assert tree.run("bash", "scripts/test", "--changed", "HEAD", changed="0/1").returncode == 0
    done = tree.run("bash", "scripts/test", "--changed", "HEAD", changed="1/1")
    assert done.returncode == 1 and "'changed' failed (build, ctest). Again: scripts/test --changed HEAD\n" in done.stdout
    done = tree.run("bash", "scripts/test", "--changed", "nowhere")
    assert (done.returncode, done.stderr) == (2, "scripts/test: 'nowhere' is not a revision of this repository\n")


def test_a_failed_test_stops_the_run(tree):
    done = tree.run("bash", "scripts/test", "--all", **{**GOOD, "asan": "3/90"})
    assert done.returncode == 1
    assert rows(done.stdout)[-1] == ("asan", "FAILED", "build, ctest")
    assert "'asan' failed (build, ctest). Again: scripts/test asan\n" in done.stdout
    assert "ctest --preset asan --rerun-failed" in done.stdout
    assert last(done) == "98% tests passed, 3 tests failed out of 190"
    assert len(tree.noted("ctest")) == 2


@pytest.mark.parametrize("preset", ["asan", "gcc", "tidy"])
def test_a_failed_build_has_no_closing_line(tree, preset):
    done = tree.run("bash", "scripts/test", "--all", **GOOD, BROKEN=preset)
    assert done.returncode == 1
    assert "a.cc:1: error: expected ';'" in done.stderr
    assert "building '%s' failed; the whole log is in %s/build/%s/build.log" % (preset, tree.root, preset) in done.stderr
    assert "tests passed" not in done.stdout[done.stdout.index("preset   result"):]
    assert last(done) == "'%s' failed (build). Again: scripts/test %s" % (preset, preset)


def test_a_failed_check_of_fuzz_targets_fails(tree):
    done = tree.run("bash", "scripts/test", "--all", **GOOD, BROKEN="fuzz")
    assert done.returncode == 1
    assert "a.cc:1: error: expected ';'" in done.stderr
    assert tree.noted("oss_fuzz_check") == ["oss_fuzz_check --short --clusterfuzz"]
    assert rows(done.stdout)[-1] == ("fuzz", "FAILED", "checked as OSS-Fuzz does")
    assert last(done) == "'fuzz' failed (checked as OSS-Fuzz does). Again: scripts/test fuzz"


@pytest.mark.parametrize("environment", [
    {"dev": "0/-"},  # ctest printed no counts
    {"dev": "0/-", "CTEST_STATUS": "8"},  # ctest printed no counts and failed
    {"dev": "0/10", "CTEST_STATUS": "8"},  # ctest failed, but counted no failure
    {"dev": "1/10", "CTEST_STATUS": "0"},  # ctest passed, but counted a failure
])
def test_inconsistent_counts_give_no_closing_line(tree, environment):
    done = tree.run("bash", "scripts/test", "dev", **environment)
    assert done.returncode == 1
    assert last(done).startswith("no closing line: ") or "ctest did not finish" in done.stderr
    assert "tests passed" not in last(done)


def test_clang_tidy_warnings_fail(tree):
    warning = "a.cc:3:4: warning: variable is not initialized [cppcoreguidelines-init-variables]"
    done = tree.run("bash", "scripts/test", "tidy", WARNING=warning)
    assert done.returncode == 1
    assert warning in done.stderr


def test_presets_that_run_no_tests_claim_no_pass(tree):
    done = tree.run("bash", "scripts/test", "tidy", "release")
    assert done.returncode == 0
    assert last(done) == "no tests were counted: none of the presets given runs ctest"


@pytest.mark.parametrize("environment,message", [
    ({"TARGETS": ""}, "build/oss_fuzz/short/objects/secequiv/bin has no fuzz_* binary: nothing was fuzzed"),
    ({"TARGETS": "fuzz_a fuzz_b", "CRASH": "fuzz_b"}, "fuzz_b failed; the whole log is in"),
])
def test_failing_or_missing_fuzz_targets_fail(tree, environment, message):
    done = tree.run("bash", "scripts/test", "fuzz", **environment)
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize("arguments", [["nightly"], ["--quick"], ["--all", "gcc"], ["--all", "--changed"], ["--changed", "HEAD", "gcc"]])
def test_wrong_usage_builds_nothing(tree, arguments):
    done = tree.run("bash", "scripts/test", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("scripts/test: ")
    assert not tree.noted("cmake")


def test_gcc_alone_needs_no_clang(tree):
    tree.installed(GROUPS["gcc"])
    tree.user(1000)
    assert tree.run("bash", "scripts/test", "gcc", gcc="0/3").returncode == 0
    assert tree.run("bash", "scripts/test", "dev", "gcc", dev="0/3", gcc="0/3").returncode == 2


@pytest.mark.parametrize("environment,status,line", [
    (GOOD, 0, CLOSING % 274),
    ({**GOOD, "gcc": "1/80"}, 1, "99% tests passed, 1 tests failed out of 270"),
    ({**GOOD, "BROKEN": "asan"}, 1, "'asan' failed (build). Again: scripts/test asan"),
])
def test_ci_run_has_the_closing_line_and_status_of_its_tests(tree, environment, status, line):
    done = tree.run("bash", ".ci/run", **environment)
    assert (done.returncode, last(done)) == (status, line)
    assert done.stdout.count(line + "\n") == (2 if "tests passed" in line else 1)


@pytest.mark.parametrize("status", [0, 1, 2, 3, 4, 5])
def test_demo_has_the_exit_status_of_check(tree, status):
    tree.installed(GROUPS["demo"])
    done = tree.run("bash", "scripts/demo", "a b", "--json", CHECK_STATUS=str(status))
    assert done.returncode == status, done.stderr
    assert done.stdout == "<%s/build/release/bin/secequiv><check><a b><--json>" % tree.root
    assert tree.noted("cmake")[1:] == ["cmake --preset release -DSECEQUIV_TESTS=OFF",
                                       "cmake --build --preset release --target secequiv"]
    assert "[1/2] Building" in (tree.root / "build/release/build.log").read_text()
    assert "[1/2] Building" not in done.stderr


def test_demo_shows_why_the_build_failed(tree):
    done = tree.run("bash", "scripts/demo", BROKEN="release")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a.cc:1: error: expected ';'" in done.stderr


def test_demo_can_use_gcc_instead_of_clang(tree):
    tree.installed(GROUPS["gcc"])
    tree.user(1000)
    assert tree.run("bash", "scripts/demo").returncode == 2
    done = tree.run("bash", "scripts/demo", SECEQUIV_PRESET="gcc")
    assert done.stdout == "<%s/build/gcc/bin/secequiv><check>" % tree.root


@pytest.mark.parametrize("command", ["scripts/adapters", "scripts/demo", "scripts/package", "scripts/test", "scripts/check_format"])
def test_help_starts_with_the_usage(tree, command):
    done = tree.run("bash", command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: " + command)
    assert not tree.noted("cmake")


@pytest.fixture
def formatted(sandbox):
    for name in ("clang-format-19", "git"):
        (sandbox.bin / name).symlink_to(shutil.which(name))
    subprocess.run(["git", "init", "-q", str(sandbox.root)], check=True)
    (sandbox.root / ".clang-format").write_text("BasedOnStyle: Google\n")
    (sandbox.root / ".gitignore").write_text("/build/\n")
    (sandbox.root / "good one.cc").write_text("int x;\n")
    return sandbox


def test_check_format_finds_and_fixes_unformatted_files(formatted):
    done = formatted.run("bash", "scripts/check_format")
    assert (done.returncode, done.stdout) == (0, "check_format: 1 files formatted\n")
    bad = formatted.root / "sub" / "bad.h"
    bad.parent.mkdir()
    bad.write_text("int   y ;\n")
    done = formatted.run("bash", "scripts/check_format")
    assert done.returncode == 1
    assert "sub/bad.h:1:" in done.stderr and "scripts/check_format --fix" in done.stderr
    assert bad.read_text() == "int   y ;\n"
    assert formatted.run("bash", "scripts/check_format", "--fix").returncode == 0
    assert bad.read_text() == "int y;\n"
    assert formatted.run("bash", "scripts/check_format").returncode == 0


def test_check_format_leaves_out_ignored_and_deleted_files(formatted):
    for folder in ("build", "corpus"):
        (formatted.root / folder).mkdir()
        (formatted.root / folder / "bad.cc").write_text("int   y ;\n")
    (formatted.root / "gone.cc").write_text("int   y ;\n")
    subprocess.run(["git", "-C", str(formatted.root), "add", "gone.cc"], check=True)
    (formatted.root / "gone.cc").unlink()
    assert formatted.run("bash", "scripts/check_format").returncode == 0


def test_check_format_without_files_is_an_error(formatted):
    (formatted.root / "good one.cc").unlink()
    assert formatted.run("bash", "scripts/check_format").returncode == 2
    assert formatted.run("bash", "scripts/check_format", "--wrong").returncode == 2


def test_check_format_names_a_missing_clang_format(sandbox):
    done = sandbox.run("bash", "scripts/check_format")
    assert done.returncode == 2
    assert "apt-get install clang-format-19" in done.stderr
