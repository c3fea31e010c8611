"""Tests how scripts/pinned.py installs pinned packages. Packages come from a folder, so no test needs a network."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pinned  # noqa: E402


@pytest.fixture
def pins(tmp_path, monkeypatch):
    """Returns a function that makes a wheel with the module `tiny` and returns the file that pins it."""
    def make(value):
        wheel = tmp_path / "wheels/tiny-1-py3-none-any.whl"
        wheel.parent.mkdir(exist_ok=True)
        files = {"tiny.py": "VALUE = %d\n" % value, "tiny-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1\n",
                 "tiny-1.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
        record = "".join("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode(), len(text))
                         for name, text in files.items())
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in {**files, "tiny-1.dist-info/RECORD": record + "tiny-1.dist-info/RECORD,,\n"}.items():
                archive.writestr(name, text)
        path = tmp_path / "pins"
        path.write_text("tiny==1 --hash=sha256:%s\n" % hashlib.sha256(wheel.read_bytes()).hexdigest())
        return path
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    return make


def test_packages_are_installed_once_and_again_if_the_pins_change(pins, tmp_path):
    folder = pinned.python_packages(pins(1), tmp_path / "installed/tiny")
    assert (folder / "tiny.py").read_text() == "VALUE = 1\n"
    (folder / "tiny.py").write_text("changed")
    pinned.python_packages(tmp_path / "pins", folder)
    assert (folder / "tiny.py").read_text() == "changed"
    pinned.python_packages(pins(2), folder)
    assert (folder / "tiny.py").read_text() == "VALUE = 2\n"
    assert [path.name for path in folder.parent.iterdir()] == ["tiny"]


def test_a_package_with_another_hash_is_missing_and_nothing_is_installed(pins, tmp_path):
    pins(1)
    (tmp_path / "pins").write_text("tiny==1 --hash=sha256:%s\n" % ("0" * 64))
    with pytest.raises(pinned.Missing, match="pip cannot install pins: .*"):
        pinned.python_packages(tmp_path / "pins", tmp_path / "installed/tiny")
    assert list((tmp_path / "installed").iterdir()) == []
