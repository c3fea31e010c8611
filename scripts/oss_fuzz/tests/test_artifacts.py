"""Tests the checks that run no file of a build: each check accepts a correct build, and finds the fault that it exists for."""

import stat
import zipfile

import pytest

from oss_fuzz import artifacts, matrix

ELF = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little") + b"LLVMFuzzerTestOneInput"
ADDRESS, UNDEFINED, MEMORY = (matrix.Configuration("libfuzzer", name, "x86_64") for name in ("address", "undefined", "memory"))


def executable(path, content=ELF):
    path.write_bytes(content)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def archive(path, files):
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)


@pytest.fixture
def target(tmp_path):
    found = executable(tmp_path / "fuzz_a")
    archive(tmp_path / "fuzz_a_seed_corpus.zip", {"one": b"1", "folder/two": b"2"})
    return found


def test_a_correct_build_has_no_problems(target):
    target.with_name("fuzz_a.dict").write_text('# comment\nword="abc"\n"\\x00\\"\\\\"\n\nlevel@2="x"\n')
    target.with_name("fuzz_a.options").write_text("[libfuzzer]\nmax_len = 100\ndict = fuzz_a.dict\n[asan]\ndetect_leaks=0\n")
    target.with_name("pair.before").write_bytes(b"data")
    assert artifacts.targets(target.parent) == [target]
    assert artifacts.name_problems(target.parent) == []
    assert artifacts.companion_problems(target) == []
    assert artifacts.seeds(target) == {"one": b"1", "folder/two": b"2"}
    assert artifacts.options(target)["libfuzzer"] == {"max_len": "100", "dict": "fuzz_a.dict"}


def test_other_files_are_not_targets(tmp_path):
    executable(tmp_path / "script", b"#!/bin/sh\n# LLVMFuzzerTestOneInput\n")
    executable(tmp_path / "tool", b"\x7fELF")
    executable(tmp_path / "afl-fuzz")
    (tmp_path / "not_executable").write_bytes(ELF)
    assert artifacts.targets(tmp_path) == []
    assert artifacts.name_problems(tmp_path) == ["no fuzz target: no executable has LLVMFuzzerTestOneInput"]


@pytest.mark.parametrize("name", ["fuzz.a", "fuzz a", "füzz", "fuzz+"])
def test_names_that_the_service_refuses_are_found(tmp_path, name):
    executable(tmp_path / name)
    assert artifacts.name_problems(tmp_path) == ["%s: a target's name may contain only letters, digits, _ and -" % name]


@pytest.mark.parametrize("name", ["fuzz_b_seed_corpus.zip", "fuzz_b.dict", "fuzz_b.options"])
def test_files_without_a_target_are_found(target, name):
    target.with_name(name).write_bytes(b"")
    assert artifacts.name_problems(target.parent) == ["%s: there is no target fuzz_b" % name]


def test_a_leftover_folder_is_found(target):
    target.with_name("fuzz_a_seed_corpus").mkdir()
    assert artifacts.name_problems(target.parent) == ["fuzz_a_seed_corpus: a folder is left over; seeds go into an archive"]


def test_unreadable_seeds_are_found(target):
    stored = target.with_name("fuzz_a_seed_corpus.zip")
    whole = stored.read_bytes()
    stored.write_bytes(whole[:-30])
    assert "fuzz_a_seed_corpus.zip: " in artifacts.companion_problems(target)[0]
    archive(stored, {"one": b"content of a file"})
    damaged = stored.read_bytes().replace(b"content", b"kontent")
    stored.write_bytes(damaged)
    assert artifacts.companion_problems(target) == ["fuzz_a_seed_corpus.zip: one is damaged"]
    archive(stored, {})
    assert artifacts.companion_problems(target) == ["fuzz_a_seed_corpus.zip: has no file"]
    archive(stored, {"../../bin/sh": b""})
    assert artifacts.companion_problems(target) == ["fuzz_a_seed_corpus.zip: ../../bin/sh would be unpacked elsewhere"]
    stored.unlink()
    assert artifacts.companion_problems(target) == ["fuzz_a: there is no fuzz_a_seed_corpus.zip"]


@pytest.mark.parametrize("line", [b"abc", b'word="abc', b'word=abc"', b'a="b" c', b'a="\\q"', b'a="\\x0g"', b'a=""', b'a="\xff"', b'a="\t"', b'a b="c"'])
def test_malformed_dictionary_lines_are_found(target, line):
    target.with_name("fuzz_a.dict").write_bytes(b'right="x"\n' + line + b"\n")
    problems = artifacts.companion_problems(target)
    assert len(problems) == 1 and problems[0].startswith('fuzz_a.dict:2: expected name="value"')


