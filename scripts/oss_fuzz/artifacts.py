"""Inspect the files of a build: names, archives, dictionaries, options, libraries, instrumentation.

Each check returns a list of problems, one line each. No file of the build is run here.
"""

import configparser
import os
import re
import subprocess
import zipfile
from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9_-]{1,255}")
COMPANIONS = ("_seed_corpus.zip", ".dict", ".options")

# The runner has the C library; the target must contain the C++ library.
LIBRARIES = re.compile(r"(linux-(vdso|gate)|ld-linux[-x0-9_]*|libc|libm|libgcc_s|libpthread|libdl|librt|libresolv)\.so(\.\d+)?$")

_ESCAPED = r'\\\\|\\"|\\x[0-9A-Fa-f]{2}'
ENTRY = re.compile(r'\s*(?:[A-Za-z0-9_.+-]+(?:@\d+)?\s*=\s*)?"((?:[^"\\]|%s)+)"\s*' % _ESCAPED)
LONGEST_ENTRY = 128  # bytes; AFL++ refuses to start if an entry is longer
SECTIONS = {"libfuzzer", "afl", "honggfuzz", "centipede", "asan", "ubsan", "msan", "env", "grammar"}

# Limits for the number of calls of a sanitizer's runtime: the fewest in an instrumented target, and the most in any other target, because
# the runtime itself contains some calls.
CALLS = {
    "address": {"asan": (1000, None), "msan": (0, 3), "ubsan": (0, 200)},
    "undefined": {"asan": (0, 0), "msan": (0, 3), "ubsan": (168, None)},
    "memory": {"asan": (0, 0), "msan": (1000, None), "ubsan": (0, 200)},
    "coverage": {"asan": (0, 0), "msan": (0, 3), "ubsan": (0, 200)},
    "none": {"asan": (0, 0), "msan": (0, 3), "ubsan": (0, 200)},
}
UBSAN_MOST_I386 = 280  # for i386 builds without UBSan


def targets(out):
    """Returns the executables with a fuzz target's entry point; the service finds them in the same way."""
    found = []
    for path in sorted(Path(out).iterdir()):
        if path.is_file() and os.access(path, os.X_OK) and not path.name.startswith("afl-"):
            content = path.read_bytes()
            if content[:4] == b"\x7fELF" and b"LLVMFuzzerTestOneInput" in content:
                found.append(path)
    return found


def name_problems(out):
    """Returns problems: names that the service refuses, and files that belong to no target."""
    problems = []
    names = {path.name for path in targets(out)}
    if not names:
        problems.append("no fuzz target: no executable has LLVMFuzzerTestOneInput")
    problems += ["%s: a target's name may contain only letters, digits, _ and -" % name for name in sorted(names) if not NAME.fullmatch(name)]
    for path in sorted(Path(out).iterdir()):
        if path.is_dir():
            problems.append("%s: a folder is left over; seeds go into an archive" % path.name)
            continue
        for suffix in COMPANIONS:
            if path.name.endswith(suffix) and path.name[:-len(suffix)] not in names:
                problems.append("%s: there is no target %s" % (path.name, path.name[:-len(suffix)]))
    return problems


def seeds(target):
    """Returns {name: bytes} of a target's archive; raises ValueError if it is missing, unreadable or empty."""
    archive = target.with_name(target.name + "_seed_corpus.zip")
    try:
        with zipfile.ZipFile(archive) as opened:
            damaged = opened.testzip()
            if damaged is not None:
                raise ValueError("%s: %s is damaged" % (archive.name, damaged))
            found = {info.filename: opened.read(info) for info in opened.infolist() if not info.is_dir()}
    except FileNotFoundError:
        raise ValueError("%s: there is no %s" % (target.name, archive.name)) from None
    except (OSError, zipfile.BadZipFile) as error:
        raise ValueError("%s: %s" % (archive.name, error)) from None
    outside = [name for name in found if name.startswith("/") or ".." in Path(name).parts]
    if outside:
        raise ValueError("%s: %s would be unpacked elsewhere" % (archive.name, outside[0]))
    if not found:
        raise ValueError("%s: has no file" % archive.name)
    return found


