"""Tests `secequiv fuzz`, and `check` with an optimizer, compiler or evaluator under test: the report for each kind of tool, and
replays of stored findings."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_tool import FULL, POLICIES, PROGRAMS, accept, binary, evaluate, report, run
from naive.naive import Insn

FAST = ["--no-scaling", "--trials"]
# This optimizer reads struct sock_filter from standard input, applies CHANGE to the list of [code, jt, jf, k], and writes the result.
PYTHON = """
import struct, sys
data = sys.stdin.buffer.read()
insns = [list(struct.unpack_from('<HBBI', data, at)) for at in range(0, len(data), 8)]
%s
sys.stdout.buffer.write(b''.join(struct.pack('<HBBI', *insn) for insn in insns))
"""
JSET, X86_64 = 0x45, 0xC000003E
SWAPS = r"sed 's/^69 \([0-9]*\) \([0-9]*\) /69 \2 \1 /'"


@pytest.fixture
def tool(tmp_path):
    """Returns the command line of an optimizer that applies CHANGE."""
    def make(change, name="tool.py"):
        path = tmp_path / name
        path.write_text(PYTHON % change)
        return "%s %s" % (sys.executable, shlex.quote(str(path)))
    return make


@pytest.fixture
def programs(tmp_path):
    """Returns a folder of small programs, one of them with a JSET."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "masks.asm").write_text("ld [16]\njset #6, y, n\ny: ret #0x7fff0000\nn: ret #0\n")
    (folder / "plain.asm").write_text("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
    (folder / "notes.md").write_text("not a program")
    return folder


def replay(finding, **options):
    """Runs the replay command in a stored finding with the binary under test."""
    text = open(finding["file"]).read()
    if finding["file"].endswith(".json"):
        text = json.loads(text)["description"]
    line = next(line for line in text.splitlines() if "replay: " in line)
    words = shlex.split(line.split("replay: ", 1)[1])
    assert words[0] == "secequiv"
    return run(*words[1:], **options)


def insns(rows):
    return [Insn(*row) for row in rows]


@pytest.mark.parametrize("kind", ["optimizer", "compiler", "evaluator"])
def test_our_own_optimizer_compiler_and_evaluator_pass(kind):
    trials = 400 if FULL else 100
    document, done = report("fuzz", "--" + kind, "secequiv", *FAST, trials)
    assert done.status == 0 and document["verdict"] == "pass" and document["answered"] == trials
    assert [finding for finding in document["findings"] if finding["failure"]] == []
    if kind != "evaluator":
        assert document["proven"] > trials * 3 // 4


def test_the_report_counts_what_was_tried(programs):
    document, done = report("fuzz", "--optimizer", "secequiv", *FAST, "300")
    assert done.status == 0, done
    assert sum(document["shapes"]["instructions"].values()) == 300
    assert document["shapes"]["pairs"]["ld word, test k"] > 100
    text = run("fuzz", "--optimizer", "secequiv", *FAST, "300").out
    assert re.search(r"^instructions: .+ in \d+%, .+; \d+ of \d+ shapes tried, the rarest \(.+\) in \d+ trials?$", text, re.M), text


def test_generated_programs_respect_the_option_no_dead_code(tool):
    dead = tool("""
seen = [i == 0 for i in range(len(insns) + 1)]
for i, (code, jt, jf, k) in enumerate(insns):
    if seen[i] and code & 7 != 6:
        for to in [k] if code == 5 else [jt, jf] if code & 7 == 5 else [0]:
            seen[i + 1 + to] = True
if not all(seen[:len(insns)]): sys.exit(77)""")
    assert report("fuzz", "--optimizer", dead, *FAST, "40")[0]["unsupported"] > 10
    document, done = report("fuzz", "--optimizer", dead, "--no-dead-code", *FAST, "40")
    assert (done.status, document["unsupported"]) == (0, 0), done


def test_generated_policies_keep_to_limits():
    def tried(*limits):
        document, done = report("fuzz", "--compiler", "secequiv", *limits, *FAST, "100")
        assert done.status == 0, done
        return document["shapes"]["features"]
    free, limited = tried(), tried("--arches", "aarch64,i386", "--no-low-halves")
    assert free["low halves"] > 5 and free["an x32 action"] > 5
    assert limited["low halves"] == limited["an x32 action"] == 0 and limited["other architectures than x86_64"] == 100
    for options in (["--compiler", "secequiv", "--no-dead-code"], ["--optimizer", "cat", "--no-low-halves"],
                    ["--optimizer", "cat", "--arches", "i386"], ["--compiler", "secequiv", "--policies", POLICIES, "--arches", "i386"]):
        done = run("fuzz", *options, *FAST, "1")
        assert done.status == 2 and "applies only to generated p" in done.err, done


@pytest.mark.parametrize("command", ["cat", "cp {in} {out}", ": {}", "tail -c +1 {}; exit 0", "cat >/dev/null; exit 77"])
def test_a_shell_command_can_be_an_optimizer(command, programs):
    document, done = report("fuzz", "--optimizer", command, "--programs", programs, *FAST, "20")
    if "77" in command:
        assert (done.status, document["unsupported"]) == (3, 20) and "unsupported" in document["reason"]
    else:
        assert (done.status, document["answered"]) == (0, 20), done


@pytest.mark.parametrize("form", ["asm", "ddd", "c"])
def test_programs_can_be_given_as_text(form, programs):
    document, done = report("fuzz", "--optimizer", "cat", "--form", form, "--programs", programs, *FAST, "10")
    assert (done.status, document["answered"]) == (0, 10), done


UNREADABLE = {"typo.asm": b"ld [0]\njeq #1, yes, no\nno: ret #0\n", "short.bpf": bytes(5), "empty.ddd": b"", "refused.asm": b"ld [100]\nret #0\n",
              "words.txt": b"not a program\n", "program": b"also none\n"}


@pytest.fixture
def mixed(programs):
    """Returns the folder of programs with some files that cannot be read, and some that need not be programs."""
    for name, content in UNREADABLE.items():
        (programs / name).write_bytes(content)
    (programs / "gone.asm").symlink_to("nowhere.asm")
    (programs / "folder").symlink_to(".")
    for name in ("README", "README.txt", ".hidden", "data.json", ".git/HEAD"):
        (programs / name).parent.mkdir(exist_ok=True)
        (programs / name).write_text("not a program\n")
    return sorted(str(programs / name) for name in (*UNREADABLE, "gone.asm", "folder"))


def test_a_folder_with_an_unreadable_file_does_not_pass(programs, mixed, tmp_path):
    options = ["--optimizer", "cat", "--programs", programs, *FAST, "5"]
    forms = {name: tmp_path / ("report." + name) for name in ("junit", "markdown", "sarif")}
    document, done = report("fuzz", *options, *(part for name, path in forms.items() for part in ("--" + name, path)))
    assert (done.status, document["verdict"], document["subjects"]) == (3, "unknown", "2 given programs, then changed copies"), done
    assert [one["file"] for one in document["unread"]] == mixed
    assert document["reason"].startswith("8 files of the given folders cannot be read: " + mixed[0])
    text = run("fuzz", *options).out
    quiet = run("fuzz", *options, "--quiet")
    assert quiet.status == 3 and quiet.out.count("\n") == 1 and mixed[0] in quiet.out
    for path in mixed:
        assert text.count("\nnot tested: %s" % path) == 1, path
        for form in forms.values():
            assert "/" + Path(path).name in form.read_text(), (path, form)
    assert "typo.asm:2:9: unknown label 'yes'" in text
    # With unreadable files, a failure still fails. An unreadable file is an error if the user names the file and not its folder.
    wrong = ["--optimizer", SWAPS, "--form", "ddd", "--programs", programs, *FAST, "5"]
    document, done = report("fuzz", *wrong)
    assert done.status == 1 and len(document["unread"]) == len(mixed)
    assert run("fuzz", "--optimizer", "cat", "--programs", programs / "typo.asm", *FAST, "5").status == 2


def test_a_folder_without_a_readable_file_is_an_error(tmp_path):
    for option, target, name in (("--programs", "--optimizer", "a.asm"), ("--policies", "--compiler", "a.json")):
        folder = tmp_path / option
        folder.mkdir()
        (folder / name).write_text("nonsense\n")
        done = run("fuzz", target, "identity", option, folder, *FAST, "5")
        assert done.status == 2 and "no file can be read: " in done.err and name in done.err, done


def test_an_unreadable_policy_of_a_folder_does_not_pass(tmp_path):
    (tmp_path / "good.json").write_text((POLICIES / "seed" / "futex.json").read_text())
    options = ["--compiler", "identity", "--policies", tmp_path, *FAST, "3"]
    assert report("fuzz", *options)[1].status == 0
    (tmp_path / "bad.json").write_text("{")
    document, done = report("fuzz", *options)
    assert (done.status, [one["file"] for one in document["unread"]]) == (3, [str(tmp_path / "bad.json")]), done


def test_a_wrong_answer_is_reduced_stored_and_replayed(programs, tmp_path):
    # sed starts much faster than Python, so the reduction's time limit is far away.
    wrong = r"sed 's/^69 \([0-9]*\) \([0-9]*\) /69 \2 \1 /'"
    document, done = report("fuzz", "--optimizer", wrong, "--form", "ddd", "--programs", programs, *FAST, "4", "--save", tmp_path / "found")
    assert (done.status, document["verdict"]) == (1, "different"), done
    finding = document["findings"][0]
    assert finding["failure"] and finding["reduced"] and finding["subject"].endswith("masks.asm")
    before, after = insns(finding["before"]), insns(finding["after"])
    assert len(before) <= 4 and JSET in [insn.code for insn in before] and accept(before) is None
    words = finding["witness"]["data"]["words"]
    data = b"".join(word.to_bytes(4, "little") for word in words)
    assert evaluate(before, data) == int(finding["witness"]["before"]["value"], 16)
    assert evaluate(after, data) == int(finding["witness"]["after"]["value"], 16)
    again = replay(finding)
    assert again.status == 1 and "verdict   different" in again.out
    assert run("fuzz", "--optimizer", wrong, "--form", "ddd", "--programs", finding["file"], *FAST, "1").status == 1


def test_the_text_shows_the_reduced_programs(tool, programs):
    wrong = tool("for i in insns:\n    if i[0] == 0x45: i[1], i[2] = i[2], i[1]")
    done = run("fuzz", "--optimizer", wrong, "--programs", programs, *FAST, "2")
    assert done.status == 1 and done.err == ""
    assert re.search(r"^(LOOSER: |stricter: |only ).+\ndifferent: .+ became .+ for nr=", done.out, re.M), done
    for part in ("before, ", "after, ", "jset", "verdict: different"):
        assert part in done.out, part


def test_the_wrong_pass_is_named(tmp_path):
    planted = ("fuzz", "--optimizer", "broken:twin-merge-returns", *FAST, "300")
    document, done = report(*planted, "--save", tmp_path / "found")
    assert done.status == 1, done
    wrong = [finding for finding in document["findings"] if finding["kind"] == "different"]
    assert {finding["pass"] for finding in wrong} == {"merge-returns"}
    for finding in wrong:
        assert finding["group"].startswith("different in merge-returns: ")
        assert "; pass: merge-returns\n" in open(finding["file"]).read()
    assert "  pass: merge-returns\n" in run(*planted).out


@pytest.mark.parametrize("command, kind, status", [
    ("false", "crashed", 5), ("kill -SEGV $$", "crashed", 5), ("echo 'panic: index out of range' >&2; exit 2", "crashed", 5),
    ("echo hello", "garbage", 5), ("head -c 9", "garbage", 5), ("true", "garbage", 5), ("yes", "exhausted", 5),
    ("head -c 8", "rejected", 4)])
def test_each_failure_has_its_kind_and_status(command, kind, status, programs):
    document, done = report("fuzz", "--optimizer", command, "--programs", programs / "masks.asm", *FAST, "1")
    assert done.status == status, done
    assert [finding["kind"] for finding in document["findings"] if finding["failure"]] == [kind]
    if "panic" in command:
        assert "panic: index out of range" in document["findings"][0]["detail"]


def test_a_hang_is_a_finding(programs):
    document, done = report("fuzz", "--optimizer", "sleep 60", "--programs", programs / "plain.asm", "--request-timeout", "0.2", *FAST, "1")
    assert (done.status, document["findings"][0]["kind"]) == (5, "hung")


def test_notes_do_not_fail_and_failures_can_be_allowed(tool, programs):
    grows = tool("insns.insert(0, [5, 0, 0, 0])")
    document, done = report("fuzz", "--optimizer", grows, "--programs", programs, *FAST, "8")
    kinds = {finding["kind"]: finding["failure"] for finding in document["findings"]}
    assert done.status == 0 and kinds == {"grew": False, "not-idempotent": False}
    loads = tool("insns[:0] = [[0x20, 0, 0, 16], [0, 0, 0, 0]] if insns[0][0] != 0x20 or insns[0][3] != 16 else []")
    plain = programs / "plain.asm"
    document, done = report("fuzz", "--optimizer", loads, "--programs", plain, *FAST, "1")
    assert (done.status, document["verdict"]) == (1, "fail") and "now has to run the filter for read" in document["reason"]
    assert run("fuzz", "--optimizer", loads, "--programs", plain, *FAST, "1", "--allow", "cache-loss").status == 0


def test_an_optimizer_with_cubic_time_is_slow(tool):
    # The optimizer is slow only for programs with scratch memory, because each slow family takes four seconds.
    cubic = tool("import time; time.sleep((len(insns) / 4096) ** 3 * 2.5 if any(i[0] == 2 for i in insns) else 0)")
    document, done = report("fuzz", "--optimizer", cubic, "--trials", "1", "--generate")
    assert (done.status, document["verdict"]) == (1, "fail"), done
    assert all("slow" == finding["kind"] for finding in document["findings"] if finding["failure"])
    assert all(row["instructions"][-1] >= 4000 for row in document["scaling"])


def test_planted_optimizers_and_evaluators_are_built_in():
    listed = [line.split() for line in run("fuzz", "--list").out.splitlines()]
    broken = [(kind, name) for kind, name in listed if name.startswith("broken:")]
    assert len(broken) >= 24
    kind, name = next(row for row in broken if row[0] == "optimizer")
    assert run("fuzz", "--optimizer", name, "--stop-at-first", *FAST, "100000").status == 1


def test_a_wrong_compiler_is_found_and_replayed(tmp_path):
    policy = POLICIES / "seed" / "futex.json"
    wrong = "cat >/dev/null; printf 'ret #0x7fff0000\\n'"
    document, done = report("fuzz", "--compiler", wrong, "--policies", policy, *FAST, "1", "--save", tmp_path / "found")
    finding = document["findings"][0]
    assert (done.status, finding["kind"], finding["reduced"]) == (1, "different", True), done
    again = replay(finding)
    assert again.status == 1 and "verdict   different" in again.out
    assert run("check", policy, "--compiler", "identity").status == 0
    done = run("check", PROGRAMS / "gvisor" / "kvm.before.bpf", "--compiler", "identity")
    assert done.status == 2 and "--compiler: expected a policy, found the program" in done.err


def test_check_reports_the_failures_of_an_optimizer(tool, programs):
    assert run("check", programs / "masks.asm", "--optimizer", "cat").status == 0
    document, done = report("check", programs / "masks.asm", "--optimizer", tool("insns[1][0] = 0x35"))
    assert (done.status, document["verdict"]) == (1, "different")
    done = run("check", programs / "masks.asm", "--optimizer", "echo why >&2; exit 3")
    assert done.status == 5 and "crashed" in done.err and "why" in done.err
    done = run("check", programs / "masks.asm", "--optimizer", "echo no masks >&2; exit 77")
    assert done.status == 2 and "no masks" in done.err
    assert run("check", programs / "masks.asm", programs / "plain.asm", "--optimizer", "cat").status == 2


EVALUATOR = """
import struct, sys
sys.path.insert(0, %r)
from naive.naive import Insn, run
program = open(sys.argv[1], 'rb').read()
insns = [Insn(*struct.unpack_from('<HBBI', program, at)) for at in range(0, len(program), 8)]
inputs = sys.stdin.buffer.read()
for at in range(0, len(inputs), 64):
    value = run(insns, inputs[at:at + 64])
    print(%s)
"""


def test_a_script_can_be_an_evaluator(tmp_path, programs):
    from cli_tool import ROOT
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(EVALUATOR % (str(ROOT / "scripts"), "value"))
    wrong.write_text(EVALUATOR % (str(ROOT / "scripts"), "value if any(i.code == 0x45 for i in insns) else value ^ 1"))
    for script, status in ((right, 0), (wrong, 1)):
        command = "%s %s {program}" % (sys.executable, script)
        document, done = report("fuzz", "--evaluator", command, "--programs", programs, "--trials", "6", "--save", tmp_path / "found")
        assert done.status == status, done
    finding = document["findings"][0]
    assert len(finding["before"]) == 1 and set(finding["witness"]["data"]["words"]) == {0, X86_64}
    again = replay(finding)
    assert again.status == 1 and "verdict: different" in again.out
    for bad in (": {program}; echo 1", ": {program}; echo x", ": {program}; exit 1"):
        assert run("fuzz", "--evaluator", bad, "--programs", programs, "--trials", "1").status == 5


@pytest.mark.parametrize("args, message", [
    ([], "expected --optimizer, --compiler or --evaluator"),
    (["--optimizer", "cat", "--compiler", "cat"], "expected only one of --optimizer, --compiler and --evaluator"),
    (["--optimizer", "broken:nonsense"], "unknown built-in name 'broken:nonsense'"),
    (["--optimizer", "cat", "--generate", "--programs", "x.asm"], "expected only one of --programs, --policies and --generate"),
    (["--optimizer", "cat", "--programs", "missing.asm"], "missing.asm"),
    (["--optimizer", "cat", "--programs", "empty"], "expected files that end in .bpf, .asm, .ddd, .raw, .c, .txt, found none"),
    (["--compiler", "identity", "--programs", "x.asm"], "because compilers accept only policies"),
    (["--optimizer", "cat", "--inputs", "x"], "--inputs: applies only with --evaluator and --programs"),
    (["--optimizer", "cat", "--allow", "grow"], "found 'grow'; did you mean"),
    (["--optimizer", "cat", "--allow", "different"], "found 'different'"),
    (["--evaluator", "secequiv", "--require-proof"], "--require-proof: expected --optimizer or --compiler, because nothing is proven about evaluators"),
    (["--optimizer", "cat", "--no-prove", "--require-proof"], "--require-proof: expected proofs, but --no-prove skips them"),
    (["--optimizer", "cat", "--seed", "-1"], "--seed"),
    (["--optimizer", "cp {in} /dev/null"], "{out}"),
    (["--optimizer", "plugin:missing.so"], "missing.so"),
])
def test_wrong_usage_is_an_error(args, message, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.asm").write_text("ret #0\n")
    done = run("fuzz", *args, *FAST, "1", cwd=tmp_path)
    assert done.status == 2 and message in done.err, done


def test_required_proofs_use_all_engines(tmp_path):
    """Diagrams and derived inputs cannot decide arithmetic with several words."""
    (tmp_path / "hash.asm").write_text("ld [16]\nmul #0x9e3779b1\ntax\nld [24]\nmul #0x85ebca6b\nxor x\n"
                                       "jeq #0x12345678, bad, good\nbad: ret #0x80000000\ngood: ret #0x7fff0000\n")
    wrong = "sed 's/^6 0 0 2147483648$/6 0 0 2147418112/'"
    for options, status, text in (([], 3, "equivalence is undecided for 1 answer"), (["--require-proof"], 1, "different: KILL_PROCESS became ALLOW")):
        done = run("fuzz", "--optimizer", wrong, "--form", "ddd", "--programs", tmp_path / "hash.asm", "--no-scaling", "--trials", "1", *options)
        assert done.status == status and text in done.out, done
    done = run("fuzz", "--optimizer", "identity", "--programs", tmp_path / "hash.asm", "--no-scaling", "--trials", "1", "--require-proof")
    assert done.status == 0 and "1 of them proven equivalent" in done.out, done


def test_an_unwritable_folder_for_findings_is_reported_first(programs):
    done = run("fuzz", "--optimizer", "printf 'ret #0\\n'", "--programs", programs, *FAST, "2", "--save", "/proc/nowhere")
    assert done.status == 2 and "/proc/nowhere" in done.err and done.out == ""


def test_a_replay_uses_the_same_options(programs, tmp_path):
    swaps = r"sed 's/^69 \([0-9]*\) \([0-9]*\) /69 \2 \1 /'"
    document, done = report("fuzz", "--optimizer", swaps, "--form", "ddd", "--programs", programs, *FAST, "4", "--save", tmp_path / "found",
                            "--request-timeout", "5")
    assert done.status == 1
    again = replay(document["findings"][0])
    assert again.status == 1 and "verdict   different" in again.out


@pytest.mark.parametrize("target", [["--optimizer", "./no-such-tool"], ["--optimizer", "serve:./no-such-tool"],
                                    ["--compiler", "./no-such-tool"], ["--evaluator", "./no-such-tool {program}"]])
def test_a_missing_command_is_reported_at_once(target):
    document, done = report("fuzz", *target, "--trials", "1000000")
    assert (done.status, document["error"], document["where"]) == (2, "usage", target[1])
    assert document["detail"].startswith("this command cannot be started: it exited with status 127")
    assert "not found" in document["detail"]


def test_an_optimizer_that_answers_nothing_is_a_single_finding():
    """Standard error differs from request to request, and only the first request's text is reported."""
    document, done = report("fuzz", "--optimizer", "echo no library $$ >&2; exit 3", "--trials", "40", "--no-scaling")
    assert done.status == 5 and document["answered"] == 0 and len(document["findings"]) == 1
    assert document["reason"].startswith("every one of 40 requests failed; the first one: it exited with status 3; "
                                         "its standard error ends: no library "), document["reason"]
    assert document["not_reduced"] == 0 and document["findings"][0]["count"] == 40
    text = run("fuzz", "--optimizer", "exit 3", "--trials", "40").out
    assert "time by size" not in text and "more trial" not in text
    assert "verdict: crashed (every one of 40 requests failed; the first one: it exited with status 3)" in text
    assert text.count("\ncrashed: ") == 1, "without a message, all programs fail like the smallest one"


def test_a_hang_is_reported_with_the_time_limit_that_the_user_gave(programs):
    document, _ = report("fuzz", "--optimizer", "sleep 100", "--programs", programs, *FAST, "1", "--request-timeout", "2")
    assert document["findings"][0]["detail"].startswith("it was still running after 2 s and was killed"), document["findings"][0]


def test_a_second_interrupt_kills_the_command_under_test(tmp_path):
    process = subprocess.Popen([binary(), "fuzz", "--optimizer", "echo $$ >%s/pid; exec sleep 600" % tmp_path, "--request-timeout", "500"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.05)
    for number in (signal.SIGINT, signal.SIGTERM):
        process.send_signal(number)
        time.sleep(0.3)
    assert process.wait(timeout=30) in (3, -signal.SIGTERM)  # 3 if the first signal ended the run before the second arrived
    pid = int((tmp_path / "pid").read_text())
    state = Path("/proc/%d/stat" % pid)
    assert not state.exists() or state.read_text().split()[2] == "Z"


@pytest.mark.parametrize("interrupts", [1, 2])
def test_interrupts_leave_no_command_behind_if_several_run_at_once(tmp_path, interrupts):
    process = subprocess.Popen([binary(), "fuzz", "--optimizer", "echo >%s/$$; exec sleep 600" % tmp_path, "--request-timeout", "500",
                                "--at-once", "3"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while len(list(tmp_path.iterdir())) < 3 and process.poll() is None:
        time.sleep(0.05)
    for _ in range(interrupts):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    assert process.wait(timeout=60) in (3, -signal.SIGINT)
    running = [Path("/proc/%s/stat" % one.name) for one in tmp_path.iterdir()]
    assert len(running) >= 3 and not any(state.exists() and state.read_text().split()[2] != "Z" for state in running)


def test_answers_belong_to_their_programs_if_several_run_at_once(tmp_path):
    # The optimizer crashes for programs that multiply (0x24 = 36), and is wrong for programs with jset (0x45 = 69).
    (tmp_path / "tool.sed").write_text(r"""
/^36 /{
  s/.*/cannot multiply/w /dev/stderr
  Q3
}
s/^69 \([0-9]*\) \([0-9]*\) /69 \2 \1 /
""")
    tool = "sed -f %s" % (tmp_path / "tool.sed")

    def once(at_once):
        document, done = report("fuzz", "--optimizer", tool, "--form", "ddd", *FAST, "150", "--at-once", at_once)
        assert done.status == 1
        return [[finding[key] for key in ("kind", "detail", "trial", "count", "before")] for finding in document["findings"]]
    alone = once(1)
    assert once(4) == alone
    crash, = [finding for finding in alone if finding[0] == "crashed"]
    assert "cannot multiply" in crash[1] and any(insn[0] == 36 for insn in crash[4])


def test_the_same_seed_gives_the_same_report():
    def once(seed):
        document, _ = report("fuzz", "--compiler", "identity", *FAST, "50", "--seed", seed)
        return {key: value for key, value in document.items() if key != "seconds"}
    assert once(5) == once(5) != once(6)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_still_gives_a_report(number):
    process = subprocess.Popen([binary(), "fuzz", "--optimizer", "identity", "--no-scaling"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3 and b"interrupted after" in out, (out, err)
    assert err == b"secequiv: interrupted: the report covers only the work done so far\n"


def both_ways(tmp_path, command, stricter, looser, *options):
    """Returns the arguments of `fuzz` for an optimizer that makes the first program stricter, and the second looser."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "a.asm").write_text(stricter)
    (folder / "b.asm").write_text(looser)
    return ["--optimizer", command, "--form", "ddd", "--programs", folder, *FAST, "2", *options]


def test_findings_that_loosen_come_first(tmp_path):
    command = "sed 's/^6 0 0 2147418112/6 0 0 327681/; s/^69 \\([0-9]*\\) \\([0-9]*\\) /69 \\2 \\1 /'"  # ALLOW to ERRNO(1); JSET swapped
    options = both_ways(tmp_path, command, "ret #0x7fff0000\n", "ld [16]\njset #6, yes, no\nyes: ret #0x7ffc0000\nno: ret #0\n")
    junit, markdown = tmp_path / "out.xml", tmp_path / "out.md"
    document, done = report("fuzz", *options, "--junit", junit, "--markdown", markdown)
    assert done.status == 1
    different = [found for found in document["findings"] if found["kind"] == "different"]
    summaries = [found["direction"]["summary"] for found in different]
    assert summaries[0].startswith("LOOSER: every system call") and summaries[-1] == "only stricter: every system call"
    assert [one.startswith("LOOSER") for one in summaries] == sorted((one.startswith("LOOSER") for one in summaries), reverse=True)
    assert different[0]["trial"] == 2 and different[-1]["trial"] == 1 and document["reason"].startswith("KILL_THREAD became ")
    lines = run("fuzz", *options).out.splitlines()
    assert lines[0] == summaries[0] and lines[-1] == "verdict: different (%s)" % document["reason"]
    assert run("fuzz", *options, "--quiet").out.splitlines() == [lines[0], lines[-1]]
    assert lines.index(summaries[0], 1) < lines.index(summaries[-1])
    for path in (junit, markdown):
        text = path.read_text()
        assert text.index("LOOSER") < text.index("only stricter")
        assert "different different" not in text and "finding different-" in text


@pytest.mark.parametrize("command, verdict", [("exit 1", "crashed"), ("echo nonsense", "crashed (the only request failed: garbage: ")])
def test_a_verdict_does_not_repeat_its_word(command, verdict, tmp_path):
    junit = tmp_path / "out.xml"
    last = run("fuzz", "--optimizer", command, *FAST, "1", "--junit", junit).out.splitlines()[-1]
    assert "nothing was answered; 1 trial: 0 answered" in junit.read_text()
    assert last.startswith("verdict: " + verdict) and "crashed (crashed" not in last, last


def test_a_group_of_findings_shows_the_one_that_loosens(tmp_path):
    saved = tmp_path / "saved"
    command = "sed 's/^6 0 0 2147418112/6 0 0 327681/; t; s/^6 0 0 327682/6 0 0 2147418112/'"  # ALLOW to ERRNO(1), ERRNO(2) to ALLOW
    options = both_ways(tmp_path, command, "ret #0x7fff0000\n", "ret #0x50002\n", "--save", saved)
    document, done = report("fuzz", *options)
    found, = [one for one in document["findings"] if one["kind"] == "different"]
    assert found["count"] >= 2 and found["trial"] == 2 and found["direction"]["summary"] == "LOOSER: every system call newly allowed"
    assert list(saved.glob("different-*")) == [Path(found["file"])]  # the better finding replaces the file of the first one
    text = Path(found["file"]).read_text()
    assert "ERRNO(2 ENOENT) became ALLOW" in text and "ret #0x50002" in text
    assert "LOOSER" in replay(found).out.splitlines()[0]


def test_lines_of_standard_error_stay_lines_except_in_the_verdict(programs):
    done = run("fuzz", "--optimizer", "printf 'first\n\n  second\n' >&2; exit 3", "--programs", programs / "plain.asm", *FAST, "1")
    assert done.status == 5
    assert "\ncrashed: it exited with status 3; its standard error ends:\n    first\n    \n      second\n" in done.out, done
    assert re.search(r"^verdict: crashed \(.* ends: first \| second\)$", done.out, re.M), done
