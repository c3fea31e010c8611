"""Runs secequiv on a booted kernel in every way that could show a mistake of our model, and keeps the results.

Owns what is run and the form of the results. It must not know how kernels are booted nor how secequiv asks them.
"""

import datetime
import json
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import apt, boards, check, planted, tables

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "corpus/programs"
PROFILES = sorted((ROOT / "corpus/policies/oci").glob("*.json"))
LONGEST = 4096
RANDOM_PROGRAMS = 100000
SHORT = 100
X32_BIT = 0x40000000
ARM_PRIVATE = 0xF0000
NUMBER_READER = b"".join(struct.pack("<HBBI", *insn) for insn in ((0x20, 0, 0, 0), (0x16, 0, 0, 0)))  # ld [0]; ret a
CACHED_BITS = 448  # whole words of 64 bits; Linux 6.1 has 451 numbers
RET_K, REFUSED = 0x06, 1234
BYPASSING = {"x86_64": (335, 336)}  # uretprobe and uprobe: which kernels run no filter for them is asked separately
KNOWN_UNFILTERED = 20  # so many numbers are named at most


def say(text):
    print("kernel_matrix: " + text, file=sys.stderr, flush=True)


def numbers():
    """Returns the numbers of all calls that any architecture has, and those near the powers of two."""
    found = set(range(8000)) | set(range(ARM_PRIVATE, ARM_PRIVATE + 16)) | set(range(X32_BIT, X32_BIT + 600)) | set(range(2**32 - 600, 2**32))
    for bit in range(32):
        found |= {(1 << bit) - 1, 1 << bit, (1 << bit) + 1}
    return sorted(found)


