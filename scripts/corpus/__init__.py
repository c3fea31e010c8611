"""Regenerate corpus/programs and their policies: real filters, dumped by the tools that make them.

Owns the sources (sources.py, gvisor/, libseccomp/), how an OCI profile becomes libseccomp rules (oci.py), which programs
there are and the manifest (programs.py). It must not know
the C++ that reads the corpus, and it interprets no program: a dump is stored as its tool made it.
"""
