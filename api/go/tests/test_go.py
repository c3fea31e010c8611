"""Runs the Go module's own tests with this build's command line, and tests of another module that uses it."""
# Annex: languages

import os
import re
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "api" / "tests"))

import api_build  # noqa: E402
from api_build import BUILD, passes_go_tests  # noqa: E402

MODULE = ROOT / "api" / "go"
SECEQUIV = BUILD / "bin" / "secequiv"
GO_MOD = """module example.com/sandbox

go 1.21

require github.com/secequiv/secequiv/api/go v0.0.0

replace github.com/secequiv/secequiv/api/go => %s
""" % MODULE
TESTS = """package sandbox

import (
	"fmt"
	"os"
	"testing"
	"time"

	. "github.com/secequiv/secequiv/api/go/secequivtest"
)

var _, _, _ = fmt.Sprint, os.Getpid, time.Now

func same(program []Insn) []Insn { return program }

"""


def go_test(folder, *options, cgo="0", secequiv=SECEQUIV):
    return api_build.go_test(folder, *options, SECEQUIV=str(secequiv), CGO_ENABLED=cgo)


def module_with(tests, folder):
    folder.mkdir()
    (folder / "go.mod").write_text(GO_MOD)
    (folder / "sandbox_test.go").write_text(TESTS + tests)
    return folder


def test_only_an_older_go_is_a_reason_to_skip(tmp_path):
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.9999.0\n")
    with pytest.raises(pytest.skip.Exception, match="older than"):
        go_test(tmp_path, ".")
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.21\n\nrequire example.com/newer v1.0.0\n")
    (tmp_path / "it_test.go").write_text('package m\n\nimport (\n\t"testing"\n\n\t_ "example.com/newer"\n)\n\nfunc TestIt(t *testing.T) {}\n')
    with pytest.raises(AssertionError):
        passes_go_tests(go_test(tmp_path, "-v", "."), 1)
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.21\n")
    (tmp_path / "it_test.go").write_text('package m\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {}\n\nfunc TestOther(t *testing.T) { t.Skip() }\n')
    with pytest.raises(AssertionError):
        passes_go_tests(go_test(tmp_path, "-v", "."), 1)


@pytest.mark.full
def test_the_go_module_passes_its_tests():
    done = go_test(MODULE, "-count=1", "-vet=all", "-v", "./...")
    passes_go_tests(done, 22)


ALLOW, ERRNO, FREE = "ret #0x7fff0000\n", "ret #0x50001\n", "; comment\nret #0x50001\n"
READ = "getpid: 1\n@include ./more/read\n"
CACHED = r'''
func TestFiles(t *testing.T) {
	Refines(t, "../allow.asm", "../errno.asm")
	Refines(t, "../old.policy", "../new.policy")
	Optimizer(t, same, Programs("../programs"), Trials(5))
}

func TestFilesInTheModule(t *testing.T) {
	Refines(t, "testdata/allow.asm", "testdata/errno.asm")
}
'''


def put(path, text):
    """Writes a file as if it were old, because `go test` never caches a test that opened a file younger than two seconds."""
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    put.age += 60
    os.utime(path, (put.age, put.age))


put.age = 1600000000


@pytest.mark.full
@pytest.mark.parametrize("changed, text, passes", [
    ("errno.asm", ALLOW, True), ("allow.asm", ERRNO, True), ("allow.asm", "ret #0\n", False), ("new.policy", READ + "write: 1\n", False),
    ("more/read", "read: 1\nwrite: 1\n", True), ("programs/inner/b.asm", FREE, True), ("programs/c.asm", FREE, True),
    ("module/testdata/allow.asm", "ret #0\n", False), ("secequiv", "#!/bin/sh\nexit 2\n", False)])
def test_changed_files_are_not_answered_from_the_cache(tmp_path, changed, text, passes):
    """All files except those in testdata are outside the module. `go test` itself looks for changes only inside the module."""
    module = module_with(CACHED, tmp_path / "module")
    for folder in (tmp_path, module / "testdata"):
        put(folder / "allow.asm", ALLOW)
        put(folder / "errno.asm", ERRNO)
    for name, old in (("old.policy", READ), ("new.policy", READ), ("more/read", "read: 1\n"), ("programs/a.asm", ALLOW), ("programs/inner/b.asm", ERRNO),
                      ("secequiv", '#!/bin/sh\nexec "%s" "$@"\n' % SECEQUIV)):
        put(tmp_path / name, old)
    (tmp_path / "secequiv").chmod(0o755)
    for cached in (False, True):
        done = go_test(module, ".", secequiv=tmp_path / "secequiv")
        assert done.returncode == 0 and ("(cached)" in done.stdout) == cached, done.stdout
    put(tmp_path / changed, text)
    done = go_test(module, ".", secequiv=tmp_path / "secequiv")
    assert "(cached)" not in done.stdout and (done.returncode == 0) == passes, done.stdout


RACE = r'''
var shared int

func TestRace(t *testing.T) {
	Optimizer(t, func(program []Insn) []Insn {
		done := make(chan bool)
		go func() {
			shared++
			done <- true
		}()
		shared++
		<-done
		return program
	}, Trials(20))
}

func TestRaceAfterTheLastAnswer(t *testing.T) {
	t.Cleanup(func() {
		if os.Getenv("SECEQUIVTEST_SERVE") != "" {
			go func() { shared++ }()
			shared++
			time.Sleep(100 * time.Millisecond)
		}
	})
	Optimizer(t, same, Trials(20))
}
'''


@pytest.mark.full
def test_data_races_in_optimizers_fail(tmp_path):
    module = module_with(RACE, tmp_path / "module")
    for name, how in (("TestRace", "exited with status 66 without an answer"), ("TestRaceAfterTheLastAnswer", "after its last answer (exit status 66")):
        done = go_test(module, "-count=1", "-race", "-run=^%s$" % name, cgo="1")
        assert done.returncode == 1 and how in done.stdout, done.stdout
        assert re.search(r"WARNING: DATA RACE\n +(Read|Write) at .*\n(.*\n)*?.*sandbox_test.go:\d+", done.stdout), done.stdout
        assert "ownTrace" not in done.stdout


ENDLESS = r'''
func TestEndless(t *testing.T) {
	if os.Getenv("SECEQUIVTEST_SERVE") == "" {
		go func() {
			for _, err := os.Stat("../copy"); err != nil; _, err = os.Stat("../copy") {
				time.Sleep(time.Millisecond)
			}
			panic("like go test -timeout")
		}()
	}
	Optimizer(t, func(program []Insn) []Insn {
		os.WriteFile("../new", fmt.Appendln(nil, os.Getpid()), 0o600)
		os.Rename("../new", "../copy")
		for {
		}
	}, RequestTimeout(time.Hour))
}
'''


@pytest.mark.full
def test_no_process_remains_after_a_test_that_ended_early(tmp_path):
    module = module_with(ENDLESS, tmp_path / "module")
    script = tmp_path / "secequiv"
    script.write_text('#!/bin/sh\necho $$ > "%s/tool"\nexec "%s" "$@"\n' % (tmp_path, SECEQUIV))
    script.chmod(0o755)
    done = go_test(module, "-count=1", secequiv=script)
    assert "panic: like go test -timeout" in done.stdout, done.stdout
    processes = [Path("/proc", (tmp_path / name).read_text().strip()) for name in ("tool", "copy")]
    deadline = time.monotonic() + 60
    while any(each.exists() for each in processes):
        assert time.monotonic() < deadline, processes
        time.sleep(0.05)