class Secequiv:
    """The command `secequiv kernel` on one kernel."""

    def __init__(self, binary, kernel, folder):
        self.binary = binary
        arch, _, version = kernel.partition("@")
        self.serve = [str(ROOT / "scripts/kernels"), "--folder", str(folder), "serve", arch, *(["--version", version] if version else [])]

    def ask(self, *arguments, bug=None):
        """Returns the report of `secequiv kernel`, or its error."""
        serve = [sys.executable, str(ROOT / "scripts/kernel/planted.py"), bug, *self.serve] if bug else self.serve
        command = [str(self.binary), "kernel", "--on", "serve:" + " ".join(serve), "--json", *map(str, arguments)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        report = json.loads(done.stdout) if done.stdout else {}
        if report.get("error") == "unavailable" or not report:
            raise boards.NotAvailable((done.stderr.strip() or "status %d" % done.returncode))
        return report

    def compiled(self, arch, folder):
        """Compiles the corpus's profiles for an architecture; returns the files that a kernel can install."""
        out = []
        for profile in PROFILES:
            path = Path(folder) / ("%s-%s.bpf" % (profile.stem, arch))
            done = subprocess.run([str(self.binary), "optimize", str(profile), "--arch", arch, "--to", "raw", "-o", str(path)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if done.returncode in (0, 1) and path.exists() and 0 < path.stat().st_size <= 8 * LONGEST:
                out.append(path)
        return out


class Served:
    """The kernel without secequiv, for requests that secequiv does not make."""

    def __init__(self, secequiv):
        self.process = subprocess.Popen(secequiv.serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, request):
        """Returns the status and the body of the answer."""
        try:
            planted.write_frame(self.process.stdin, request)
        except BrokenPipeError:
            raise boards.NotAvailable("the kernel ended") from None
        answer = planted.read_frame(self.process.stdout)
        if answer is None:
            raise boards.NotAvailable("the kernel ended")
        return answer[0], answer[1:]


def corpus_programs():
    """Returns the filters that a kernel can install, with their architectures."""
    rows = json.loads((PROGRAMS / "manifest.json").read_text())["programs"]
    return [(PROGRAMS / row["file"], row["arch"]) for row in rows if row["instructions"] <= LONGEST]


def summary(report):
    sides = report["sides"]
    out = {"verdict": report["verdict"], "filters": len(sides), "evaluations": sum(side["inputs"] for side in sides)}
    if skipped := sum(side["skipped"] for side in sides):
        out["skipped"] = skipped
    if wrong := [side for side in sides if "disagreement" in side or side.get("refused")]:
        out["wrong"] = wrong
    return out


def random_programs(secequiv, short):
    count = RANDOM_PROGRAMS // (SHORT if short else 1)
    report = secequiv.ask("--random-programs", count)
    kept = ("verdict", "programs", "accepted", "evaluated", "evaluations", "opcodes", "legal_opcodes", "seed", "program", "kernel_accepts", "disagreement")
    return {key: report[key] for key in kept if key in report}


def unfiltered(secequiv, entry, folder):
    """Returns the numbers that filters see wrongly or not at all: a filter that returns the number shows them."""
    program, inputs = Path(folder) / "number.bpf", Path(folder) / "numbers"
    program.write_bytes(NUMBER_READER)
    left, found = numbers(), []
    while True:
        inputs.write_bytes(b"".join(struct.pack("<16I", number, *[0] * 15) for number in left))
        report = secequiv.ask(program, "--entry", entry, "--inputs", inputs, "--max-inputs", 0, "--random", 0)
        side, = report["sides"]
        wrong = side.get("disagreement")
        if wrong is None or len(found) == KNOWN_UNFILTERED:
            return {"verdict": report["verdict"], "numbers": side["inputs"], "skipped": side["skipped"], "unfiltered": found}
        found.append({"number": wrong["data"]["words"][0], "kernel": wrong["kernel"]})
        left = [number for number in left if number != wrong["data"]["words"][0]]


def bypassing(served, index, name):
    """Returns which of the numbers that secequiv does not ask (harness/kernel/facts.cc) bypass a filter that refuses everything."""
    program = [(RET_K, 0, 0, check.ERRNO | REFUSED)]
    return [number for number in BYPASSING.get(name, ())
            if served.ask(check.ask_frame(index, program, [struct.pack("<16I", number, *[0] * 15)])) != (0, struct.pack("<I", REFUSED))]


def planted_bugs(secequiv, entries, folder):
    """Returns how each planted mistake was found. secequiv must find them all."""
    out = {}
    for bug in planted.BUGS:
        arguments = ["--random-programs", 2000]
        entry = {"arch": 1, "audit": 0}.get(bug)
        if entry is not None:
            if entry == len(entries):
                continue
            reader = Path(folder) / "arch.bpf"
            reader.write_bytes(NUMBER_READER.replace(struct.pack("<HBBI", 0x20, 0, 0, 0), struct.pack("<HBBI", 0x20, 0, 0, 4)))
            arguments = [reader, "--entry", entries[entry].name, "--random", 10, "--max-inputs", 0]
        try:
            report = secequiv.ask(*arguments, bug=bug)
            out[bug] = "found" if report.get("verdict") == "different" or report.get("error") == "internal" else "missed"
        except boards.NotAvailable as why:
            out[bug] = "not run: %s" % why
    return out


def cached_bits(secequiv, path, arch, passing):
    """Returns the bits of the calls that our model of the cache has for a filter, or None if the model does not know the architecture. The bits of the
    numbers `passing`, which bypass filters, are always set. Source: seccomp_is_const_allow (kernel/seccomp.c)."""
    done = subprocess.run([str(secequiv.binary), "cache", str(path), "--arch", arch, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    report = json.loads(done.stdout) if done.stdout else {}
    row = next((each for each in report.get("arches", ()) if each["arch"] == arch), None)
    if row is None:
        return None
    numbers = tables.our_table(arch)
    bits = sum(1 << number for number in {numbers[name] for name in row["cached"]} | set(passing) if number < CACHED_BITS)
    return bits.to_bytes(CACHED_BITS // 8, "little")


def bitmaps(secequiv, arch, entries, filters):
    """Looks for the model's bitmap of each filter in the kernel's memory, and for one with a wrong bit, which must not be there.

    `filters` has the files for each entry. A filter with an empty bitmap shows nothing."""
    out = {}
    with Served(secequiv) as served:
        for index, entry in enumerate(entries):
            passing = bypassing(served, index, entry.name)
            row = {"filters": 0, "calls": 0, "wrong": []}
            for path in filters[entry.name]:
                bits = cached_bits(secequiv, path, entry.name, passing)
                if not bits or not any(bits):
                    continue
                program = [struct.unpack_from("<HBBI", path.read_bytes(), at) for at in range(0, path.stat().st_size, 8)]
                changed = bytes([bits[0] ^ 1]) + bits[1:]
                status, found = served.ask(check.find_frame([program], bits))
                wrong_status, wrong = served.ask(check.find_frame([program], changed))
                if status != 0 or wrong_status != 0:
                    return "not compared: %s" % (found if status else wrong).decode(errors="replace")
                row["filters"] += 1
                row["calls"] += sum(byte.bit_count() for byte in bits)
                if bool(found) != boards.BOARDS[arch].has_bitmap or wrong:
                    row["wrong"].append(path.name)
            if row["filters"]:
                out[entry.name] = row
    return out


def compared_tables(entries, folder):
    out = {}
    for entry in entries:
        sysroot = folder / "askers" / entry.name / "libc"
        ours = tables.our_table(entry.name)
        if ours is None:
            continue
        compared = tables.compare(ours, tables.header_table(entry, sysroot))
        # A table with one wrong number must not compare equal.
        swapped = dict(ours, getpid=ours["getppid"], getppid=ours["getpid"]) if "getppid" in ours else dict(ours, getpid=1)
        assert tables.compare(swapped, tables.header_table(entry, sysroot)).wrong
        out[entry.name] = {"ours": compared.ours, "headers": compared.theirs, "wrong": compared.wrong, "newer": len(compared.newer)}
    return out


class Run:
    """What one run of the matrix on one architecture uses. Each method is a part and returns its results."""

    def __init__(self, kernel, binary, folder, temporary, short):
        self.arch, self.folder, self.temporary, self.short = kernel.partition("@")[0], Path(folder).resolve(), temporary, short
        self.secequiv = Secequiv(binary, kernel, self.folder)
        self.entries = boards.BOARDS[self.arch].entries
        self.wide = "64" in self.entries[0].target or self.entries[0].name == "s390x"
        self.own = {entry.name: [path for path, name in corpus_programs() if name == entry.name] + self.secequiv.compiled(entry.name, temporary)
                    for entry in self.entries}
        self.all_filters = [path for path, _ in corpus_programs()] + self.secequiv.compiled(self.entries[0].name, temporary)

    def random(self):
        return random_programs(self.secequiv, self.short)

    def filters(self):
        # With arguments of 32 bits, a program is installed again for each combination of the other words.
        return summary(self.secequiv.ask("--each", *self.all_filters, "--max-inputs", 1000 if self.wide else 100, "--random", 500 if self.wide else 50))

    def entry_calls(self):
        out = {}
        for index, entry in enumerate(self.entries):
            calls = self.secequiv.ask("--each", *(self.own[entry.name] or self.all_filters), "--entry", entry.name, "--max-inputs", 2000, "--random", 1000)
            out[entry.name] = {"numbers": unfiltered(self.secequiv, entry.name, self.temporary), "calls": summary(calls)}
            if entry.name in BYPASSING:
                with Served(self.secequiv) as served:
                    out[entry.name]["bypassing"] = bypassing(served, index, entry.name)
        return out

    def planted(self):
        return planted_bugs(self.secequiv, self.entries, self.temporary)

    def tables(self):
        return compared_tables(self.entries, self.folder)

    def bitmaps(self):
        named = {name: [path for path in paths if "allow306" not in path.name] for name, paths in self.own.items()}  # it allows numbers without names
        return bitmaps(self.secequiv, self.arch, self.entries, named)


PARTS = {"random": Run.random, "filters": Run.filters, "entries": Run.entry_calls, "planted": Run.planted, "tables": Run.tables, "bitmaps": Run.bitmaps}


def run(kernel, binary, folder, parts=tuple(PARTS), short=False):
    """Returns the results of one kernel, ARCH or ARCH@VERSION. Raises NotAvailable."""
    out = {"arch": kernel.partition("@")[0], "date": datetime.date.today().isoformat(), "release": "", "seconds": {}}
    with tempfile.TemporaryDirectory() as temporary:
        one = Run(kernel, binary, folder, temporary, short)
        out["release"] = one.secequiv.ask("--random-programs", 4)["release"]
        for part in parts:
            say("%s: %s" % (kernel, part))
            started = time.monotonic()
            out[part] = PARTS[part](one)
            out["seconds"][part] = round(time.monotonic() - started)
    return out


def problems(result):
    """Returns what is not as it should be."""
    out = ["%s: not run" % part for part in PARTS if part not in result]
    verdicts = [(part, result[part]["verdict"]) for part in ("random", "filters") if part in result]
    verdicts += [("calls by %s" % name, row["calls"]["verdict"]) for name, row in result.get("entries", {}).items()]
    out += ["%s: %s" % (what, verdict) for what, verdict in verdicts if verdict != "pass"]
    for name, row in result.get("entries", {}).items():
        if row["numbers"]["unfiltered"]:
            out.append("entry %s: filters do not see %s" % (name, ", ".join(str(each["number"]) for each in row["numbers"]["unfiltered"])))
    out += ["the planted mistake '%s' was %s" % (bug, how) for bug, how in result.get("planted", {}).items() if how != "found"]
    compared = result.get("bitmaps", {})
    if isinstance(compared, str):
        out.append("bitmaps: " + compared)
    else:
        out += ["entry %s: the kernel's bitmap of %s is not that of the model" % (name, wrong) for name, row in compared.items() for wrong in row["wrong"]]
    return out + ["table %s: %s" % (name, row["wrong"]) for name, row in result.get("tables", {}).items() if row["wrong"]]


def keep(path, result):
    """Adds the results to a file. Parts that were not run keep their earlier results."""
    kept = json.loads(path.read_text())["kernels"] if path.exists() else []
    key = (result["arch"], result["release"])
    before = next((each for each in kept if (each["arch"], each["release"]) == key), {})
    merged = {**before, **result, "seconds": {**before.get("seconds", {}), **result["seconds"]}}
    kept = [each for each in kept if (each["arch"], each["release"]) != key] + [merged]
    apt.write_json(path, {"kernels": sorted(kept, key=lambda each: (each["arch"], each["release"]))})


def count(number):
    return "{:,}".format(number)


def page(results):
    rows, entries, known, notes = [], [], [], []
    for one in results:
        random = one.get("random", {"programs": 0, "evaluations": 0})
        rows.append("| %s | Linux %s | %s | %s | %s | %s |" % (
            one["arch"], one["release"], count(random["programs"]), count(random["evaluations"]), count(one.get("filters", {"evaluations": 0})["evaluations"]),
            ", ".join("`%s`" % bug for bug, how in one.get("planted", {}).items() if how == "found")))
        for name, row in one.get("entries", {}).items():
            table = one.get("tables", {}).get(name)
            compared = one.get("bitmaps", {})
            cached = compared.get(name) if isinstance(compared, dict) else None
            entries.append("| %s | %s | `%s` | %s | %s | %s | %s |" % (
                one["arch"], one["release"], name, count(row["calls"]["evaluations"]), count(row["numbers"]["numbers"]),
                "%d of %d" % (table["headers"] - len(table["wrong"]), table["headers"]) if table else "not compared" if "tables" not in one else "no table",
                "%s calls of %d filters" % (count(cached["calls"]), cached["filters"]) if cached else "not compared"))
            if "bypassing" in row:
                known.append("- %s, Linux %s, `%s`: %s of %s" % (one["arch"], one["release"], name, ", ".join(map(str, row["bypassing"])) or "none",
                                                                " and ".join(map(str, BYPASSING[name]))))
        notes += ["- %s, Linux %s: %s" % (one["arch"], one["release"], problem) for problem in problems(one)]
    dates = sorted({one["date"] for one in results})
    return PAGE % {"rows": "\n".join(rows), "entries": "\n".join(entries), "notes": "\n".join(notes) or "None.", "known": "\n".join(known) or "No such kernel was asked.",
                   "dates": dates[0] if len(dates) == 1 else "%s to %s" % (dates[0], dates[-1])}


def write_page(results, path):
    path.write_text(page(json.loads(results.read_text())["kernels"]))


PAGE = """# Kernels that our model was compared with

`scripts/kernel_matrix` boots Debian's kernels in QEMU and compares their answers with our model ([how](../harness/kernel/README.md)). It writes this page
from its results, [corpus/kernels.json](../corpus/kernels.json). Dates: %(dates)s.

`--on` of this command asks one kernel ([options](reference/kernel.md#kernels-of-other-architectures)):

```sh
secequiv kernel --help
```

| column | meaning |
|---|---|
| programs | random programs, legal and nearly legal: the kernel and our check must accept the same ones |
| evaluations | return values of random programs that use all opcodes |
| filters | return values of the corpus's filters, with any number, architecture, pointer and arguments |
| mistakes found | mistakes that were planted between secequiv and the kernel (`scripts/kernel/planted.py`); one that is missing here was not planted, or is listed below |

| kernel | release | programs | evaluations | filters | mistakes found |
|---|---|---|---|---|---|
%(rows)s

Real calls by each entry show the numbers, architecture and arguments that the kernel gives to filters. *Numbers* counts the call numbers for which
filters saw what our model predicts; numbers that bypass filters, and those for which MIPS shows filters the caller's stack, are left out. *Table* compares our table of system calls with the kernel's headers. *Cached* counts the calls that the kernel allows without
running the filter, as its memory shows; they are those of our model.

| kernel | release | entry | calls | numbers | table | cached |
|---|---|---|---|---|---|---|
%(entries)s

## Numbers that bypass filters

Recent kernels run no filter for `uretprobe` and `uprobe`, so secequiv never asks for these numbers. They bypassed a filter that refuses everything in these kernels:

%(known)s

## Disagreements, and what was not run

%(notes)s
"""
