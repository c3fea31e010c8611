"""Tests the exported symbols, the name and the header of libsecequiv.so."""

import re
import subprocess

from api_build import BUILD, LIBRARY, ROOT, run

HEADER = ROOT / "api" / "c" / "secequiv.h"


def declared():
    return set(re.findall(r"\b(secequiv_\w+)\(", HEADER.read_text()))


def test_only_what_the_header_declares_is_exported():
    symbols = run("nm", "-D", "--defined-only", LIBRARY)
    exported = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()} - {"SECEQUIV_1"}
    assert exported == declared()
    assert len(exported) == 32


def test_the_soname_has_the_version_of_the_interface():
    version = re.search(r"#define SECEQUIV_ABI_VERSION (\d+)", HEADER.read_text()).group(1)
    assert re.search(r"SONAME +libsecequiv\.so\.%s\n" % version, run("objdump", "-p", LIBRARY))


def test_the_library_prints_nothing():
    assert run(BUILD / "bin" / "api_test") == ""


def test_the_header_compiles_alone(tmp_path):
    """The header compiles without warnings as C99, C11 and C++11."""
    for language, standard in (("c", "c11"), ("c++", "c++11"), ("c", "c99")):
        source = tmp_path / "includes"
        source.write_text('#include "secequiv.h"\nstruct secequiv_options o = SECEQUIV_OPTIONS_INIT;\n')
        done = subprocess.run(["g++" if language == "c++" else "gcc", "-x", language, "-std=" + standard, "-pedantic", "-Wall", "-Wextra",
                               "-Werror", "-fsyntax-only", "-I", str(HEADER.parent), str(source)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), standard
