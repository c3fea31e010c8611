"""What scripts/oss_fuzz_check consists of: the builder and the build check of OSS-Fuzz, emulated on this machine."""
