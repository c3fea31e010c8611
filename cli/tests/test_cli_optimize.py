"""Tests `secequiv optimize`: its programs are smaller and equivalent; it reports its changes on standard error only."""

import json
import subprocess

import pytest
from cli_tool import POLICIES, PROGRAMS, ROOT, accept, assembled, listed, read_raw, report, run

ROWS = [line.split(maxsplit=2) for line in run("optimize", "--list").out.splitlines()]
PASSES = [name for _, name, _ in ROWS]
KIND = {name: kind for kind, name, _ in ROWS}
UNIT = {"rules": "matchers", "layout": "entries", "bytecode": "instructions"}
OTHERS_ONLY = {"single-tree", "code-apart"}

BEFORE = PROGRAMS / "gvisor" / "kvm.before.bpf"
SEED = POLICIES / "seed"
NESTED = SEED / "nested.json"
KVM = POLICIES / "gvisor" / "kvm.json"
PROFILE = ROOT / "corpus" / "profiles" / "postgres.txt"
SOURCES = [PROGRAMS / "gvisor" / "systrap.before.bpf", PROGRAMS / "libseccomp" / "docker-x86_64.linear.bpf",
           PROGRAMS / "libseccomp" / "docker-aarch64.tree.bpf", NESTED, SEED / "multi-arch.json", SEED / "big-endian.json",
           POLICIES / "gvisor" / "kvm-everything.json", POLICIES / "oci" / "podman-default.json"]

# For each of these policies, the pass changes something if it runs alone. EARLIER lists the passes that must run before other passes.
WORK = {"fd-as-bits": KVM, "value-set-to-bits": SEED / "futex.json", "drop-default-calls": SEED / "errno-zoo.json",
        "share-equal-code": KVM, "hot-first": KVM, "cacheable-last": KVM,
        "remove-redundant-loads": SEED / "ten-syscalls.json"}
EARLIER = {"merge-neighbours": ["share-equal-code"], "pinned-bounds": ["search-trees"],
           "large-code-apart": ["search-trees"], "code-apart": ["search-trees"],
           "skip-decided-tests": ["search-trees", "thread-conditional-jumps", "thread-jumps"],
           "fewer-tests": ["search-trees", "thread-conditional-jumps", "remove-unreachable"],
           "merge-equal-targets": ["merge-equal-code", "thread-conditional-jumps"],
           "merge-returns": ["thread-conditional-jumps", "replace-jumps-to-returns"]}


def optimized(source, tmp_path, *options):
    """Returns the optimized program, after checking that the kernel accepts it and that it is equivalent."""
    insns, out = assembled(source, tmp_path, *options)
    assert accept(insns, forgive_length=True) is None
    document, proof = report("prove", source, out)
    assert proof.status == 0, document
    return insns


def explained(*args):
    """Returns rows (round, pass, size before, size after, unit), and the whole program's sizes before and after, if a program is
    written."""
    done = run("optimize", *args, "--changes")
    assert done.status == 0, done
    lines = [line.split() for line in done.err.splitlines() if not line.startswith("lifted: ")]
    assert all(len(row) == 7 and row[0] == "round" and row[4] == "->" for row in lines if row[0] == "round"), done
    rows = [(int(row[1]), row[2], int(row[3]), int(row[5]), row[6]) for row in lines if row[0] == "round"]
    rest = lines[len(rows):]
    assert all(row[1] == "->" and row[3].strip(";") == "instructions" for row in rest), done
    return rows, [(int(row[0]), int(row[2])) for row in rest]


def plan(source, *options, **how):
    done = run("optimize", source, "--print-plan", *options, **how)
    assert done.status == 0, done
    return done.out.splitlines()


def refused(*args, **how):
    done = run("optimize", *args, **how)
    assert done.status == 2 and done.out == "", done
    return done.err


@pytest.mark.parametrize("source", SOURCES, ids=[path.name for path in SOURCES])
def test_all_passes_reach_a_fixpoint(source, tmp_path):
    insns = optimized(source, tmp_path)
    assert len(insns) <= len(read_raw(run("asm", source, raw=True).out))
    options = ["--no-lift"] if source.suffix == ".json" else []  # lifting may find better rules than the policy's
    again = read_raw(run("optimize", tmp_path / (source.name + ".bpf"), "--to", "raw", *options, raw=True).out)
    assert again == insns  # a fixpoint


