"""Compares the Rust crate with the C interface, and runs its own tests with this build's library and command line."""
# Annex: languages

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "api" / "tests"))

from api_build import BUILD, LIBRARY  # noqa: E402

CRATE = ROOT / "api" / "rust"
HEADER = (ROOT / "api/c/secequiv.h").read_text()
FFI = (CRATE / "src/ffi.rs").read_text()
TYPES = {"u32": "uint32_t", "u64": "uint64_t", "f64": "double", "usize": "size_t", "c_int": "int", "c_char": "char", "c_void": "void",
         "sock_filter": "struct sock_filter", "secequiv_options": "struct secequiv_options", "secequiv_result": "secequiv_result"}
needs_cargo = pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed (Debian and Ubuntu: cargo, or rustup)")


def c_type(rust):
    kind, name = re.fullmatch(r"(?:\*(const|mut) )?(\w+)", rust).groups()
    return TYPES[name] if kind is None else "%s%s*" % ("const " if kind == "const" else "", TYPES[name])


def program():
    """Returns a C program that compiles only if the declarations of the crate are those of the header."""
    functions = re.findall(r"pub fn (\w+)\((.*?)\)(?: -> (.*?))?;", FFI)
    members = re.findall(r"^    pub (\w+): (.*),$", re.search(r"struct secequiv_options \{\n(.*?)\n\}", FFI, re.S)[1], re.M)
    constants = re.findall(r"pub const (\w+): \w+ = (.*);", FFI)
    assert set(name for name, _, _ in functions) == set(re.findall(r"\b(secequiv_\w+)\(", HEADER)) and len(functions) == 32
    assert set(name for name, _ in constants) == set(re.findall(r"^(?:#define|  )? ?(SECEQUIV_[A-Z_0-9]+)(?: = \d+| \w+$)", HEADER, re.M))
    yield '#include "secequiv.h"'
    yield "struct crate { %s };" % " ".join("%s %s;" % (c_type(kind), name) for name, kind in members)
    yield '_Static_assert(sizeof(struct crate) == sizeof(struct secequiv_options), "size");'
    for name, kind in members:
        yield '_Static_assert(offsetof(struct crate, %s) == offsetof(struct secequiv_options, %s), "offset");' % (name, name)
        yield "%s *member_%s(struct secequiv_options *o) { return &o->%s; }" % (c_type(kind), name, name)
    for name, value in constants:
        yield '_Static_assert(%s == %s, "constant");' % (name, value.replace("usize::MAX", "SIZE_MAX"))
    for name, parameters, result in functions:
        kinds = [c_type(each.split(": ")[1]) for each in parameters.split(", ") if each]
        yield "%s %s(%s);" % (c_type(result) if result else "void", name, ", ".join(kinds) or "void")


