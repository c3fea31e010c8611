"""Lists the configurations that OSS-Fuzz builds, and the flags that its builder's image passes to build.sh. Owns no path of this
machine."""

from typing import NamedTuple


class Configuration(NamedTuple):
    engine: str
    sanitizer: str  # or `coverage` (measures coverage, does not fuzz), or `none`
    architecture: str

    def __str__(self):
        return "-".join(self)


# The service fuzzes i386 with libFuzzer and ASan only, and the other engines on x86_64 only.
MATRIX = tuple(Configuration(*row.split()) for row in (
    "libfuzzer address x86_64", "libfuzzer undefined x86_64", "libfuzzer memory x86_64", "libfuzzer coverage x86_64",
    "libfuzzer address i386", "afl address x86_64", "honggfuzz address x86_64", "centipede address x86_64", "centipede none x86_64"))
SHORT = MATRIX[0]

COMMON = "-O1 -fno-omit-frame-pointer -gline-tables-only -Wno-error -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION"

_UNRECOVERED = "bool,array-bounds,float-divide-by-zero,function,integer-divide-by-zero,return,shift,signed-integer-overflow,vla-bound,vptr"
SANITIZER = {
    "address": "-fsanitize=address -fsanitize-address-use-after-scope",
    # Unsigned overflow is legal; the service records it as coverage and does not report it (UBSAN_OPTIONS).
    "undefined": "-fsanitize=%s,unsigned-integer-overflow -fno-sanitize-recover=%s" % (_UNRECOVERED, _UNRECOVERED),
    "memory": "-fsanitize=memory -fsanitize-memory-track-origins",
    "coverage": "",
    "none": "",
}
FEEDBACK = {  # how each engine observes execution
    "libfuzzer": "-fsanitize=fuzzer-no-link",
    "afl": "-fsanitize-coverage=trace-pc-guard",
}
COVERAGE = "-fprofile-instr-generate -fcoverage-mapping -pthread -Wno-unused-command-line-argument"
ARCHITECTURE = {"x86_64": "", "i386": "-m32"}

# The settings of the service that can change a result.
RUNTIME = {
    "ASAN_OPTIONS": "allocator_may_return_null=1:alloc_dealloc_mismatch=0:detect_leaks=1:detect_stack_use_after_return=0:"
                    "handle_abort=2:handle_segv=2:handle_sigill=2:strict_memcmp=1:symbolize=0",
    "MSAN_OPTIONS": "print_stats=1:symbolize=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:print_summary=1:silence_unsigned_overflow=1:symbolize=0",
}


def flags(configuration):
    """Returns the CFLAGS of a configuration that do not depend on the machine."""
    feedback = COVERAGE if configuration.sanitizer == "coverage" else FEEDBACK[configuration.engine]
    parts = (ARCHITECTURE[configuration.architecture], COMMON, SANITIZER[configuration.sanitizer], feedback)
    return " ".join(part for part in parts if part)


def chosen(engines, sanitizers, architectures):
    """Returns the configurations with these engines, sanitizers and architectures; an empty list means any."""
    return [each for each in MATRIX if (not engines or each.engine in engines) and (not sanitizers or each.sanitizer in sanitizers)
            and (not architectures or each.architecture in architectures)]
