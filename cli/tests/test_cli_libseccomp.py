"""Tests asking a libseccomp: it contradicts secequiv's reading of a profile, or its filter is the subject."""

import json

import pytest
from cli_tool import POLICIES, ROOT, fits, run

from corpus import oci

KNOWN = ROOT / "corpus" / "regress" / "known"
MISTAKE = KNOWN / "two-bounds-two-values.json"  # libseccomp 2.5.4 forgets a bound of the second entry
DENIED = "when arch == x86_64 && nr == read && arg1 == 1 && arg0 <= 5: not allowed"
LIBRARY = ["--libseccomp", "libseccomp.so.2"]


def prove(path, text, *options):
    done = run("prove", path, "--property", text, "--json", *options)
    document = json.loads(done.out)
    assert fits(document) == "prove-property", done
    return done.status, document


def value(words, *filters):
    done = run("run", *filters, "--words", ",".join(map(str, words)))
    assert done.status == 0, done
    return done.out.splitlines()[1].split()[0]


def test_a_pass_that_the_library_contradicts_is_unknown(library, tmp_path):
    assert prove(MISTAKE, DENIED, "--libseccomp", "none")[0] == 0
    status, document = prove(MISTAKE, DENIED)
    assert status == 3 and "libseccomp 2.5.4 makes another filter" in json.dumps(document)
    # The library's own filter violates the property.
    assert prove(MISTAKE, DENIED, *LIBRARY)[0] == 1
    made = tmp_path / "library.bpf"
    made.write_bytes(library.compile(oci.rules(json.loads(MISTAKE.read_text()), "SCMP_ARCH_X86_64", (6, 1)), "linear"))
    assert prove(made, DENIED)[0] == 1


def test_inputs_about_which_both_agree_stay_decided(library):
    assert prove(MISTAKE, "when arch == x86_64 && nr == write: not allowed")[0] == 0
    same = run("prove", MISTAKE, MISTAKE)
    assert same.status == 0, same


def test_an_equivalence_that_the_library_contradicts_is_unknown(library, tmp_path):
    policy = tmp_path / "policy.bpf"
    assert run("asm", MISTAKE, "--libseccomp", "none", "-o", policy).status == 0
    assert run("prove", MISTAKE, policy, "--libseccomp", "none").status == 0
    done = run("prove", MISTAKE, policy, "--json")
    document = json.loads(done.out)
    assert fits(document) == "prove" and done.status == 3, done
    choice = document["choices"][0]
    assert choice["syscall"] == "read" and "libseccomp 2.5.4" in choice["contradiction"]
    made = tmp_path / "library.bpf"
    assert run("asm", MISTAKE, *LIBRARY, "-o", made).status == 0
    words = choice["input"]["words"]
    assert value(words, policy) != value(words, made)


@pytest.mark.parametrize("form, options", [("linear", []), ("tree", ["--tree"])], ids=["linear", "tree"])
@pytest.mark.parametrize("capabilities", [(), ("CAP_SYS_ADMIN", "CAP_BPF")], ids=["none", "two"])
@pytest.mark.parametrize("name", ["docker-default", "podman-default"])
def test_the_filter_of_a_library_is_what_it_makes_from_runcs_rules(name, capabilities, form, options, library, tmp_path):
    path, made = POLICIES / "oci" / (name + ".json"), tmp_path / "made.bpf"
    done = run("asm", path, *LIBRARY, *options, *["--cap=" + name for name in capabilities], "-o", made)
    assert done.status == 0, done
    rules = oci.rules(json.loads(path.read_text()), "SCMP_ARCH_X86_64", (6, 1), frozenset(capabilities))
    expected = library.compile(rules, form)
    assert made.read_bytes() == expected
    assert ("libseccomp 2.5.4 does not know" in done.err) == (name == "docker-default")
    pseudo = tmp_path / "made.pfc"
    pseudo.write_bytes(library.compile(rules, form, pseudo.name))
    assert run("prove", pseudo, made).status == 0
    # Without the option, it is the policy's own compilation.
    assert run("asm", path, "-o", made).status == 0 and made.read_bytes() != expected


