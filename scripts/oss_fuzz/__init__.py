"""The parts of scripts/oss_fuzz_check: OSS-Fuzz's builder and build check, emulated on this machine."""
