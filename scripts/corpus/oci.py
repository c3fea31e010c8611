"""Turn OCI seccomp profiles into libseccomp rules, as runc does.

Owns the profile's vocabulary and its conditions (includes, excludes, archMap). It must not know libseccomp itself: the
result is a request (harness/import/library_request.h).
"""

import re

ACTIONS = {
    "SCMP_ACT_KILL": 0x00000000, "SCMP_ACT_KILL_THREAD": 0x00000000, "SCMP_ACT_KILL_PROCESS": 0x80000000,
    "SCMP_ACT_TRAP": 0x00030000, "SCMP_ACT_ERRNO": 0x00050000, "SCMP_ACT_NOTIFY": 0x7FC00000,
    "SCMP_ACT_TRACE": 0x7FF00000, "SCMP_ACT_LOG": 0x7FFC0000, "SCMP_ACT_ALLOW": 0x7FFF0000,
}
WITH_DATA = ("SCMP_ACT_ERRNO", "SCMP_ACT_TRACE")
EPERM = 1  # the default data of these two actions
MAX_ERRNO = 0xFFFF  # a larger number would overwrite the action in the upper half
MAX_VALUE = 2**64 - 1

OPERATORS = {
    "SCMP_CMP_NE": "ne", "SCMP_CMP_LT": "lt", "SCMP_CMP_LE": "le", "SCMP_CMP_EQ": "eq", "SCMP_CMP_GE": "ge",
    "SCMP_CMP_GT": "gt", "SCMP_CMP_MASKED_EQ": "masked_eq",
}

# Profiles use one name of an architecture in archMap, and another in includes and excludes.
GO_ARCHES = {"SCMP_ARCH_X86_64": "amd64", "SCMP_ARCH_X86": "x86", "SCMP_ARCH_AARCH64": "arm64", "SCMP_ARCH_ARM": "arm", "SCMP_ARCH_S390X": "s390x",
             "SCMP_ARCH_PPC64LE": "ppc64le", "SCMP_ARCH_RISCV64": "riscv64"}

# The keys that harness/import/import_oci.cc knows. All other keys are errors, because Go ignores the case of a key and might still read
# them.
PROFILE_KEYS = ("defaultAction", "defaultErrnoRet", "defaultErrno", "architectures", "archMap", "flags", "listenerPath", "listenerMetadata",
                "syscalls", "comment", "$schema")
ARCH_KEYS = ("architecture", "subArchitectures", "comment")
ENTRY_KEYS = ("names", "name", "action", "errnoRet", "errno", "args", "comment", "includes", "excludes")
FILTER_KEYS = ("arches", "caps", "minKernel")
ARG_KEYS = ("index", "value", "valueTwo", "op", "comment")


class ProfileError(Exception):
    """The profile contains something that this module cannot translate."""


def rules(profile, arch, kernel, capabilities=frozenset()):
    """Returns the rule text for `profile` (parsed JSON) in a container with `capabilities` on `arch` and a `kernel`.

    `arch` is a key of GO_ARCHES, `kernel` a (version, revision) pair.
    """
    _check(profile)
    default = _action(profile["defaultAction"], profile.get("defaultErrnoRet"))
    lines = ["default %#010x" % default]
    lines += ["arch %s" % _arch(name) for name in [arch, *_sub_arches(profile, arch)]]
    for entry in profile["syscalls"]:
        if not _applies(entry, GO_ARCHES[arch], kernel, capabilities):
            continue
        action = _action(entry["action"], entry.get("errnoRet"))
        if action == default:
            continue
        for name in [entry["name"]] if entry.get("name") else entry["names"]:
            if not isinstance(name, str) or not re.fullmatch(r"\w+", name, re.ASCII):  # a name with a line break would add a rule
                raise ProfileError("no system call is called %r" % (name,))
            lines += [" ".join(["rule %#010x %s" % (action, name), *group]) for group in _groups(entry.get("args") or [])]
    return "\n".join(lines) + "\n"


def hosts(profile):
    """Returns the architectures of hosts for which the profile has a list of architectures; all known ones if it has no such lists."""
    rows = profile.get("archMap")
    return list(GO_ARCHES) if rows is None else [row["architecture"] for row in rows]


def flat(default, action, arch, names):
    """Returns the rule text that gives every call in `names` the same action."""
    head = ["default %#010x" % default, "arch %s" % arch]
    return "\n".join(head + ["rule %#010x %s" % (action, name) for name in names]) + "\n"


