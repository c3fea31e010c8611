"""The independent second evaluator of seccomp filters: naive Python written from the Linux kernel's behaviour.

Owns a second opinion on acceptance and evaluation, and the runner of the shared vectors. It must not know the C++
harness: no shared tables, no bindings, no generated code. Agreement between the two only means something while
they have nothing in common.
"""
