"""Tests scripts/lib/setup.sh with fake dpkg-query, apt-get, sudo and id commands."""

import pytest

BUILD = ["cmake", "ninja-build", "libfmt-dev", "nlohmann-json3-dev", "libcli11-dev", "libz3-dev", "libcadical-dev", "libgmp-dev", "libbpf-dev", "libmd-dev"]
TEST = ["g++", "libboost-dev", "libgtest-dev", "libbenchmark-dev", "libseccomp-dev", "libpcap-dev", "python3", "python3-pytest", "python3-jsonschema", "python3-yaml", "python3-pip", "git", "cadical",
        "cpio", "crun", "groff-base", "make", "pkg-config", "strace"]
CLANG = ["clang-19", "libclang-rt-19-dev", "lld-19", "clang-format-19"]
OSS_FUZZ = ["afl++", "g++-multilib", "libc++-19-dev", "libc++abi-19-dev", "llvm-19"]
BROWSER = ["chromium", "chromium-driver", "python3-selenium"]
WHEEL = ["cmake", "ninja-build", "libfmt-dev", "nlohmann-json3-dev", "libcli11-dev", "libz3-dev", "libbpf-dev", "libmd-dev", "libboost-dev", "python3", "python3-pip",
         "python3-setuptools", "python3-wheel", "python3-venv"]
KERNELS = ["clang-19", "lld-19", "qemu-system-arm", "qemu-system-misc"]
WASM = ["cmake", "ninja-build", "clang-19", "lld-19", "llvm-19", "wasi-libc", "libc++-19-dev-wasm32", "libc++abi-19-dev-wasm32", "libclang-rt-19-dev-wasm32",
        "binaryen", "libfmt-dev", "nlohmann-json3-dev", "libboost-dev", "python3"]
GROUPS = {"wheel": WHEEL, "wasm": WASM, "browser": BROWSER, "kernels": KERNELS, "kernels_all": KERNELS + ["qemu-system-mips", "qemu-system-ppc", "qemu-system-x86", "qemu-user"], "proved": ["coq", "ocaml"], "oss_fuzz": OSS_FUZZ, "demo": ["clang-19", "libclang-rt-19-dev", "lld-19"] + BUILD, "package": ["clang-19", "libclang-rt-19-dev", "lld-19"] + BUILD + ["dpkg-dev", "file"], "gcc": BUILD + TEST, "all": CLANG + BUILD + TEST}

APT = "apt-get -o DPkg::Lock::Timeout=600 "
HELD = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 77 (apt-get)"


def require(sandbox, *groups, **environment):
    return sandbox.run("bash", "-c", 'set -euo pipefail; . scripts/lib/setup.sh; setup_require "$@"', "-", *groups,
                       **environment)


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_nothing_missing_means_no_apt(sandbox, group):
    sandbox.installed(GROUPS[group])
    done = require(sandbox, group)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "set-up: all %d packages needed are installed\n" % len(GROUPS[group])
    assert done.stdout == ""
    assert not sandbox.noted("apt-get") and not sandbox.noted("apt-cache")


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_a_single_missing_package_is_an_error(sandbox, group):
    sandbox.user(1000)
    for package in GROUPS[group]:
        sandbox.installed([name for name in GROUPS[group] if name != package])
        done = require(sandbox, group)
        assert done.returncode == 2
        assert "missing (Debian and Ubuntu package names):\n  %s\n" % package in done.stderr


def test_without_root_and_sudo_missing_packages_are_listed(sandbox):
    sandbox.user(1000)
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev", "libz3-dev"})
    done = require(sandbox, "demo")
    assert done.returncode == 2
    assert done.stderr == (
        "set-up: not root, and there is no sudo: nothing was installed\n"
        "set-up: missing (Debian and Ubuntu package names):\n"
        "  libfmt-dev\n"
        "  libz3-dev\n"
        "set-up: as root: apt-get update && apt-get install --no-install-recommends libfmt-dev libz3-dev\n")
    assert not sandbox.noted("apt-get")


def test_half_removed_packages_are_missing(sandbox):
    sandbox.user(1000)
    sandbox.installed(set(GROUPS["demo"]) - {"libz3-dev"})
    (sandbox.root.parent / "installed").open("a").write("config-files libz3-dev\n")
    assert "\n  libz3-dev\n" in require(sandbox, "demo").stderr


@pytest.mark.parametrize("user", [0, 1000])
def test_missing_packages_are_installed(sandbox, user):
    sandbox.user(user)
    sandbox.fake("sudo", '[ "$1" = -n ] && shift; exec "$@"')
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev", "ninja-build"})
    done = require(sandbox, "demo")
    assert done.returncode == 0, done.stderr
    assert sandbox.noted("apt-get") == [
        APT + "-q update", APT + "-q -y install --no-install-recommends ninja-build libfmt-dev"]
    assert len(sandbox.noted("sudo")) == (2 if user else 0)
    assert all("DEBIAN_FRONTEND=noninteractive" in call for call in sandbox.noted("sudo"))
    assert "set-up: installing ninja-build libfmt-dev\n" in done.stderr
    assert done.stdout == ""


