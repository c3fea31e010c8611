"""The parts of scripts/oss_fuzz_check. They emulate OSS-Fuzz's builder and build check on this machine."""