def test_the_list_of_passes_is_complete():
    done = run("optimize", "--list")
    assert done.status == 0 and done.err == ""
    kinds = [kind for kind, _, _ in ROWS]
    assert set(kinds) == set(UNIT) and kinds == sorted(kinds, key=list(UNIT).index)
    assert len(set(PASSES)) == len(PASSES)
    assert all(law[0].isupper() and law.endswith(".") and " " in law for _, _, law in ROWS)


@pytest.mark.parametrize("name", PASSES)
def test_each_pass_alone_keeps_the_decisions(name, tmp_path):
    source = WORK.get(name, NESTED)
    optimized(source, tmp_path, "--passes", name)
    rows, _ = explained(source, "--passes", name)
    assert {(row[1], row[4]) for row in rows} <= {(name, UNIT[KIND[name]])}
    if name not in EARLIER and name != "remove-dead-writes":
        assert rows, "the pass changes nothing"
    if KIND[name] == "bytecode":
        before = read_raw(BEFORE.read_bytes())
        assert len(optimized(BEFORE, tmp_path, "--passes", name)) <= len(before)


@pytest.mark.parametrize("name", list(EARLIER))
def test_a_pass_has_an_effect_after_the_passes_that_it_needs(name, tmp_path):
    passes = ",".join(EARLIER[name] + [name])
    source = SEED / "systrap-stub.json" if name in ("skip-decided-tests", "fewer-tests") else KVM
    rows, _ = explained(source, "--passes", passes)
    assert name in {row[1] for row in rows}
    optimized(source, tmp_path, "--passes", passes)


def test_remove_dead_writes_has_an_effect_on_foreign_programs(asm):
    """The compiler never writes a register that nothing reads, so this pass needs a foreign program."""
    source = asm("ld [4]\nldx #1\nld [0]\nret a\n")
    assert explained(source, "--passes", "remove-dead-writes")[0] == [(1, "remove-dead-writes", 4, 2, "instructions")]


@pytest.mark.parametrize("name", PASSES)
def test_the_option_stop_after_skips_later_passes(name, tmp_path):
    if name in OTHERS_ONLY:
        return
    optimized(NESTED, tmp_path, "--stop-after", name)
    allowed = PASSES[:PASSES.index(name) + 1]
    rows, _ = explained(NESTED, "--stop-after", name)
    assert {row[1] for row in rows} <= set(allowed) - OTHERS_ONLY


def test_the_option_stop_after_applies_to_chosen_passes():
    rows, _ = explained(NESTED, "--passes", "split-halves,extract-common,value-trees", "--stop-after", "extract-common")
    assert {row[1] for row in rows} == {"split-halves", "extract-common"}


def test_passes_run_in_the_given_order(tmp_path):
    bytecode = [name for name in PASSES if KIND[name] == "bytecode"]
    some = optimized(BEFORE, tmp_path, "--passes", "%s,%s" % (bytecode[0], bytecode[5]))
    assert some == optimized(BEFORE, tmp_path, "--passes", bytecode[0], "--passes", bytecode[5])
    assert optimized(BEFORE, tmp_path, "--passes", ",".join(bytecode)) == optimized(BEFORE, tmp_path, "--no-lift")
    standard = [name for name in PASSES if name not in OTHERS_ONLY]
    assert optimized(KVM, tmp_path, "--passes", ",".join(standard)) == optimized(KVM, tmp_path)
    # The given order applies to passes of one kind; the kinds have a fixed order.
    mixed = optimized(KVM, tmp_path, "--passes", "remove-unreachable,search-trees,split-halves")
    assert mixed == optimized(KVM, tmp_path, "--passes", "split-halves,search-trees,remove-unreachable")
    assert (plan(KVM, "--passes", "hot-first,cacheable-last,search-trees")
            != plan(KVM, "--passes", "search-trees,hot-first,cacheable-last"))


def test_passes_can_reproduce_libseccomps_layout(tmp_path):
    """libseccomp's layout is one tree of all numbers."""
    libseccomp = ["--passes", "share-equal-code,single-tree,merge-neighbours,pinned-bounds,code-apart"]
    lines = plan(KVM, *libseccomp)
    assert len(lines) == 1 and lines[0].startswith("tree pinned apart: ")
    optimized(KVM, tmp_path, *libseccomp)


