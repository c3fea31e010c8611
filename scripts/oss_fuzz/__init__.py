"""Holds the parts of scripts/oss_fuzz_check, which emulate OSS-Fuzz's builder and build check on this machine."""