def test_a_failed_installation_is_an_error(sandbox):
    sandbox.user(0)
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev"})
    sandbox.fake("apt-get", '[[ " $* " != *" install "* ]]')
    done = require(sandbox, "demo")
    assert done.returncode == 2
    assert "apt-get install failed" in done.stderr and "\n  libfmt-dev\n" in done.stderr


@pytest.mark.parametrize("step", ["update", "install"])
def test_setup_waits_while_another_program_holds_a_lock(sandbox, step):
    sandbox.user(0)
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev"})
    real = (sandbox.bin / "apt-get").read_text().split("\n", 2)[2]
    locked = sandbox.root.parent / "locked"
    locked.write_text("")
    sandbox.fake("apt-get", 'if [[ " $* " == *" %s "* && -e %s ]]; then echo "%s" >&2; exit 100; fi\n%s' % (step, locked, HELD, real))
    sandbox.fake("sleep", '[ "$(grep -c ^sleep %s)" -lt 3 ] || rm -f %s' % (sandbox.calls, locked))
    done = require(sandbox, "demo")
    assert done.returncode == 0, done.stderr
    assert sandbox.noted("sleep") == ["sleep 5"] * 3
    assert done.stderr.count("another program holds the lock") == 1
    assert len([call for call in sandbox.noted("apt-get") if step in call.split()]) == 4


def test_a_lock_that_is_never_released_is_an_error(sandbox):
    sandbox.user(0)
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev"})
    sandbox.fake("apt-get", 'echo "%s" >&2; exit 100' % HELD)
    sandbox.fake("sleep", "")
    done = require(sandbox, "demo")
    assert done.returncode == 2
    assert "apt-get update failed" in done.stderr and done.stderr.count(HELD) == 1
    assert len(sandbox.noted("sleep")) == 120


def test_an_installation_that_changes_nothing_is_an_error(sandbox):
    sandbox.user(0)
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev"})
    sandbox.fake("apt-get", "")
    done = require(sandbox, "demo")
    assert done.returncode == 2
    assert "still missing after the installation" in done.stderr and "\n  libfmt-dev\n" in done.stderr


def test_a_distribution_without_clang_19_gets_advice(sandbox):
    sandbox.user(0)
    sandbox.installed(set(GROUPS["all"]) - set(CLANG))
    done = require(sandbox, "all", UNKNOWN="clang-19 clang-format-19")
    assert done.returncode == 2
    assert "not in this system's package lists: clang-19 clang-format-19; nothing was installed" in done.stderr
    assert "SECEQUIV_PRESET=gcc scripts/demo, and scripts/test gcc" in done.stderr
    assert sandbox.noted("apt-get") == [APT + "-q update"]


def test_other_unknown_packages_do_not_mention_clang(sandbox):
    sandbox.user(0)
    sandbox.installed(set(GROUPS["demo"]) - {"libfmt-dev"})
    done = require(sandbox, "demo", UNKNOWN="libfmt-dev")
    assert done.returncode == 2
    assert "package lists: libfmt-dev;" in done.stderr and "gcc" not in done.stderr


def test_other_systems_get_a_list_of_missing_tools(sandbox):
    done = require(sandbox, "demo")
    assert done.returncode == 2
    assert done.stderr.startswith("set-up: this system has no apt-get, so nothing was installed\n")
    for package in GROUPS["demo"]:
        assert ("\n  %s\n" % package in done.stderr) == (package != "cmake"), done.stderr
    assert "install your system's counterparts of these packages" in done.stderr


def test_other_systems_with_all_tools_pass(sandbox):
    (sandbox.root / "lib").mkdir()
    (sandbox.root / "lib" / "libclang_rt.asan.a").write_text("")
    sandbox.fake("clang++-19", 'echo "%s"' % sandbox.root)  # compiles everything, and prints where its libraries are
    sandbox.fake("ninja", "")
    done = require(sandbox, "demo")
    assert done.returncode == 0, done.stderr
    assert len(sandbox.noted("clang++-19")) == 10  # one call for each header, one for the folder, and one for lld


def test_an_old_cmake_is_refused(sandbox):
    sandbox.installed(GROUPS["demo"])
    for version, status in (("3.22.1", 2), ("3.9.0", 2), ("3.23.0", 0), ("3.100.0", 0), ("4.0.1", 0)):
        sandbox.fake("cmake", 'echo "cmake version %s"' % version)
        done = require(sandbox, "demo")
        assert done.returncode == status, version
        assert ("cmake %s is too old: 3.23 or newer" % version in done.stderr) == (status == 2)


def test_an_unknown_group_is_an_error(sandbox):
    sandbox.installed(GROUPS["all"])
    assert require(sandbox, "everything").returncode == 2