@pytest.mark.parametrize("source", [BEFORE, NESTED, KVM], ids=lambda path: path.name)
def test_the_option_changes_lists_the_effect_of_each_pass(source):
    options = ["--no-lift"] if source == BEFORE else []
    quiet, loud = run("optimize", source, *options), run("optimize", source, *options, "--changes")
    assert quiet.err == "" and quiet.out == loud.out
    rows, whole = explained(source, *options)
    assert all(unit == UNIT[KIND[name]] for _, name, _, _, unit in rows)
    for kind, unit in UNIT.items():
        mine = [row for row in rows if row[4] == unit]
        if source == BEFORE and kind != "bytecode":
            assert not mine, "a program has neither rules nor a plan"
            continue
        assert mine and all(after[2] == before[3] for before, after in zip(mine, mine[1:])), "sizes chain up"
        assert [row[0] for row in mine] == sorted(row[0] for row in mine)
        assert kind != "layout" or {row[0] for row in mine} == {1}
    assert len(whole) == 1 and whole[0][0] == len(read_raw(run("asm", source, raw=True).out))
    last = [row for row in rows if row[4] == "instructions"][-1]
    assert whole[0][1] == last[3] < whole[0][0]


def test_the_option_changes_lists_rule_passes_and_plan_passes():
    assert {row[4] for row in explained(NESTED, "--print-rules")[0]} == {"matchers"}
    rows, whole = explained(NESTED, "--print-plan")
    assert {row[4] for row in rows} == {"matchers", "entries"} and whole == []


@pytest.mark.parametrize("source", [NESTED, KVM, SEED / "variables.json", SEED / "low-halves.json", SEED / "multi-arch.json",
                                    POLICIES / "oci" / "docker-default.json"], ids=lambda path: path.name)
def test_the_option_print_rules_gives_an_equivalent_policy(source, tmp_path):
    out = tmp_path / "rules.json"
    assert run("optimize", source, "--print-rules", "-o", out).status == 0
    assert report("prove", source, out)[1].status == 0
    assert run("optimize", out, "--print-rules").out == out.read_text(), "a fixpoint"
    assert run("optimize", out).out == run("optimize", source).out
    json.loads(out.read_text())


def test_the_option_print_plan_shows_the_searches():
    hot, searched, cached, values = plan(KVM)
    assert hot.startswith("list: futex ?") and searched.startswith("tree pinned apart>16: ") and values == "trees of values"
    assert cached.startswith("tree pinned apart>16: read..write ALLOW, ") and "?" not in cached
    allowed = [part for part in searched.split(", ") if part.endswith(" ALLOW")]
    assert allowed == ["0xffffffff ALLOW"], "cacheable calls come last; no bitmap has this number"
    assert plan(SEED / "ten-syscalls.json", "--passes", "unwrap-single") == [
        "list: read ALLOW, write ALLOW, close ALLOW, fstat ALLOW, mmap ALLOW, munmap ALLOW, brk ALLOW, rt_sigreturn ALLOW, "
        "exit ALLOW, exit_group ALLOW"]
    several = plan(SEED / "multi-arch.json")
    assert sum(line.startswith("arch 0x") for line in several) > 1


LINES = "mprotect 5\nioctl 70\nfutex 6\n"


def first_stage(*options, **how):
    return [part.split()[0] for part in plan(KVM, *options, **how)[0].removeprefix("list: ").split(", ")]


def test_a_profile_sets_the_order_of_calls(tmp_path):
    assert first_stage()[0] == "futex"
    path = tmp_path / "calls"
    for text in (LINES, json.dumps({"mprotect": 5, "ioctl": 70, "futex": 6}),
                 "% time calls syscall\n------ ----- -------\n 1.0 5 mprotect\n 1.0 70 ioctl\n 1.0 6 futex\n"
                 "------ ----- -------\n100.0 81 total\n"):
        path.write_text(text)
        assert first_stage("--profile", path) == ["ioctl", "futex", "mprotect"]
    quiet = run("optimize", KVM, "--profile", path)
    assert quiet.err == "" and quiet.out != run("optimize", KVM).out
    optimized(KVM, tmp_path, "--profile", path)
    assert plan(KVM, "--profile", "-", stdin=LINES) == plan(KVM, "--profile", path)
    assert plan("-", "--profile", path, stdin=KVM.read_bytes()) == plan(KVM, "--profile", path)
    optimized(KVM, tmp_path, "--profile", PROFILE)


def test_output_of_strace_is_a_profile(tmp_path):
    table = tmp_path / "table"
    done = subprocess.run(["strace", "-c", "-o", table, "cat", "/dev/null"], capture_output=True)
    if done.returncode:
        pytest.skip("strace may not trace here")
    listed_calls = {line.split()[-1] for line in table.read_text().splitlines()}
    stage = {name for entry in first_stage("--profile", table) for name in entry.split("..")}
    assert stage <= listed_calls and "mprotect" in stage


