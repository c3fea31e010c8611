"""Owns what the benchmark suites share: running tools, choosing the fastest repetition, comparing with targets, printing tables.

None means a value that was not measured; `compare` reports it as such, and `show` makes it a problem.
"""
import json
import re
import subprocess


def finished(command, allowed=(0,), **options):
    """Runs a command to its end. Raises RuntimeError if its status is not among `allowed`."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode not in allowed:
        raise RuntimeError("%s: status %d: %s" % (" ".join(map(str, command[:2])), done.returncode, (done.stderr or done.stdout).strip()[-2000:]))
    return done


def report_of(binary, command, *arguments, **options):
    """Returns the JSON document of `secequiv COMMAND --json ARGUMENTS...`. Raises RuntimeError or ValueError if there is none."""
    return json.loads(finished([binary, command, "--json", *arguments], **options).stdout)


def compare(*limits):
    """Returns the text of a table's last column: "met", "missed", "not measured" or None. Each limit is (measured value, sign, target);
    the sign is "<=", ">=", or None if the value has no target."""
    if any(measured is None for measured, _, _ in limits):
        return "not measured"
    aimed = [measured <= target if sign == "<=" else measured >= target for measured, sign, target in limits if sign]
    return ("met" if all(aimed) else "missed") if aimed else None


def number(value, digits):
    return None if value is None else "%.*f" % (digits, value)


def quotient(above, below):
    return None if above is None or below is None else above / below


def table(title, header, rows):
    """Returns the table as text: the first column is aligned left, the others right. None is shown as a dash."""
    cells = [list(header)] + [["-" if cell is None else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = ["  ".join([row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip()
             for row in cells]
    return "\n".join([title] + lines) + "\n"


def show(*tables):
    """Prints tables (title, header, rows) and returns a problem for each row that was not measured."""
    print("\n".join(table(*each) for each in tables), end="")
    return ["%s: %s: not measured" % (re.split(r"[:,]| \(", title)[0], row[0]) for title, _, rows in tables for row in rows
            if row[-1] == "not measured"]


def fastest_rows(rows):
    """Returns the fastest repetition of each of Google Benchmark's benchmarks, and the failures: ({name: row}, [problem])."""
    best, problems = {}, []
    for row in rows:
        if row.get("error_occurred"):
            problems.append("%s: %s" % (row["name"], row.get("error_message") or "failed"))
        elif row.get("run_type") == "iteration":
            known = best.setdefault(row["name"], row)
            if row["items_per_second"] > known["items_per_second"]:
                best[row["name"]] = row
    return best, problems


def plain_name(name):
    """Returns Google Benchmark's name without the settings that it appends."""
    return re.sub(r"/(iterations|repeats|min_time|real_time|manual_time)(:[^/]*)?", "", name)


def fastest(rows):
    """Returns the minima of each benchmark's repetitions: ({name: µs}, {name: {counter: value}}, {name: error})."""
    times, counters, errors = {}, {}, {}
    for row in rows:
        name = plain_name(row["name"])
        if row.get("error_occurred"):
            errors[name] = row.get("error_message") or "failed"
        elif row.get("run_type") == "iteration":
            micros = row["real_time"] * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[row["time_unit"]]
            times[name] = min(micros, times.get(name, micros))
            best = counters.setdefault(name, {})
            for key in ("median", "p90", "decided", "exhausted"):
                if key in row:
                    best[key] = min(row[key], best.get(key, row[key]))
    for name in errors:  # one failed repetition means "not measured"
        times.pop(name, None)
        counters.pop(name, None)
    return times, counters, errors


def growth_rows(kinds, lengths, times, unit, digits, doubling):
    """Returns a row for each kind and length: the time growth/KIND/LENGTH (in µs, divided by `unit`), and its ratio to the time of the
    previous length."""
    rows = []
    for kind in kinds:
        before = None
        for length in lengths:
            now = times.get("growth/%s/%d" % (kind, length))
            first = length == lengths[0]
            factor = None if first else quotient(now, before)
            rows.append(["%s %d" % (kind, length), number(quotient(now, unit), digits), number(factor, 2), None if first else "<= %.1f" % doubling,
                         compare((now, None, None)) if first else compare((factor, "<=", doubling))])
            before = now
    return rows
