"""A second reading of OCI seccomp profiles: the rules that runc makes from one, as a request to libseccomp (harness/import/library_request.h).

Tests compare secequiv's own reading with the filter that libseccomp makes from these rules. `secequiv asm --libseccomp` cannot take its place there, because that filter comes from
the reading under test. Expects a profile that secequiv imports without errors and warnings. It must not know libseccomp itself.
"""

ACTIONS = {
    "SCMP_ACT_KILL": 0x00000000, "SCMP_ACT_KILL_THREAD": 0x00000000, "SCMP_ACT_KILL_PROCESS": 0x80000000,
    "SCMP_ACT_TRAP": 0x00030000, "SCMP_ACT_ERRNO": 0x00050000, "SCMP_ACT_NOTIFY": 0x7FC00000,
    "SCMP_ACT_TRACE": 0x7FF00000, "SCMP_ACT_LOG": 0x7FFC0000, "SCMP_ACT_ALLOW": 0x7FFF0000,
}
WITH_DATA = ("SCMP_ACT_ERRNO", "SCMP_ACT_TRACE")
EPERM = 1  # the default data of these two actions

OPERATORS = {
    "SCMP_CMP_NE": "ne", "SCMP_CMP_LT": "lt", "SCMP_CMP_LE": "le", "SCMP_CMP_EQ": "eq", "SCMP_CMP_GE": "ge",
    "SCMP_CMP_GT": "gt", "SCMP_CMP_MASKED_EQ": "masked_eq",
}

# Profiles use one name of an architecture in archMap, and another in includes and excludes.
GO_ARCHES = {"SCMP_ARCH_X86_64": "amd64", "SCMP_ARCH_X86": "x86", "SCMP_ARCH_AARCH64": "arm64", "SCMP_ARCH_ARM": "arm", "SCMP_ARCH_S390X": "s390x",
             "SCMP_ARCH_PPC64LE": "ppc64le", "SCMP_ARCH_RISCV64": "riscv64"}


def rules(profile, arch, kernel, capabilities=frozenset()):
    """Returns the rule text for `profile` (parsed JSON) in a container with `capabilities` on `arch` and a `kernel`.

    `arch` is a key of GO_ARCHES, `kernel` a (version, revision) pair.
    """
    default = _action(profile["defaultAction"], profile.get("defaultErrnoRet"))
    lines = ["default %#010x" % default]
    lines += ["arch %s" % name[len("SCMP_ARCH_"):].lower() for name in [arch, *_sub_arches(profile, arch)]]
    for entry in profile["syscalls"] or []:
        if not _applies(entry, GO_ARCHES[arch], kernel, capabilities):
            continue
        action = _action(entry["action"], entry.get("errnoRet"))
        if action == default:
            continue
        for name in [entry["name"]] if entry.get("name") else entry["names"]:
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


def _groups(args):
    """Returns the rules that one entry makes: one rule with all conditions, or one for each condition if two of them test the same
    argument."""
    conditions = ["%d %s %#x %#x" % (arg["index"], OPERATORS[arg["op"]], arg["value"], arg.get("valueTwo") or 0) for arg in args]
    if len({arg["index"] for arg in args}) < len(args):
        return [[condition] for condition in conditions]
    return [conditions]


def _action(name, errno):
    return ACTIONS[name] | (0 if name not in WITH_DATA else EPERM if errno is None else errno)


def _sub_arches(profile, arch):
    if profile.get("architectures"):
        return [name for name in profile["architectures"] if name != arch]
    if profile.get("archMap") is None:
        return []
    return {row["architecture"]: row for row in profile["archMap"]}[arch].get("subArchitectures") or []


def _applies(entry, arch, kernel, capabilities):
    includes, excludes = entry.get("includes") or {}, entry.get("excludes") or {}
    if includes.get("arches") and arch not in includes["arches"]:
        return False
    if not capabilities.issuperset(includes.get("caps") or []):
        return False
    if includes.get("minKernel") and kernel < _version(includes["minKernel"]):
        return False
    if arch in (excludes.get("arches") or []) or capabilities.intersection(excludes.get("caps") or []):
        return False
    return not (excludes.get("minKernel") and kernel >= _version(excludes["minKernel"]))


def _version(text):
    return tuple(map(int, text.split(".")))
