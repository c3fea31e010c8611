"""Implements a second, independent evaluator of seccomp filters: naive Python, written from the Linux kernel's behaviour.

Owns a second implementation of acceptance and evaluation, and the runner of the shared vectors. It must not know the
C++ harness and shares no tables, bindings or generated code with it. Their agreement is evidence only as long as they
have nothing in common.
"""
