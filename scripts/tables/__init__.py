"""Generate harness/seccomp/tables/*.inc: system call numbers and named argument constants per architecture.

Owns the sources (sources.py), what is selected from them, with all exceptions (selection.py), the merging and
cross-checking (syscalls.py, constants.py) and the file format (output.py). It must not know the C++ that includes
the files: it shares only the names of the macros with them.
"""
