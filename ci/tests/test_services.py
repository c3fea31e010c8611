"""Tests that the files for OSS-Fuzz and ClusterFuzzLite follow the services' rules and agree with each other, and runs build.sh with fake
commands."""
# This test also runs in the preset asan.

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from oss_fuzz import matrix  # noqa: E402

OSS_FUZZ, LITE = ROOT / "ci/oss-fuzz", ROOT / ".clusterfuzzlite"
PROJECT = yaml.safe_load((OSS_FUZZ / "project.yaml").read_text())


def docker(path):
    """Returns a pair (instruction, rest) for each line of a Dockerfile."""
    text = re.sub(r"\\\n", " ", path.read_text())
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line and not line.startswith("#")]


def test_both_services_have_the_same_files():
    assert sorted(path.name for path in OSS_FUZZ.iterdir()) == sorted(path.name for path in LITE.iterdir()) == ["Dockerfile", "build.sh", "project.yaml"]


def test_project_files_are_complete_and_agree():
    assert PROJECT["language"] == "c++"
    assert PROJECT["main_repo"].startswith("https://") and PROJECT["homepage"].startswith("https://")
    assert re.fullmatch(r"[a-z0-9_-]+", PROJECT["main_repo"].rsplit("/", 1)[1])
    assert "@" in PROJECT["primary_contact"]
    lite = yaml.safe_load((LITE / "project.yaml").read_text())
    assert lite == {key: PROJECT[key] for key in ("language", "base_os_version")}


def test_configurations_of_the_service_are_checked_here():
    checked = {each for each in matrix.MATRIX if each.sanitizer not in ("coverage", "none")}
    assert set(PROJECT["fuzzing_engines"]) == {each.engine for each in checked}
    assert set(PROJECT["sanitizers"]) == {each.sanitizer for each in checked}
    assert set(PROJECT["architectures"]) == {each.architecture for each in checked}


def test_images_install_the_same_packages():
    ours, lite = docker(OSS_FUZZ / "Dockerfile"), docker(LITE / "Dockerfile")
    base = "gcr.io/oss-fuzz-base/base-builder:" + PROJECT["base_os_version"]
    for lines in (ours, lite):
        assert lines[0] == ("FROM", base)
        assert lines[-1] == ("WORKDIR", "$SRC/secequiv")
    assert ours[1] == lite[1] and ours[1][0] == "RUN" and "libfmt-dev" in ours[1][1] and "nlohmann-json3-dev" in ours[1][1]
    assert ("RUN", 'git clone --depth 1 %s "$SRC/secequiv"' % PROJECT["main_repo"]) in ours
    assert ("COPY", ". $SRC/secequiv") in lite
    assert ("COPY", "build.sh $SRC/") in ours and ("COPY", ".clusterfuzzlite/build.sh $SRC/") in lite


def test_both_services_use_one_build_script():
    lite = [line for line in (LITE / "build.sh").read_text().splitlines() if not line.startswith("#")]
    assert lite == ['exec bash "$SRC/secequiv/ci/oss-fuzz/build.sh"']
    for folder in (OSS_FUZZ, LITE):
        assert os.access(folder / "build.sh", os.X_OK)
    text = (OSS_FUZZ / "build.sh").read_text()
    assert "-march" not in text and "sanitize" not in text
    assert not re.search(r"fuzz_(?!\*|seeds|pair\b)", re.sub(r"#.*", "", text))  # the script has no list of targets


@pytest.fixture
def builder(tmp_path):
    """Runs build.sh with a cmake that makes the targets fuzz_a and fuzz_b, and seeds for them."""
    for name in ("src", "work", "out", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "src/secequiv").symlink_to(ROOT)
    fake = tmp_path / "bin/cmake"
    fake.write_text("""#!/usr/bin/env bash
echo "$*" >>"$WORK/calls"
if [ "$1" = --build ]; then
  mkdir -p "$2/bin"
  echo a >"$2/bin/fuzz_a"
  echo b >"$2/bin/fuzz_b"
  echo c >"$2/bin/vectors"
  printf '#!/usr/bin/env bash\\necho "$PWD: $*" >>"$WORK/seeds-calls"\\nmkdir -p "$1/fuzz_a_seed_corpus/deeper"\\necho 1 >"$1/fuzz_a_seed_corpus/one"\\n' >"$2/bin/fuzz_seeds"
  printf 'echo 2 >"$1/fuzz_a_seed_corpus/deeper/two words"\\nmkdir "$1/fuzz_b_seed_corpus"\\necho 3 >"$1/fuzz_b_seed_corpus/3"\\n' >>"$2/bin/fuzz_seeds"
  printf 'echo "[libfuzzer]" >"$1/fuzz_a.options"\\nexit ${SEEDS_STATUS-0}\\n' >>"$2/bin/fuzz_seeds"
  chmod +x "$2/bin/"*
fi
exit ${CMAKE_STATUS-0}
""")
    fake.chmod(0o755)

    def run(script=OSS_FUZZ / "build.sh", **more):
        variables = {"PATH": "%s:%s" % (tmp_path / "bin", os.environ["PATH"]), "SRC": str(tmp_path / "src"), "WORK": str(tmp_path / "work"),
                     "OUT": str(tmp_path / "out"), "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer", **more}
        return subprocess.run(["bash", "-eu", str(script)], env=variables, cwd=str(tmp_path / "src/secequiv"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    return tmp_path, run


@pytest.mark.parametrize("script", [OSS_FUZZ / "build.sh", LITE / "build.sh"])
def test_the_build_script_stores_every_target_with_seeds(builder, script):
    folder, run = builder
    for _ in range(2):  # a second run, in the same folders, changes nothing
        done = run(script)
        assert done.returncode == 0, done.stdout
        out = folder / "out"
        assert sorted(path.name for path in out.iterdir()) == [
            "fuzz_a", "fuzz_a.options", "fuzz_a_seed_corpus.zip", "fuzz_b", "fuzz_b_seed_corpus.zip"]
        with zipfile.ZipFile(out / "fuzz_a_seed_corpus.zip") as archive:
            assert sorted(info.filename for info in archive.infolist() if not info.is_dir()) == ["deeper/two words", "one"]
    configured, built = (folder / "work/calls").read_text().splitlines()[:2]
    for option in ("-DSECEQUIV_FUZZING_ENGINE=-fsanitize=fuzzer", "-DSECEQUIV_Z3=OFF", "-DSECEQUIV_TESTS=OFF"):
        assert option in configured.split()
    assert built == "--build %s --target fuzz/all" % (folder / "work/secequiv")
    assert (folder / "work/seeds-calls").read_text().splitlines()[0] == "%s: %s %s/secequiv/corpus" % (folder / "work", folder / "out", folder / "src")


@pytest.mark.parametrize("variables", [{"CMAKE_STATUS": "1"}, {"SEEDS_STATUS": "2"}])
def test_a_failed_step_fails_the_build(builder, variables):
    assert builder[1](**variables).returncode != 0