def test_long_entries_and_empty_dictionaries_are_found(target):
    dictionary = target.with_name("fuzz_a.dict")
    dictionary.write_text('a="%s"\n' % ("\\x00" * 128))
    assert artifacts.companion_problems(target) == []
    dictionary.write_text('a="%s"\n' % ("\\x00" * 129))
    assert artifacts.companion_problems(target) == ["fuzz_a.dict:1: longer than 128 bytes"]
    dictionary.write_text("# nothing\n")
    assert artifacts.companion_problems(target) == ["fuzz_a.dict: has no entry"]


@pytest.mark.parametrize("text, problem", [
    ("max_len=1\n", "File contains no section headers"),
    ("[libfuzzer]\nmax_len\n", "parsing errors"),
    ("[libfuzzer]\nmax_len=\n", "[libfuzzer] max_len has no value"),
    ("[libfuzz]\nmax_len=1\n", "no section [libfuzz] is known"),
    ("[libfuzzer]\nmax_len=1\nmax_len=2\n", "already exists"),
    ("[libfuzzer]\ndict=other.dict\n", "there is no dictionary other.dict beside it"),
    ("[libfuzzer]\ndict=/out/fuzz_a.dict\n", "there is no dictionary /out/fuzz_a.dict beside it"),
])
def test_malformed_options_are_found(target, text, problem):
    target.with_name("fuzz_a.dict").write_text('a="b"\n')
    target.with_name("fuzz_a.options").write_text(text)
    problems = artifacts.companion_problems(target)
    assert len(problems) == 1 and problem in problems[0] and problems[0].startswith("fuzz_a.options: ")


def test_shared_libraries_that_the_runner_lacks_are_found(target, monkeypatch):
    needed = " 0x1 (NEEDED)             Shared library: [%s]\n"
    output = "".join(needed % name for name in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libresolv.so.2", "ld-linux-x86-64.so.2"))
    monkeypatch.setattr(artifacts, "_tool", lambda *command: output)
    assert artifacts.library_problems(target) == []
    for name in ("libz3.so.4", "libstdc++.so.6", "libfmt.so.9", "libgmp.so.10", "libcrypt.so.1"):
        monkeypatch.setattr(artifacts, "_tool", lambda *command, name=name: output + needed % name)
        assert artifacts.library_problems(target) == ["fuzz_a: needs the shared library %s, which the runner lacks" % name]
    monkeypatch.setattr(artifacts, "_tool", lambda *command: " 0x1d (RUNPATH)            Library runpath: [/build/lib]\n")
    assert artifacts.library_problems(target) == ["fuzz_a: looks for libraries in /build/lib"]
    monkeypatch.setattr(artifacts, "_tool", lambda *command: None)
    assert artifacts.library_problems(target) == ["fuzz_a: readelf cannot read it"]


def test_a_wrong_architecture_is_found(target):
    assert artifacts.architecture_problems(target, "x86_64") == []
    assert artifacts.architecture_problems(target, "i386") == ["fuzz_a: not built for i386 (ELF machine 62, not 3)"]


@pytest.mark.parametrize("configuration, calls, fails", [
    (ADDRESS, (1000, 3, 200), ""), (ADDRESS, (999, 0, 0), "__asan"), (ADDRESS, (1000, 4, 0), "__msan"), (ADDRESS, (1000, 0, 201), "__ubsan"),
    (UNDEFINED, (0, 3, 168), ""), (UNDEFINED, (0, 0, 167), "__ubsan"), (UNDEFINED, (1, 0, 168), "__asan"), (UNDEFINED, (0, 4, 168), "__msan"),
    (MEMORY, (0, 1000, 200), ""), (MEMORY, (0, 999, 0), "__msan"), (MEMORY, (1, 1000, 0), "__asan"), (MEMORY, (0, 1000, 201), "__ubsan"),
    (ADDRESS._replace(architecture="i386"), (1000, 0, 280), ""), (ADDRESS._replace(architecture="i386"), (1000, 0, 281), "__ubsan"),
    (ADDRESS._replace(engine="afl"), (1000, 0, 999), ""), (ADDRESS._replace(engine="afl"), (999, 0, 0), "__asan"),
    (ADDRESS._replace(sanitizer="coverage"), (0, 0, 0), ""), (ADDRESS._replace(sanitizer="coverage"), (1, 0, 0), "__asan"),
])
def test_missing_or_foreign_instrumentation_is_found(target, configuration, calls, fails):
    problems = artifacts.instrumentation_problems(target, configuration, dict(zip(("asan", "msan", "ubsan"), calls)))
    assert len(problems) == (1 if fails else 0)
    assert not fails or fails in problems[0]


def test_binaries_that_objdump_cannot_read_are_found(target):
    assert artifacts.instrumentation_problems(target, ADDRESS) == ["fuzz_a: objdump cannot read it"]