def dictionary_problems(path):
    problems = []
    entries = 0
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        text = line.decode("latin-1")
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        match = ENTRY.fullmatch(text)
        where = "%s:%d: " % (path.name, number)
        if match is None or not all(32 <= byte < 127 for byte in line.strip()):
            problems.append(where + 'expected name="value" in printable characters, bytes as \\xNN; found %s' % ascii(text[:60]))
        elif len(re.sub(_ESCAPED, "x", match.group(1))) > LONGEST_ENTRY:
            problems.append(where + "longer than %d bytes" % LONGEST_ENTRY)
        else:
            entries += 1
    if not problems and not entries:
        problems.append("%s: has no entry" % path.name)
    return problems


def options(target):
    """Returns {section: {name: value}} of a target's .options, {} if there is none; raises ValueError."""
    path = target.with_name(target.name + ".options")
    if not path.exists():
        return {}
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    try:
        parser.read_string(path.read_text(), path.name)
    except (configparser.Error, UnicodeDecodeError) as error:
        raise ValueError("%s: %s" % (path.name, str(error).replace("\n", " "))) from None
    found = {section: dict(parser[section]) for section in parser.sections()}
    unknown = sorted(set(found) - SECTIONS)
    if unknown:
        raise ValueError("%s: no section [%s] is known" % (path.name, unknown[0]))
    for section, values in found.items():
        for name, value in values.items():
            if not value:
                raise ValueError("%s: [%s] %s has no value" % (path.name, section, name))
    given = found.get("libfuzzer", {}).get("dict")
    if given is not None and (("/" in given) or not path.with_name(given).is_file()):
        raise ValueError("%s: there is no dictionary %s beside it" % (path.name, given))
    return found


def companion_problems(target):
    """Returns the problems of a target's archive, dictionary and options."""
    problems = []
    for read in (seeds, options):
        try:
            read(target)
        except ValueError as error:
            problems.append(str(error))
    dictionary = target.with_name(target.name + ".dict")
    return problems + (dictionary_problems(dictionary) if dictionary.exists() else [])


def _tool(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=dict(os.environ, LC_ALL="C"))
    return done.stdout if done.returncode == 0 else None


def library_problems(target):
    """Returns problems: shared libraries that a machine without the build's packages lacks, and search paths of the build machine."""
    listing = _tool("readelf", "-d", target)
    if listing is None:
        return ["%s: readelf cannot read it" % target.name]
    needed = re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", listing)
    problems = ["%s: needs the shared library %s, which the runner lacks" % (target.name, name) for name in needed if not LIBRARIES.fullmatch(name)]
    problems += ["%s: looks for libraries in %s" % (target.name, path) for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", listing)
                 if "$ORIGIN" not in path]
    return problems


def architecture_problems(target, architecture):
    machine = int.from_bytes(target.read_bytes()[18:20], "little")
    wanted = {"x86_64": 62, "i386": 3}[architecture]
    return [] if machine == wanted else ["%s: not built for %s (ELF machine %d, not %d)" % (target.name, architecture, machine, wanted)]


def sanitizer_calls(target):
    """Returns {"asan": number of calls of __asan... functions, ...}; None if objdump cannot disassemble the target."""
    process = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", str(target)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               errors="replace", env=dict(os.environ, LC_ALL="C"))
    counts = {"asan": 0, "msan": 0, "ubsan": 0}
    call = re.compile(r"\bcallq?\s+[0-9a-f]+ <__(asan|msan|ubsan)")
    with process.stdout as lines:
        for line in lines:
            match = call.search(line) if "<__" in line else None
            if match:
                counts[match.group(1)] += 1
    return counts if process.wait() == 0 else None


def instrumentation_problems(target, configuration, calls=None):
    """Checks that the target contains the configuration's sanitizer and no other one. The service checks UBSan only in libFuzzer's builds."""
    calls = calls or sanitizer_calls(target)
    if calls is None:
        return ["%s: objdump cannot read it" % target.name]
    problems = []
    for name, (least, most) in CALLS[configuration.sanitizer].items():
        if name == "ubsan" and configuration.engine != "libfuzzer":
            continue
        if name == "ubsan" and most is not None and configuration.architecture == "i386":
            most = UBSAN_MOST_I386
        if calls[name] < least:
            problems.append("%s: found %d calls of __%s, expected at least %d in a target that is compiled with it" % (target.name, calls[name], name, least))
        elif most is not None and calls[name] > most:
            problems.append("%s: found %d calls of __%s in a build with the sanitizer '%s', expected at most %d" % (target.name, calls[name], name, configuration.sanitizer, most))
    return problems