def test_a_file_that_is_no_library_is_refused(tmp_path):
    for file in (tmp_path / "missing.so", MISTAKE):
        done = run("prove", MISTAKE, MISTAKE, "--libseccomp", file)
        assert done.status == 2 and "expected a libseccomp" in done.err, done


def test_a_tree_needs_a_library(tmp_path):
    done = run("asm", MISTAKE, "--libseccomp", "none", "--tree", "-o", tmp_path / "made.bpf")
    assert done.status == 2 and "--tree: expected a library in --libseccomp" in done.err, done


def test_a_library_that_never_answers_makes_no_filter(library, tmp_path):
    done = run("asm", KNOWN / "bound-and-two-arguments.json", *LIBRARY, "-o", tmp_path / "made.bpf")
    assert done.status == 3 and "still running after 5 s" in done.err and not (tmp_path / "made.bpf").exists(), done


def test_why_names_what_the_library_contradicts_for_the_call(library, tmp_path):
    path = tmp_path / "many.json"
    mistaken = json.loads(MISTAKE.read_text())
    names = ["read", "write", "open", "close", "stat", "fstat", "lstat"]
    entries = [{**entry, "names": [name]} for name in names for entry in mistaken["syscalls"] if "read" in entry["names"]]
    path.write_text(json.dumps({**mistaken, "syscalls": entries}))
    made = tmp_path / "made.bpf"
    assert run("asm", path, *LIBRARY, "-o", made).status == 0
    for name in ("read", "lstat"):
        wrong = json.loads(run("prove", path, made, "--assume", "arch == x86_64 && nr == %s" % name, "--json").out)["witness"]["data"]
        args = ["--arg=%d=%s" % each for each in enumerate(wrong["args"])]
        done = run("why", path, "--nr", name, *args, "--json")
        assert done.status == 3 and [choice["syscall"] for choice in json.loads(done.out)["choices"]] == [name], done
        record = "type=SECCOMP msg=audit(1.1:1): sig=0 arch=c000003e syscall=%d compat=0 ip=0x0 code=0x7fff0000\n" % wrong["nr"]
        assert run("why", path, "--audit", "-", stdin=record).status == 3
    assert run("why", path, "--nr", "getpid").status == 0


# The last two entries have two conditions, and their bounds the same upper half. With so many entries, secequiv does not know whether libseccomp refuses that.
def entry(action, *conditions):
    return {"names": ["read"], "action": action, "args": [{"index": index, "value": value, "op": "SCMP_CMP_" + op} for index, op, value in conditions]}


CLASH = {"defaultAction": "SCMP_ACT_KILL", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [
    entry("SCMP_ACT_ALLOW", (2, "EQ", 7)), entry("SCMP_ACT_ALLOW", (3, "EQ", 8)),
    entry("SCMP_ACT_ALLOW", (0, "LE", 2**32), (1, "EQ", 1)), entry("SCMP_ACT_LOG", (0, "LE", 2**32 + 1), (1, "EQ", 1))]}


def test_a_profile_of_which_the_library_makes_no_filter_is_unknown(library, tmp_path):
    path = tmp_path / "clash.json"
    path.write_text(json.dumps(CLASH))
    text = "when arch == x86_64 && nr == write: not allowed"
    assert prove(path, text, "--libseccomp", "none")[0] == 0
    status, document = prove(path, text)
    assert status == 3 and "refuses" in json.dumps(document)
    done = run("prove", path, path, *LIBRARY)
    assert done.status == 4 and "File exists" in done.err, done


def test_a_name_cannot_add_a_rule(library, tmp_path):
    path, made = tmp_path / "lines.json", tmp_path / "made.bpf"
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"], "syscalls": [
        {"names": ["read", "write\nrule 0x7fff0000 execve"], "action": "SCMP_ACT_ALLOW"}]}))
    assert run("asm", path, *LIBRARY, "-o", made).status == 0
    assert made.read_bytes() == library.compile("default 0x00050001\narch x86_64\nrule 0x7fff0000 read\n", "linear")