def compiled(text):
    return subprocess.run(["gcc", "-x", "c", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I", str(ROOT / "api/c"), "-"], input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_declarations_are_those_of_the_header():
    text = "\n".join(program()) + "\n"
    assert compiled(text).returncode == 0, compiled(text).stdout


@pytest.mark.parametrize("before, after", [("uint32_t engine;", "uint64_t engine;"), ("SECEQUIV_FAIL == 6", "SECEQUIV_FAIL == 7"), ("const char* arch;", ""),
                                           ("int secequiv_result_holds(", "uint32_t secequiv_result_holds("), ("double* member", "uint64_t* member")])
def test_other_declarations_do_not_compile(before, after):
    text = "\n".join(program()).replace("double *member", "double* member") + "\n"
    assert before in text and compiled(text.replace(before, after)).returncode != 0


def cargo(*arguments, folder=CRATE, **environment):
    clean = {name: value for name, value in os.environ.items() if name not in ("SECEQUIV", "SECEQUIV_LIBRARY")}
    return subprocess.run(["cargo", *arguments, "--offline", "--target-dir", str(BUILD / "rust")], cwd=folder, env={**clean, **environment},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.full
@needs_cargo
def test_the_crate_passes_its_tests():
    done = cargo("test", "--locked", SECEQUIV=str(BUILD / "bin" / "secequiv"), SECEQUIV_LIBRARY=str(LIBRARY))
    assert done.returncode == 0, done.stdout
    assert re.findall(r"(\d+) passed", done.stdout) == ["7", "17", "8", "3"], done.stdout


@pytest.mark.full
@needs_cargo
def test_the_crate_without_the_library_looks_for_none(tmp_path):
    done = cargo("test", "--locked", "--no-default-features", "--lib", SECEQUIV_LIBRARY=str(tmp_path / "none"))
    assert done.returncode == 0 and "7 passed" in done.stdout and "warning" not in done.stdout, done.stdout


@pytest.fixture(scope="module")
def build_script(tmp_path_factory):
    """build_script(NAME=VALUE...): runs build.rs in an environment without libraries; returns the finished process and the folder of its links."""
    if not shutil.which("rustc"):
        pytest.skip("rustc is not installed")
    program = tmp_path_factory.mktemp("script") / "build"
    subprocess.run(["rustc", "--edition", "2021", "-o", str(program), str(CRATE / "build.rs")], check=True)

    def run(**environment):
        out = tmp_path_factory.mktemp("out")
        done = subprocess.run([str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={"PATH": "/usr/bin:/bin", "CARGO_FEATURE_LIBRARY": "1", "OUT_DIR": str(out), **environment})
        return done, out
    return run


def wheel(folder, library):
    """Makes an installed Python package whose import would fail."""
    (folder / "secequiv").mkdir(parents=True)
    (folder / "secequiv/__init__.py").write_text("raise ImportError\n")
    shutil.copy(library, folder / "secequiv/libsecequiv.so")
    return folder


@pytest.mark.parametrize("place", ["SECEQUIV_LIBRARY", "pkg-config", "SECEQUIV", "PATH", "wheel"])
def test_the_build_script_finds_the_library(build_script, tmp_path, place):
    for name in ("lib/x86_64-linux-gnu/libsecequiv.so.1", "bin/secequiv", "library", "lib/pkgconfig/secequiv.pc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    library = tmp_path / "lib/x86_64-linux-gnu/libsecequiv.so.1"
    environment = {"SECEQUIV_LIBRARY": str(tmp_path / "library"), "SECEQUIV": str(tmp_path / "bin/secequiv"), "PATH": "%s:/usr/bin:/bin" % (tmp_path / "bin")}
    if place == "pkg-config":
        (tmp_path / "lib/pkgconfig/secequiv.pc").write_text("libdir=%s\nName: secequiv\nDescription: it\nVersion: 1\n" % library.parent)
        given = {"PKG_CONFIG_PATH": str(tmp_path / "lib/pkgconfig")}
    elif place == "wheel":
        given = {"PYTHONPATH": str(wheel(tmp_path / "site", tmp_path / "library"))}
        library = tmp_path / "site/secequiv/libsecequiv.so"
    else:
        given = {place: environment[place]}
        library = tmp_path / "library" if place == "SECEQUIV_LIBRARY" else library
    done, out = build_script(**given)
    assert done.returncode == 0, done.stderr
    assert {link.name: link.resolve() for link in out.iterdir()} == dict.fromkeys(("libsecequiv.so", "libsecequiv.so.1"), library.resolve())
    assert "cargo:rustc-link-search=native=%s\n" % out in done.stdout and "cargo:rustc-link-lib=dylib=secequiv\n" in done.stdout


def test_the_build_script_names_every_place_that_it_looked_at(build_script, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/secequiv").touch()
    done, out = build_script(SECEQUIV=str(tmp_path / "bin/secequiv"))
    assert done.returncode == 1 and list(out.iterdir()) == []
    for part in ("SECEQUIV_LIBRARY", "pkg-config secequiv: not found", "no library in %s/lib, " % tmp_path, "Python package", "default-features = false"):
        assert part in done.stderr, done.stderr
    done, _ = build_script(SECEQUIV_LIBRARY=str(tmp_path / "none"))
    assert done.returncode == 1 and "SECEQUIV_LIBRARY: no file %s/none" % tmp_path in done.stderr


@pytest.mark.full
@needs_cargo
def test_programs_that_use_the_crate_find_the_library_of_the_wheel(tmp_path):
    """The wheel's file lacks the number that the loader looks for."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.rs").write_text('fn main() { println!("version {}", secequiv::version()); }\n')
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "uses-it"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\nsecequiv = { path = "%s" }\n' % CRATE)
    done = cargo("run", folder=tmp_path, PYTHONPATH=str(wheel(tmp_path / "site", LIBRARY)), PATH=os.environ["PATH"])
    assert done.returncode == 0 and "version %s\n" % re.search(r'(?m)^version = "(.*)"', (CRATE / "Cargo.toml").read_text())[1] in done.stdout, done.stdout