def test_calls_that_the_architecture_lacks_are_noted(tmp_path):
    path = tmp_path / "calls"
    path.write_text("futex 9\nnosuch 7\nsyscall_0x1d7 6\nsocketcall 5\n")
    note = "secequiv: note: %s: ignored nosuch, socketcall, which the policy's architectures do not have\n" % path
    done = run("optimize", KVM, "--profile", path)
    assert done.status == 0 and done.err == note
    assert run("optimize", KVM, "--profile", path, "--print-plan").err == done.err
    both = tmp_path / "both.json"
    both.write_text(json.dumps({"version": 1, "arches": ["x86_64", "i386"], "default_action": "allow", "rule_sets": []}))
    assert run("optimize", both, "--profile", path).err == note.replace(", socketcall,", ","), "i386 has socketcall"


def test_unknown_passes_are_errors():
    assert refused(KVM, "--passes", "hot-first,nosuch") == "secequiv: --passes: unknown pass 'nosuch'\n"
    assert refused(KVM, "--stop-after", "nosuch") == "secequiv: --stop-after: unknown pass 'nosuch'\n"
    for stop in ("code-apart", "single-tree"):
        assert refused(KVM, "--stop-after", stop) == "secequiv: --stop-after: '%s' is not one of the passes that run\n" % stop
    assert "--stop-after: 'unwrap-single' is not one of" in refused(KVM, "--passes", "hot-first", "--stop-after", "unwrap-single")


TREE = PROGRAMS / "libseccomp" / "docker-x86_64.tree.bpf"


def test_a_program_is_lifted_if_that_makes_it_shorter(tmp_path):
    alone = optimized(TREE, tmp_path, "--no-lift")
    lifted = optimized(TREE, tmp_path)
    assert len(lifted) <= 300 < len(alone)
    done = run("optimize", TREE, "--changes")
    first, last = done.err.splitlines()[0], done.err.splitlines()[-1]
    assert first == "lifted: 1243 instructions became 950 rules for 3 architectures, with 24 conditions"
    assert last == "1243 -> %d instructions; %d without lifting" % (len(lifted), len(alone))
    rules = tmp_path / "rules.json"
    assert run("lift", TREE, "-o", rules).status == 0
    assert run("optimize", rules).out == done.out


@pytest.mark.parametrize("name", ["kvm-everything", "kvm-hostnet", "systrap-hostnet"])
def test_lifted_rules_give_nearly_as_short_programs_as_the_original_rules(name, tmp_path):
    """The rules for socket options have ranges, whose values the search trees need, and conditions on several arguments, of which the last is best tested first."""
    lifted = optimized(PROGRAMS / "gvisor" / (name + ".after.bpf"), tmp_path)
    assert len(lifted) <= 1.03 * len(optimized(POLICIES / "gvisor" / (name + ".json"), tmp_path))


@pytest.mark.parametrize("options", [["--profile", PROFILE], ["--print-rules"], ["--print-plan"]], ids=lambda o: o[0])
def test_options_for_policies_lift_programs(options, asm, tmp_path):
    rules = tmp_path / "rules.json"
    assert run("lift", BEFORE, "-o", rules).status == 0
    for args, how in (([BEFORE], {}), (["-"], {"stdin": BEFORE.read_bytes()})):
        done = run("optimize", *args, *options, **how)
        assert done.status == 0 and done.out == run("optimize", rules, *options).out
    assert "no policy can express this filter" in refused(asm("ld [0]\nret a\n"), *options)


def test_a_stack_becomes_one_program(asm, tmp_path):
    deny_read = asm("ld [4]\njeq #0xc000003e, n, y\nn: ld [0]\njeq #0, no, y\ny: ret #0x7fff0000\nno: ret #0x50001\n")
    stack = "%s,%s" % (deny_read, TREE)
    out = tmp_path / "one.bpf"
    assert run("optimize", stack, "--to", "raw", "-o", out).status == 0
    assert report("prove", stack, out)[1].status == 0
    assert report("prove", TREE, out)[1].status == 1, "the first filter has an effect"
    assert "no policy can express this combination of filters" in refused("%s,%s" % (asm("ld [0]\nret a\n"), TREE))


