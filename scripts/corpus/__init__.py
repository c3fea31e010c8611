"""Regenerate corpus/programs and their policies: real filters, dumped by the tools that make them.

Owns the sources (sources.py, gvisor/, libseccomp/), the translation of OCI profiles to libseccomp rules (oci.py), and the list
of programs with its manifest (programs.py). It must not know the C++ that reads the corpus, and it interprets no program: a dump
is stored as its tool made it.
"""
