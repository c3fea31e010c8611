"""scripts/bench alarms: fuzzes every built adapter in campaigns of 20 s until it has made 10 million evaluations. -n N permits at most N
campaigns. The script counts the findings that corpus/known.toml does not list, and checks whether all findings are true.

The naive evaluator shares no code with the tool. It confirms a finding if the two programs return different values for its input, if the
adapter's value is wrong, or if the kernel's check refuses the answer, or accepts the program that the adapter refused. All other findings
about return values are false alarms.
"""
import collections
import sys

from measure import compare, number, report_of, table

EVALUATIONS = 10_000_000
RUNS = 1000  # inputs for each program
FEW_RUNS = {("evaluator", "ceccomp"): 1}  # it starts a process for each input, and answers no program of which one input is unsupported
SECONDS = 20  # of one campaign
ADAPTERS = [("optimizer", "gvisor", ""), ("optimizer", "netbpf", ""), ("optimizer", "lightbpf", ""), ("optimizer", "ceccomp", ""),
            ("compiler", "gvisor", ""), ("compiler", "libseccomp", ""), ("compiler", "libseccomp", " --tree"), ("compiler", "seccompiler", ""),
            ("compiler", "seccompy", ""), ("compiler", "elastic", ""), ("compiler", "kafel", ""), ("compiler", "runc", ""), ("compiler", "podman", ""),
            ("evaluator", "gvisor", ""), ("evaluator", "libpcap", ""), ("evaluator", "netbpf", ""), ("evaluator", "bpfvm", ""),
            ("evaluator", "lightbpf", ""), ("evaluator", "ceccomp", "")]
# These kinds of findings are not about return values, so the naive evaluator cannot confirm them.
NOT_ABOUT_VALUES = {"slow", "hung", "crashed", "exhausted", "grew", "nondeterministic", "not-idempotent", "cache-loss"}


def confirmed(finding, kind):
    """Returns whether the naive evaluator confirms a finding; None if the finding is not about values."""
    from naive.accept import accept
    from naive.naive import Insn, run
    if finding["kind"] in NOT_ABOUT_VALUES or (finding["kind"], kind) == ("refused", "compiler"):
        return None
    before = [Insn(*row) for row in finding["before"]]
    if finding["kind"] == "refused":
        return accept(before) is None
    if finding["kind"] == "rejected":
        return accept(before) is None and accept([Insn(*row) for row in finding["after"]]) is not None
    if finding["kind"] != "different":
        return False
    data = b"".join(word.to_bytes(4, "little") for word in finding["witness"]["data"]["words"])
    ours, theirs = (int(finding["witness"][side]["value"], 16) for side in ("before", "after"))
    if run(before, data) != ours or ours == theirs:
        return False
    return kind == "evaluator" or run([Insn(*row) for row in finding["after"]], data) == theirs


def fuzz(root, binary, kind, command, seed, runs):
    return report_of(binary, "fuzz", "--" + kind, "serve:" + command, "--duration", SECONDS, "--seed", seed, "--runs", runs, "--request-timeout", 2,
                     "--no-scaling", "--known", root / "corpus" / "known.toml", allowed=(0, 1, 3, 4, 5))


def count(campaigns, kind):
    """Returns the sums over the reports of several campaigns, and the findings that are false alarms."""
    totals, false = collections.Counter(), []
    for document in campaigns:
        totals.update({name: document[name] for name in ("evaluations", "answered", "seconds")})
        for finding in document["findings"]:
            true = confirmed(finding, kind)
            totals["known"] += finding["known"]
            totals["new"] += finding["failure"]
            totals["confirmed"] += true is True
            false += [finding] if true is False else []
    return totals, false


def suite(root, repetitions, build, run):
    del run
    sys.path.insert(0, str(root / "scripts"))
    binary, rows, problems = build("secequiv"), [], []
    for kind, name, arguments in ADAPTERS:
        program = root / "build" / "adapters" / name
        label = "%s %s%s" % (kind, name, arguments)
        if not program.exists():
            rows.append([label] + [None] * 7 + ["not built"])
            continue
        campaigns, totals, false = [], collections.Counter(), []
        while len(campaigns) < repetitions and totals["evaluations"] < EVALUATIONS:
            campaigns.append(fuzz(root, binary, kind, str(program) + arguments, len(campaigns) + 1, FEW_RUNS.get((kind, name), RUNS)))
            totals, false = count(campaigns, kind)
        rows.append([label, totals["answered"], totals["evaluations"], number(totals["seconds"], 1), totals["known"], totals["new"], totals["confirmed"],
                     len(false), compare((len(false), "<=", 0), (totals["evaluations"], ">=", EVALUATIONS))])
        print(*rows[-1][:-1], file=sys.stderr)
        problems += ["%s: %s is not confirmed: %s" % (label, finding["kind"], finding["detail"]) for finding in false]
    print(table("alarms: findings of up to %d campaigns, and how many the naive evaluator confirms" % repetitions,
                ["under test", "answered", "evaluations", "s", "known", "new", "confirmed", "false", ""], rows), end="")
    return problems