@pytest.mark.parametrize("options", [["--profile", PROFILE], ["--print-rules"], ["--print-plan"], []], ids=lambda o: (o or ["stack"])[0])
def test_what_needs_a_policy_cannot_do_without_lifting(options):
    source = BEFORE if options else "%s,%s" % (BEFORE, TREE)
    err = refused(source, "--no-lift", *options)
    assert err.startswith("secequiv: --no-lift: stacks, --print-rules, --print-plan and --profile need a policy")
    assert run("optimize", KVM, "--no-lift", *options).status == 0, "a policy has rules"


def test_a_program_that_no_policy_expresses_is_optimized_as_it_is(asm):
    source = asm("ld [4]\nldx #1\nld [0]\nret a\n")
    done = run("optimize", source, "--changes")
    assert done.status == 0 and done.out == run("optimize", source, "--no-lift").out
    first, *_, last = done.err.splitlines()
    assert first.startswith("not lifted: no policy can express this filter: ") and last == "4 -> 2 instructions"


def test_a_profile_that_no_pass_uses_is_an_error():
    for options in (["--passes", "thread-jumps"], ["--print-rules"], ["--stop-after", "split-halves"]):
        err = refused(KVM, "--profile", ROOT / "corpus" / "profiles" / "postgres.txt", *options)
        assert err == "secequiv: --profile: only the passes hot-first and search-trees use a profile, and neither runs here\n"


def test_the_input_may_follow_the_passes():
    assert run("optimize", "--passes", "thread-jumps", NESTED).out == run("optimize", NESTED, "--passes", "thread-jumps").out


def test_some_passes_run_only_if_named():
    named = {line.split()[1] for line in run("optimize", "--list").out.splitlines() if line.endswith(" It runs only if --passes names it.")}
    assert named == {"single-tree", "code-apart"}


def test_malformed_profiles_are_errors(tmp_path):
    path = tmp_path / "calls"
    assert refused(KVM, "--profile", path) == "secequiv: %s: cannot open: No such file or directory\n" % path
    for text, where, what in (("", "", "found none"), ("futex 1\nread x\n", ":2", "found 'x'"),
                              ('{"futex": 1,\n "read": -1}', ":2#/read", "found -1"),
                              ("% time calls syscall\n------ ----- -------\n 1.0 5 read\n", ":3", "is cut off")):
        path.write_text(text)
        err = refused(KVM, "--profile", path)
        assert err.startswith("secequiv: %s%s: " % (path, where)) and what in err, err
    assert "standard input can be read only once" in refused("-", "--profile", "-", stdin=LINES)


def test_unwritable_outputs_are_errors(tmp_path):
    assert "--print-rules cannot be combined with --print-plan" in refused(KVM, "--print-rules", "--print-plan")
    for options in ([], ["--print-rules"], ["--print-plan"]):
        assert refused(KVM, *options, "-o", "/dev/full") == "secequiv: /dev/full: cannot write: No space left on device\n"
        assert refused(KVM, *options, "-o", "/proc/nothing").startswith("secequiv: /proc/nothing: cannot ")
        assert refused(KVM, *options, "-o", tmp_path / "no" / "folder").startswith("secequiv: %s" % tmp_path)
    assert listed(tmp_path) == []


def test_plain_removes_comments():
    assert "; return ALLOW" in run("optimize", BEFORE).out
    assert ";" not in run("optimize", BEFORE, "--plain").out


def test_check_uses_the_same_optimizer(tmp_path):
    size = len(optimized(NESTED, tmp_path))
    assert report("check", NESTED)[0]["after"]["instructions"] == size


@pytest.mark.parametrize("source", [BEFORE, NESTED], ids=lambda path: path.name)
def test_standard_input_gives_the_same_output(source):
    text = source.read_bytes()
    combinations = [[], ["--plain"], ["--to", "raw"], ["--passes", "remove-unreachable"], ["--stop-after", "hot-first", "--changes"]]
    if source == NESTED:
        combinations += [["--print-rules"], ["--print-plan"], ["--profile", PROFILE, "--print-plan"]]
    for options in combinations:
        piped, read = run("optimize", "-", *options, stdin=text, raw=True), run("optimize", source, *options, raw=True)
        assert piped.status == read.status == 0 and piped.out == read.out and piped.err == read.err
        assert run("optimize", *options, stdin=text, raw=True).out == read.out


def test_an_empty_choice_of_passes_gives_the_unoptimized_program():
    assert run("optimize", NESTED, "--passes", "none", "--to", "raw", raw=True).out == run("asm", NESTED, raw=True).out
    assert run("optimize", NESTED, "--passes", "none,hot-first").status == 2
