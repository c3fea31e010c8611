"""Tests what is built for a guest: modules in the right order, the initramfs, the compilation of askers, and kernels taken out of packages."""

import lzma
import shutil
import struct
import subprocess

import pytest

from kernel import apt, boards, image

ENTRY = boards.BOARDS["s390x"].entries[0]


def module(folder, name, needs=""):
    (folder / (name + ".ko")).write_bytes(b"\x7fELF\0license=GPL\0depends=%s\0name=x\0" % needs.encode())


def test_modules_are_loaded_after_those_that_they_need(tmp_path):
    module(tmp_path, "virtio_console")
    module(tmp_path, "virtio_pci", "virtio-pci-modern-dev,virtio_pci_legacy_dev")
    module(tmp_path, "virtio_pci_legacy_dev", "virtio_pci_modern_dev")
    module(tmp_path, "virtio_pci_modern_dev")
    module(tmp_path, "virtio_net")
    names = [path.stem for path in image.modules_in_order(tmp_path, ("virtio_pci", "virtio_console", "virtio"))]
    assert names == ["virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_console"]


def members(archive):
    """Reads an archive in the format "newc" back."""
    at, found = 0, []
    while True:
        assert archive[at:at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
        name = archive[at + 110:at + 110 + fields[11] - 1].decode()
        assert archive[at + 110 + fields[11] - 1] == 0
        at = (at + 110 + fields[11] + 3) // 4 * 4
        if name == "TRAILER!!!":
            assert at == len(archive)
            return found
        found.append((name, fields[1], archive[at:at + fields[6]]))
        at = (at + fields[6] + 3) // 4 * 4


def test_the_initramfs_has_askers_modules_and_their_list(tmp_path):
    (tmp_path / "one").write_bytes(b"native")
    (tmp_path / "two").write_bytes(b"compat!")
    module(tmp_path, "virtio_console")
    archive = image.initramfs({"/asker": tmp_path / "one", "/asker-two": tmp_path / "two"}, [tmp_path / "virtio_console.ko"])
    found = {name: (mode, content) for name, mode, content in members(archive)}
    assert found["asker"] == (0o100755, b"native")
    assert found["asker-two"] == (0o100755, b"compat!")
    assert found["modules"] == (0o100644, b"/m/virtio_console.ko\n")
    assert found["m/virtio_console.ko"][1] == (tmp_path / "virtio_console.ko").read_bytes()
    assert {name for name, (mode, _) in found.items() if mode == 0o40755} == {"dev", "proc", "sys", "root", "m"}


def test_cpio_reads_the_initramfs(tmp_path):
    (tmp_path / "one").write_bytes(b"native")
    done = subprocess.run(["cpio", "-it", "--quiet"], input=image.initramfs({"/asker": tmp_path / "one"}, []), capture_output=True, check=True)
    assert done.stdout.split() == [b"dev", b"proc", b"sys", b"root", b"m", b"asker", b"modules"]


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="no dpkg-deb")
def test_a_kernel_and_its_modules_are_taken_out_of_a_package(tmp_path):
    tree = tmp_path / "tree"
    for name, content in {"DEBIAN/control": b"Package: a\nVersion: 1\nArchitecture: all\nMaintainer: a <a@a>\nDescription: a\n", "boot/vmlinuz-1": b"kernel",
                          "boot/config-1": b"CONFIG_A=y\n", "boot/System.map-1": b"map", "lib/modules/1/kernel/drivers/virtio/virtio_pci.ko": b"plain",
                          "usr/lib/modules/1/kernel/drivers/char/virtio_console.ko.xz": lzma.compress(b"compressed"), "lib/modules/1/kernel/net/other.ko": b"other"}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)
    subprocess.run(["dpkg-deb", "-b", str(tree), str(tmp_path / "a.deb")], check=True, stdout=subprocess.DEVNULL)
    image.extract_kernel(tmp_path / "a.deb", tmp_path / "new")
    assert {str(path.relative_to(tmp_path / "new")): path.read_bytes() for path in (tmp_path / "new").rglob("*") if path.is_file()} == {
        "kernel": b"kernel", "config": b"CONFIG_A=y\n", "modules/virtio_pci.ko": b"plain", "modules/virtio_console.ko": b"compressed"}
    (tree / "boot/vmlinuz-1").unlink()
    subprocess.run(["dpkg-deb", "-b", str(tree), str(tmp_path / "b.deb")], check=True, stdout=subprocess.DEVNULL)
    with pytest.raises(boards.NotAvailable, match="b.deb has no kernel"):
        image.extract_kernel(tmp_path / "b.deb", tmp_path / "other")
    (tmp_path / "c.deb").write_bytes(struct.pack("<I", 7))
    with pytest.raises(boards.NotAvailable, match="c.deb"):
        image.extract_kernel(tmp_path / "c.deb", tmp_path / "third")


