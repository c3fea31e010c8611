"""test_package.py copies this file as test_filters.py and runs it with an installed wheel: two tests pass, one fails, and one reaches its
time limit."""

from pathlib import Path

from secequiv.testing import assert_equivalent, assert_refines

ALLOW = "ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x7fff0000\n"
KILL = "ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x80000000\n"


def test_equivalent_filters(tmp_path: Path) -> None:
    file = tmp_path / "filter.bpf"
    file.write_text(ALLOW)
    assert_equivalent(ALLOW, file)


def test_stricter_filter() -> None:
    assert_refines(ALLOW, KILL)


def test_different_filters() -> None:
    assert_equivalent(ALLOW, KILL)


def test_exhausted_time_limit() -> None:
    assert_equivalent(ALLOW, ALLOW, engine="z3", timeout=1e-9)
