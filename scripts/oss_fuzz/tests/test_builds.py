"""Tests the builder and the build check on small real targets: a correct one, and one for each fault."""
# Annex: packaging

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from oss_fuzz import artifacts, check, matrix, runs, sandbox, toolchain

ADDRESS = matrix.SHORT
LIMITS = check.Limits(runs=50, afl_seconds=1)


# This target has enough edges and accesses to count as instrumented. The name of its file selects its fault.
SOURCE = """
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#define ONE(n) if (size > n && data[n] == n) counts[data[n] % 64] = n;
#define TEN(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3) ONE(n + 4) ONE(n + 5) ONE(n + 6) ONE(n + 7) ONE(n + 8) ONE(n + 9)
#define ALL TEN(0) TEN(10) TEN(20) TEN(30) TEN(40) TEN(50) TEN(60) TEN(70) TEN(80) TEN(90)
static volatile int* counts;
static std::string name;
static void need(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\\n", name.c_str(), what);
  std::exit(3);
}
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string self = (*argv)[0];
  name = self.substr(self.rfind('/') + 1);
  counts = new int[64]();
  std::string path(4096, 0);
  if (FILE* file = std::fopen((self + ".data").c_str(), "r")) {
    path.resize(std::fread(&path[0], 1, path.size(), file));
    std::fclose(file);
  }
  if (name == "reads") {
    FILE* file = std::fopen(path.c_str(), "r");
    need(file != nullptr, "its file is gone");
    std::fclose(file);
  }
  if (name == "writes") need(std::fopen("written", "w") != nullptr, "cannot write");
  if (name == "temporary") need(std::fopen("/tmp/written", "w") != nullptr, "cannot write to /tmp");
  return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ALL
  if (name == "seed" && size == 7 && std::memcmp(data, "crashes", 7) == 0) std::abort();
  return 0;
}
"""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Returns a function that builds a target with the given flags, once for each list of flags."""
    folder, built = tmp_path_factory.mktemp("compiled"), {}
    (folder / "target.cc").write_text(SOURCE)

    def build(*flags):
        if flags not in built:
            built[flags] = folder / str(len(built))
            subprocess.run([toolchain.CXX, "-O1", "-std=c++20", *flags, str(folder / "target.cc"), "-o", str(built[flags])], check=True)
        return built[flags]

    return build


GOOD = ("-fsanitize=address,fuzzer", "-static-libstdc++")


@pytest.fixture
def tree(tmp_path):
    """Returns a source tree with a build.sh that copies the content of its folder `files`."""
    root = tmp_path / "tree"
    (root / "ci/oss-fuzz").mkdir(parents=True)
    (root / "files").mkdir()
    (root / "ci/oss-fuzz/build.sh").write_text('cp "$SRC"/secequiv/files/* "$OUT"/\n')
    return root


def add(tree, name, binary, seeds=("some seed",)):
    shutil.copy(binary, tree / "files" / name)
    with zipfile.ZipFile(tree / "files" / (name + "_seed_corpus.zip"), "w") as archive:
        for number, seed in enumerate(seeds):
            archive.writestr(str(number), seed)


def problems_of(tree, configuration=ADDRESS, isolate=True):
    """Builds the tree and checks it; returns (problems, figures)."""
    folder = tree.parent / "build"
    out = check.build(tree, folder, {"VARIABLE": "value"})
    scratch = tree.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    place = sandbox.Sandbox(out, scratch, tree, isolate)
    if isolate and not place.isolated:
        pytest.skip("no mount namespaces")
    return check.examine(out, configuration, place, LIMITS)


@pytest.mark.parametrize("isolate", [True, False])
def test_a_correct_target_passes(tree, compiled, isolate):
    add(tree, "good", compiled(*GOOD))
    if isolate:
        add(tree, "temporary", compiled(*GOOD))  # it writes to /tmp, which only the sandbox replaces
    (tree / "files/good.options").write_text("[libfuzzer]\nmax_len=50\n[env]\nA=b\n")
    (tree / "files/good.dict").write_text('a="b"\n')
    problems, figures = problems_of(tree, isolate=isolate)
    assert problems == []
    assert figures["good"]["edges"] >= 100 and figures["good"]["asan"] >= 1000
    assert not (tree.parent / "build/out").exists()


@pytest.mark.parametrize("where", ["tree", "objects", "out"])
def test_targets_that_need_the_build_folder_are_found(tree, compiled, where):
    add(tree, "reads", compiled(*GOOD))
    folder = {"tree": tree, "objects": tree.parent / "build/objects", "out": tree.parent / "build/out"}[where]
    (tree / "ci/oss-fuzz/build.sh").write_text('cp "$SRC"/secequiv/files/* "$OUT"/\ntouch %s/here\nprintf %%s %s/here >"$OUT/reads.data"\n'
                                               % (folder, folder))
    problems, _ = problems_of(tree)
    assert len(problems) == 1 and "does not start and run 4 inputs (status 3)" in problems[0] and "its file is gone" in problems[0]


def test_targets_that_write_outside_tmp_are_found(tree, compiled):
    add(tree, "writes", compiled(*GOOD))
    problems, _ = problems_of(tree)
    assert len(problems) == 1 and "cannot write" in problems[0]


def test_a_seed_that_crashes_is_found(tree, compiled):
    add(tree, "seed", compiled(*GOOD), seeds=("a", "crashes"))
    problems, _ = problems_of(tree)
    assert any(problem.startswith("seed: its seeds: status ") for problem in problems)


def test_an_option_that_libfuzzer_does_not_know_is_found(tree, compiled):
    add(tree, "good", compiled(*GOOD))
    (tree / "files/good.options").write_text("[libfuzzer]\nmax_lenn=50\n")
    problems, _ = problems_of(tree)
    assert problems and all("libFuzzer does not know -max_lenn=50" in problem for problem in problems)


def test_a_shared_library_is_found(tree, compiled):
    add(tree, "good", compiled("-fsanitize=address,fuzzer"))
    problems, _ = problems_of(tree)
    assert problems == ["good: needs the shared library libstdc++.so.6, which the runner lacks"]


def test_a_missing_sanitizer_is_found(tree, compiled):
    add(tree, "good", compiled("-fsanitize=fuzzer", "-static-libstdc++"))
    problems, figures = problems_of(tree)
    assert len(problems) == 1 and "expected at least 1000 in a target that is compiled with it" in problems[0]
    assert figures["good"]["asan"] < 1000


def test_missing_coverage_is_found(tree, compiled, tmp_path):
    plain = tmp_path / "plain.o"
    subprocess.run([toolchain.CXX, "-O1", "-std=c++20", "-fsanitize=address", "-c", str(compiled(*GOOD).parent / "target.cc"), "-o", str(plain)], check=True)
    few = tmp_path / "few"
    subprocess.run([toolchain.CXX, *GOOD, str(plain), "-o", str(few)], check=True)
    add(tree, "good", few)
    problems, _ = problems_of(tree)
    assert len(problems) == 1 and ("no interesting inputs were found" in problems[0] or "instrumented edges, expected" in problems[0])


def test_a_build_without_targets_is_found(tree):
    (tree / "files/readme").write_text("nothing")
    assert problems_of(tree)[0] == ["no fuzz target: no executable has LLVMFuzzerTestOneInput"]


def test_a_target_for_another_architecture_is_found(tree, compiled):
    add(tree, "good", compiled(*GOOD))
    problems, _ = problems_of(tree, ADDRESS._replace(architecture="i386"))
    assert problems == ["good: not built for i386 (ELF machine 62, not 3)"]


def test_a_failed_build_shows_its_log(tree, tmp_path):
    (tree / "ci/oss-fuzz/build.sh").write_text("echo a.cc:1: error: no\nfalse\necho not reached\n")
    with pytest.raises(check.Failed, match="status 1; the whole log is in .*build.log\n    | a.cc:1: error: no"):
        check.build(tree, tmp_path / "build", {})


def test_changed_variables_start_a_new_build(tree, tmp_path):
    (tree / "ci/oss-fuzz/build.sh").write_text('echo "$SRC $FLAGS" >>"$WORK/seen"\ncp "$WORK/seen" "$OUT/seen"\n')

    def lines(flags):
        return len((check.build(tree, tmp_path / "build", {"FLAGS": flags}) / "seen").read_text().splitlines())

    assert [lines("a"), lines("a"), lines("b"), lines("b")] == [1, 2, 1, 2]


def test_a_whole_configuration_passes(tree, compiled, tmp_path):
    (tree / "files/target.cc").write_text(SOURCE)
    (tree / "ci/oss-fuzz/build.sh").write_text(
        '$CXX $CXXFLAGS $LDFLAGS -std=c++20 files/target.cc -o "$OUT/good" $LIB_FUZZING_ENGINE\n'
        'mkdir "$WORK/seeds"\necho seed >"$WORK/seeds/one"\ncd "$WORK/seeds"\npython3 -m zipfile -c "$OUT/good_seed_corpus.zip" .\n')
    result = check.check(tree, ADDRESS, tmp_path / "built/short", LIMITS, plain=True)
    assert (result.result, result.problems) == (check.PASSED, ())
    assert result.figures["good"]["edges"] >= 100


def test_missing_tools_never_pass(tree, tmp_path, monkeypatch):
    configuration = ADDRESS._replace(engine="honggfuzz")
    result = check.check(tree, configuration, tmp_path / "built/x", LIMITS)
    assert (result.result, result.problems) == (check.NOT_AVAILABLE, ("Debian has no package of honggfuzz",))
    memory = check.check(tree, ADDRESS._replace(sanitizer="memory"), tmp_path / "built/y", LIMITS)
    assert memory.result == check.NOT_AVAILABLE and "--libcxx" in memory.problems[0]
    monkeypatch.setattr(toolchain, "AFL", tmp_path)
    afl = check.check(tree, ADDRESS._replace(engine="afl"), tmp_path / "built/z", LIMITS)
    assert afl.result == check.NOT_AVAILABLE and "Debian: afl++" in afl.problems[0]


def test_a_compiler_that_cannot_build_the_probe_is_not_available(tmp_path):
    with pytest.raises(toolchain.NotAvailable, match="error"):
        toolchain.probe({"CXX": toolchain.CXX, "CXXFLAGS": "-isystem /none -include no-such-file.h", "LDFLAGS": "", "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
                         "SANITIZER": "address"}, tmp_path / "probe")


def test_afl_runs_a_target(tree, compiled, tmp_path):
    if shutil.which("afl-fuzz") is None or not (toolchain.AFL / "libAFLDriver.a").exists():
        pytest.skip("no afl++")
    engine = toolchain.afl_engine(tmp_path / "engine")
    good = compiled("-fsanitize=address", "-fsanitize-coverage=trace-pc-guard", "-static-libstdc++", "-Wl,%s" % engine)
    configuration = ADDRESS._replace(engine="afl")
    seed = bytes(range(100))
    add(tree, "good", good, seeds=(seed,))
    problems, figures = problems_of(tree, configuration)
    assert problems == [] and figures["good"]["edges"] >= runs.LEAST_EDGES
    blind = compiled("-fsanitize=address", "-static-libstdc++", "-Wl,%s" % engine)
    add(tree, "good", blind, seeds=(seed,))
    problems, _ = problems_of(tree, configuration)
    assert len(problems) == 1 and ("afl-fuzz does not start" in problems[0] or "according to afl-showmap" in problems[0])


def test_covered_lines_are_counted():
    def row(name, count, covered):
        return '{"filename": "%s", "summary": {"lines": {"count": %d, "covered": %d}}}' % (name, count, covered)

    text = '{"data": [{"files": [%s, %s, %s]}]}' % (row("/src/secequiv/harness/a.cc", 10, 4), row("/src/secequiv/fuzz/b.cc", 5, 5), row("/usr/include/x", 7, 7))
    assert runs.covered_lines(text) == (15, 9)
    assert runs.covered_lines("warning: none") == (0, 0)
    assert runs.covered_lines('{"data": [{}]}') == (0, 0)


def test_sandbox_kills_hanging_commands(tmp_path):
    for name in ("out", "scratch", "hidden"):
        (tmp_path / name).mkdir()
    place = sandbox.Sandbox(tmp_path / "out", tmp_path / "scratch", tmp_path / "hidden")
    done = place.run(["sleep", "60"], timeout=1)
    assert done.returncode != 0 and "stopped after 1 s" in done.stdout


def test_the_sandbox_hides_and_protects_files(tmp_path):
    for name in ("out", "scratch"):
        (tmp_path / name).mkdir()
    place = sandbox.Sandbox(tmp_path / "out", tmp_path / "scratch", "/usr/share")  # stands for a source tree outside /tmp
    if not place.isolated:
        pytest.skip("no mount namespaces")
    assert Path("/usr/share").is_dir() and list(Path("/usr/share").iterdir())
    assert place.run(["ls", "-A", "/usr/share"]).stdout == ""
    for folder in ("/usr/share", "/var", "/", str(place.out)):
        assert "Read-only file system" in place.run(["touch", folder + "/written"], {"LC_ALL": "C"}).stdout
    assert place.run(["touch", "/tmp/written"]).returncode == 0
    assert (tmp_path / "scratch/written").exists() and not Path("/tmp/written").exists()


def test_targets_are_found_as_the_service_finds_them(compiled, tmp_path):
    shutil.copy(compiled(*GOOD), tmp_path / "good")
    assert [path.name for path in artifacts.targets(tmp_path)] == ["good"]
    assert Path(compiled(*GOOD)).exists()


def test_a_target_that_is_no_longer_built_is_not_shipped(tree):
    (tree / "ci/oss-fuzz/build.sh").write_text('bin=$WORK/secequiv/bin\nmkdir -p "$bin"\ncp "$SRC"/secequiv/files/* "$bin"/\ncp "$bin"/* "$OUT"/\n')
    for name in ("fuzz_old", "fuzz_new"):
        for path in (tree / "files").iterdir():
            path.unlink()
        (tree / "files" / name).write_text("")
        assert [path.name for path in check.build(tree, tree.parent / "build", {}).iterdir()] == [name]
