"""Turn OCI seccomp profiles into libseccomp rules, as runc does.

Owns the profile's vocabulary and its conditions (includes, excludes, archMap). It must not know libseccomp itself: the
result is the text that libseccomp/dump.c reads.
"""

import re

ACTIONS = {
    "SCMP_ACT_KILL": 0x00000000, "SCMP_ACT_KILL_THREAD": 0x00000000, "SCMP_ACT_KILL_PROCESS": 0x80000000,
    "SCMP_ACT_TRAP": 0x00030000, "SCMP_ACT_ERRNO": 0x00050000, "SCMP_ACT_NOTIFY": 0x7FC00000,
    "SCMP_ACT_TRACE": 0x7FF00000, "SCMP_ACT_LOG": 0x7FFC0000, "SCMP_ACT_ALLOW": 0x7FFF0000,
}
WITH_DATA = ("SCMP_ACT_ERRNO", "SCMP_ACT_TRACE")
EPERM = 1  # the data of those two where the profile gives none

OPERATORS = {
    "SCMP_CMP_NE": "ne", "SCMP_CMP_LT": "lt", "SCMP_CMP_LE": "le", "SCMP_CMP_EQ": "eq", "SCMP_CMP_GE": "ge",
    "SCMP_CMP_GT": "gt", "SCMP_CMP_MASKED_EQ": "masked_eq",
}

# Profiles name an architecture one way in archMap and another in includes and excludes.
GO_ARCHES = {"SCMP_ARCH_X86_64": "amd64", "SCMP_ARCH_AARCH64": "arm64"}


class ProfileError(Exception):
    """The profile contains something that has no meaning here."""


def rules(profile, arch, kernel, capabilities=frozenset()):
    """The rule text for `profile` (parsed JSON) in a container with `capabilities` on `arch` and a `kernel`.

    `arch` is a key of GO_ARCHES, `kernel` a (version, revision) pair.
    """
    default = _action(profile["defaultAction"], profile.get("defaultErrnoRet"))
    lines = ["default %#010x" % default]
    lines += ["arch %s" % _arch(name) for name in [arch, *_sub_arches(profile, arch)]]
    for entry in profile["syscalls"]:
        if not _applies(entry, GO_ARCHES[arch], kernel, capabilities):
            continue
        action = _action(entry["action"], entry.get("errnoRet"))
        if action == default:
            continue
        for name in entry["names"]:
            if not re.fullmatch(r"\w+", name, re.ASCII):  # the text has one rule on each line
                raise ProfileError("no system call is called %r" % name)
            lines += [" ".join(["rule %#010x %s" % (action, name), *group]) for group in _groups(entry.get("args") or [])]
    return "\n".join(lines) + "\n"


def flat(default, action, arch, names):
    """The rule text that gives every call in `names` the same action."""
    head = ["default %#010x" % default, "arch %s" % arch]
    return "\n".join(head + ["rule %#010x %s" % (action, name) for name in names]) + "\n"


def _groups(args):
    """The rules that one entry makes: one with all conditions, or one per condition if an index repeats."""
    conditions = [_condition(arg) for arg in args]
    if len({arg["index"] for arg in args}) < len(args):
        return [[condition] for condition in conditions]
    return [conditions]


def _condition(arg):
    if arg["op"] not in OPERATORS:
        raise ProfileError("unknown operator %s" % arg["op"])
    return "%d %s %#x %#x" % (arg["index"], OPERATORS[arg["op"]], arg["value"], arg.get("valueTwo", 0))


def _action(name, errno):
    if name not in ACTIONS:
        raise ProfileError("unknown action %s" % name)
    if name not in WITH_DATA:
        return ACTIONS[name]
    return ACTIONS[name] | (EPERM if errno is None else errno)


def _arch(name):
    return name.replace("SCMP_ARCH_", "").lower()


def _sub_arches(profile, arch):
    if profile.get("architectures"):
        return [name for name in profile["architectures"] if name != arch]
    for entry in profile["archMap"]:
        if entry["architecture"] == arch:
            return entry.get("subArchitectures") or []
    raise ProfileError("the profile has no archMap entry for %s" % arch)


def _applies(entry, arch, kernel, capabilities):
    includes, excludes = entry.get("includes") or {}, entry.get("excludes") or {}
    for conditions in (includes, excludes):
        unknown = set(conditions) - {"arches", "caps", "minKernel"}
        if unknown:
            raise ProfileError("unknown condition %s" % ", ".join(sorted(unknown)))
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