def _check(profile):
    """Refuses keys and types of values that the other functions would silently ignore, even in entries for other hosts."""
    _check_keys(profile, PROFILE_KEYS, "")
    if _list(profile, "architectures", "") and _list(profile, "archMap", ""):
        raise ProfileError("expected only one of 'architectures' and 'archMap', because runtimes refuse both together")
    for i, row in enumerate(_list(profile, "archMap", "")):
        where = "/archMap/%d" % i
        _check_keys(row, ARCH_KEYS, where)
        _list(row, "subArchitectures", where)
    for i, entry in enumerate(_list(profile, "syscalls", "")):
        where = "/syscalls/%d" % i
        _check_keys(entry, ENTRY_KEYS, where)
        if entry.get("name") and _list(entry, "names", where):
            raise ProfileError("expected only one of 'name' and 'names' in %s, because runtimes refuse both together" % where)
        if not entry.get("name") and entry.get("names") is None:
            raise ProfileError("%s names no system call" % where)
        _list(entry, "names", where)
        for j, arg in enumerate(_list(entry, "args", where)):
            _check_keys(arg, ARG_KEYS, "%s/args/%d" % (where, j))
        for key in ("includes", "excludes"):
            if entry.get(key) is not None:
                _check_keys(entry[key], FILTER_KEYS, "%s/%s" % (where, key))
                for inner in ("arches", "caps"):
                    _list(entry[key], inner, "%s/%s" % (where, key))


def _check_keys(value, known, where):
    if not isinstance(value, dict):
        raise ProfileError("expected an object at %s" % (where or "/"))
    for key in value:
        if key not in known:
            raise ProfileError("unknown key %r; expected one of %s" % ("%s/%s" % (where, key), ", ".join(known)))


def _list(holder, key, where):
    """Returns the list at `key`; for a missing key and for null, it returns an empty list."""
    value = holder.get(key)
    if value is not None and not isinstance(value, list):
        raise ProfileError("expected a list at %s/%s" % (where, key))
    return value or []


def _number(value, most, what):
    if type(value) is not int or not 0 <= value <= most:  # a bool is an int, too
        raise ProfileError("expected %s from 0 to %d, found %r" % (what, most, value))
    return value


def _groups(args):
    """Returns the rules that one entry makes: one rule with all conditions, or one for each condition if two of them test the same
    argument."""
    conditions = [_condition(arg) for arg in args]
    if len({arg["index"] for arg in args}) < len(args):
        return [[condition] for condition in conditions]
    return [conditions]


def _condition(arg):
    if arg["op"] not in OPERATORS:
        raise ProfileError("unknown operator %s" % arg["op"])
    second = 0 if arg.get("valueTwo") is None else arg["valueTwo"]
    index = _number(arg["index"], 5, "an argument index")
    values = [_number(value, MAX_VALUE, "an argument's value") for value in (arg["value"], second)]
    return "%d %s %#x %#x" % (index, OPERATORS[arg["op"]], *values)


def _action(name, errno):
    if name not in ACTIONS:
        raise ProfileError("unknown action %s" % name)
    if name not in WITH_DATA:
        return ACTIONS[name]
    return ACTIONS[name] | (EPERM if errno is None else _number(errno, MAX_ERRNO, "an errno"))


def _arch(name):
    if not isinstance(name, str) or not re.fullmatch(r"SCMP_ARCH_\w+", name, re.ASCII):  # a name with a line break would add a line
        raise ProfileError("no architecture is called %r" % (name,))
    return name[len("SCMP_ARCH_"):].lower()


def _sub_arches(profile, arch):
    if profile.get("architectures"):
        return [name for name in profile["architectures"] if name != arch]
    if profile.get("archMap") is None:
        return []
    for entry in profile["archMap"]:
        if entry["architecture"] == arch:
            return entry.get("subArchitectures") or []
    raise ProfileError("the profile has no archMap entry for %s" % arch)


def _applies(entry, arch, kernel, capabilities):
    includes, excludes = entry.get("includes") or {}, entry.get("excludes") or {}
    if includes.get("arches") and arch not in includes["arches"]:
        return False
    if not capabilities.issuperset(includes.get("caps") or []):
        return False
    if includes.get("minKernel") and kernel < kernel_version(includes["minKernel"]):
        return False
    if arch in (excludes.get("arches") or []) or capabilities.intersection(excludes.get("caps") or []):
        return False
    return not (excludes.get("minKernel") and kernel >= kernel_version(excludes["minKernel"]))


def kernel_version(text):
    version, revision = text.split(".")
    return int(version), int(revision)