@pytest.fixture
def sysroot(tmp_path):
    for name in ("usr/lib/s390x-linux-gnu/crt1.o", "usr/lib/gcc/s390x-linux-gnu/12/libgcc.a"):
        (tmp_path / "libc" / name).parent.mkdir(parents=True)
        (tmp_path / "libc" / name).touch()
    return tmp_path / "libc"


def test_an_asker_is_compiled_again_only_after_a_change(sysroot, tmp_path, monkeypatch):
    ran = []

    def run(command):
        ran.append(command)
        (tmp_path / "asker").touch()

    monkeypatch.setattr(apt, "run", run)
    monkeypatch.setattr(image.shutil, "which", lambda name: "/usr/bin/" + name)
    image.build_asker(ENTRY, sysroot, tmp_path / "asker")
    image.build_asker(ENTRY, sysroot, tmp_path / "asker")
    assert len(ran) == 1
    assert "--target=s390x-linux-gnu" in ran[0] and str(sysroot / "usr/lib/s390x-linux-gnu/crt1.o") in ran[0]
    monkeypatch.setattr(image, "FLAGS", (*image.FLAGS, "-DCHANGED"))
    image.build_asker(ENTRY, sysroot, tmp_path / "asker")
    assert len(ran) == 2
    (tmp_path / "asker").unlink()
    image.build_asker(ENTRY, sysroot, tmp_path / "asker")
    assert len(ran) == 3


def test_a_missing_linker_or_library_is_not_available(sysroot, tmp_path, monkeypatch):
    monkeypatch.setattr(image.shutil, "which", lambda name: None)
    with pytest.raises(boards.NotAvailable, match="ld.lld-19 is not installed"):
        image.build_asker(ENTRY, sysroot, tmp_path / "asker")
    shutil.rmtree(sysroot / "usr/lib/gcc")
    with pytest.raises(boards.NotAvailable, match="has no usr/lib/gcc"):
        image.build_asker(ENTRY, sysroot, tmp_path / "asker")


def test_kernels_are_kept_by_what_was_asked_for(tmp_path):
    old, new = (image.Kernel(tmp_path / release / version, release, version) for release, version in (("6.1.0-50-s390x", "6.1.2-1"), ("6.12.9+deb12-s390x", "6.12.9-1~bpo12+1")))
    assert image.kept_kernel(tmp_path, None) is None
    image.keep_kernel(tmp_path, None, old)
    assert image.kept_kernel(tmp_path, None) is None  # its folder is missing
    for kernel in (old, new):
        kernel.folder.mkdir(parents=True)
    image.keep_kernel(tmp_path, "6.12", new)
    assert image.kept_kernel(tmp_path, None) == old
    assert image.kept_kernel(tmp_path, "6.12") == new
    assert image.kept_kernel(tmp_path, "6.1") is None


def test_the_31_bit_asker_is_compiled_by_gcc_with_its_own_libraries(tmp_path):
    entry = boards.BOARDS["s390x"].entries[1]
    for name in ("usr/lib/x86_64-linux-gnu/libopcodes-2.40-s390x.so", "usr/bin/s390x-linux-gnu-gcc-12", "usr/bin/s390x-linux-gnu-gcc-ar-12", "usr/bin/s390x-linux-gnu-gcc-ranlib-12"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    command = image.compile_command(entry, tmp_path, tmp_path / "asker")
    assert command[:4] == ["env", "LD_LIBRARY_PATH=%s" % (tmp_path / "usr/lib/x86_64-linux-gnu"), str(tmp_path / "usr/bin/s390x-linux-gnu-gcc-12"), "-m31"]
    assert "-static" in command


@pytest.mark.parametrize("name, expected", [
    ("s390x", ["libc6-dev", "linux-libc-dev", "libgcc-12-dev"]), ("mipsel", ["libc6-dev", "linux-libc-dev", "libgcc-12-dev", "libc6-dev-mips32", "lib32gcc-12-dev"]),
    ("s390", ["gcc-12-s390x-linux-gnu", "cpp-12-s390x-linux-gnu", "binutils-s390x-linux-gnu", "libgcc-12-dev-s390x-cross", "lib32gcc-12-dev-s390x-cross",
              "libc6-dev-s390x-cross", "libc6-dev-s390-s390x-cross", "linux-libc-dev-s390x-cross"])])
def test_the_packages_of_an_entry(name, expected, tmp_path, monkeypatch):
    entry = next(entry for board in boards.BOARDS.values() for entry in board.entries if entry.name == name)
    listed = ["libgcc-9-dev", "libgcc-12-dev", "libgcc-12-dev-arm64-cross", "libgcc-s1", "gcc-9-s390x-linux-gnu", "gcc-12-s390x-linux-gnu", "gcc-12-s390x-linux-gnu-base"]
    monkeypatch.setattr(apt, "run", lambda command, *_: "\n".join(each for each in listed if each.startswith(command[2])))
    assert image.libc_packages(apt.Archive(tmp_path, "s390x"), entry) == expected
    listed.clear()
    with pytest.raises(boards.NotAvailable, match="have no package"):
        image.libc_packages(apt.Archive(tmp_path, "s390x"), entry)
