"""Makes what QEMU boots: Debian's kernel, and an initramfs with the askers and the modules that the port to the host needs."""

import functools
import hashlib
import json
import lzma
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import apt
from .boards import HOST, NotAvailable

HERE = Path(__file__).resolve().parent
CLANG = "clang-19"
LINKER = "ld.lld-19"
LINKER_FLAG = "-fuse-ld=lld"
FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")
# Debian's names of the modules; a kernel may have some of them built in.
MODULES = {"pci": ("virtio_pci", "virtio_console"), "device": ("virtio_mmio", "virtio_console"), "ccw": ("virtio_console",)}


def sources():
    return sorted((HERE / "asker").glob("*.c"))


class Kernel(NamedTuple):
    """A kernel that was fetched: its folder, and the release and version that Debian gives it."""

    folder: Path
    release: str
    version: str


    def fits(self, wanted):
        """Whether this is the wanted version: one of a package, a release, or the start of a release. None fits every kernel."""
        return wanted in (None, self.version) or any((self.release + "-").startswith(wanted + end) for end in (".", "-", "+"))


def package_pattern(board):
    """Returns the names of packages with a kernel of the board's flavour, e.g. linux-image-6.12.95+deb12-s390x."""
    return r"linux-image-\d+\.\d+\.\d+(?:[+-](?:\d|deb)[0-9a-z.]*)*-%s" % re.escape(board.flavour)


def available(archive, board, folder):
    """Returns the kernels in the package lists, the oldest first."""
    found = [kernel_of(package, folder) for package in archive.versions(archive.names("linux-image-", package_pattern(board)))]
    return sorted(found, key=functools.cmp_to_key(lambda one, other: 1 if is_newer(one.version, other.version) else -1))


def is_newer(one, other):
    return subprocess.run(["dpkg", "--compare-versions", one, "gt", other]).returncode == 0


def kernel_of(package, folder):
    release = package.name[len("linux-image-"):]
    return Kernel(folder / release / package.version, release, package.version)


def chosen(archive, board, folder, wanted):
    """Returns the newest kernel that is wanted. Without a wish, apt chooses."""
    if wanted is None:
        return kernel_of(archive.dependency("linux-image-" + board.flavour, package_pattern(board)), folder)
    found = available(archive, board, folder)
    fitting = [kernel for kernel in found if kernel.fits(wanted)]
    if not fitting:
        raise NotAvailable("no kernel %s for %s; there are %s" % (wanted, archive.architecture, ", ".join(kernel.release for kernel in found) or "none"))
    return fitting[-1]


def extract_kernel(deb, folder):
    """Takes the kernel, its configuration and the modules of virtio out of a package."""
    (folder / "modules").mkdir(parents=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as files:
                for one in files:
                    if one.isfile():
                        take(one.name, files.extractfile(one), folder)
        except tarfile.TarError as why:
            raise NotAvailable("%s cannot be unpacked: %s" % (deb.name, why)) from None
    if process.returncode != 0 or not (folder / "kernel").exists():
        raise NotAvailable("%s has no kernel" % deb.name)


def take(name, content, folder):
    """Writes a file of a package if it is needed."""
    if re.fullmatch(r"\./boot/vmlinu[xz]-.*", name):
        (folder / "kernel").write_bytes(content.read())
    elif re.fullmatch(r"\./boot/config-.*", name):
        (folder / "config").write_bytes(content.read())
    elif module := re.fullmatch(r"\./(?:usr/)?lib/modules/.*/(virtio[a-z0-9_-]*)\.ko(\.xz)?", name):
        raw = content.read()
        (folder / "modules" / (module.group(1).replace("-", "_") + ".ko")).write_bytes(lzma.decompress(raw) if module.group(2) else raw)


def fetch_kernel(archive, board, folder, wanted):
    """Downloads and extracts a kernel unless this was done before."""
    kernel = chosen(archive, board, folder, wanted)
    if kernel.folder.exists():
        return kernel
    kernel.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        deb, = archive.download([apt.Package("linux-image-" + kernel.release, kernel.version)], Path(temporary) / "packages")
        extract_kernel(deb, Path(temporary) / "new")
        (Path(temporary) / "new").replace(kernel.folder)
    return kernel


def newest_number(archive, start, pattern):
    """Returns the largest number in the names of packages that match the pattern."""
    names = archive.names(start, pattern)
    if not names:
        raise NotAvailable("the package lists of %s have no package %s" % (archive.architecture, pattern))
    return max(int(re.search(r"-(\d+)-", name).group(1)) for name in names)


def libc_packages(archive, entry):
    """Returns the packages with the C library for an entry, or with GCC's cross compiler and its C library, including those for 31 or 32 bits."""
    if entry.debian == HOST:
        number = newest_number(archive, "gcc-", r"gcc-\d+-%s" % entry.target)
        cross = entry.target.split("-")[0] + "-cross"
        return ["gcc-%d-%s" % (number, entry.target), "cpp-%d-%s" % (number, entry.target), "binutils-" + entry.target, "libgcc-%d-dev-%s" % (number, cross),
                "lib32gcc-%d-dev-%s" % (number, cross), "libc6-dev-" + cross, "libc6-dev-s390-" + cross, "linux-libc-dev-" + cross]
    number = newest_number(archive, "libgcc-", r"libgcc-\d+-dev")
    return ["libc6-dev", "linux-libc-dev", "libgcc-%d-dev" % number] + ([entry.libc, entry.libgcc % number] if entry.libc else [])


def fetch_libc(archive, entry, folder):
    """Unpacks the C library for static programs of an entry; returns the folder."""
    return folder if folder.exists() else archive.unpack(libc_packages(archive, entry), folder)


def only_path(folder, pattern):
    """Returns the only path in the folder that matches the pattern."""
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise NotAvailable("%s has no %s" % (folder, pattern))
    return paths[-1]


def compile_command(entry, sysroot, to):
    """Returns the command. It names all folders and start files, because clang finds those of some targets only in a complete system."""
    if entry.debian == HOST:
        libraries = only_path(sysroot, "usr/lib/*/libopcodes-*.so").parent
        gcc = only_path(sysroot, "usr/bin/%s-gcc-[0-9]*" % entry.target)
        return ["env", "LD_LIBRARY_PATH=%s" % libraries, str(gcc), *entry.flags, *FLAGS, "-static", "-s", "-o", str(to), *map(str, sources())]
    libraries = only_path(sysroot, "usr/lib/*/crt1.o").parent
    headers = sysroot / "usr/include"
    libgcc = only_path(sysroot, "usr/lib/gcc/*/*/libgcc.a").parent / entry.libgcc_folder
    libc = sysroot / entry.folder if entry.folder else libraries
    return [CLANG, "--target=" + entry.target, *entry.flags, *FLAGS, "-nostdlibinc", "-isystem", str(headers / libraries.name), "-isystem", str(headers),
            LINKER_FLAG, "-static", "-s", "-nostdlib", "-L%s" % libc, "-L%s" % libgcc, "-o", str(to), str(libc / "crt1.o"), str(libc / "crti.o"),
            str(libgcc / "crtbeginT.o"), *map(str, sources()), "-Wl,--start-group", "-lgcc", "-lgcc_eh", "-lc", "-Wl,--end-group",
            str(libgcc / "crtend.o"), str(libc / "crtn.o")]


def build_asker(entry, sysroot, to):
    """Compiles the asker for an entry unless `to` was made from the same sources in the same way."""
    command = compile_command(entry, sysroot, to)
    stamp = hashlib.sha256(repr(command).encode() + b"".join(path.read_bytes() for path in sorted((HERE / "asker").iterdir()))).hexdigest()
    kept = to.with_name(to.name + ".stamp")
    if to.exists() and kept.exists() and kept.read_text() == stamp:
        return to
    if LINKER_FLAG in command and shutil.which(LINKER) is None:
        raise NotAvailable("%s is not installed (Debian: lld-19)" % LINKER)
    apt.run(command)
    kept.write_text(stamp)
    return to


def depends(module):
    """Returns the names of the modules that a module needs, as its section .modinfo lists them."""
    found = re.search(rb"\0depends=([a-z0-9_,-]*)\0", module.read_bytes())
    return [name.replace("-", "_") for name in found.group(1).decode().split(",") if name] if found else []


def modules_in_order(folder, wanted):
    """Returns the files of the wanted modules and of those that they need, in the order in which they are to be loaded. A module without a file is built in."""
    ordered = []

    def add(name):
        path = folder / (name + ".ko")
        if not path.exists() or path in ordered:
            return
        for each in depends(path):
            add(each)
        ordered.append(path)

    for name in wanted:
        add(name)
    return ordered


def archive_member(name, content, mode):
    """Returns a file or folder as the kernel's initramfs format ("newc") has it."""
    fields = [0, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4)


def initramfs(askers, modules):
    """Returns an initramfs. `askers` maps paths in the guest to files."""
    parts = [archive_member(name, b"", 0o40755) for name in ("dev", "proc", "sys", "root", "m")]
    parts += [archive_member(name.lstrip("/"), path.read_bytes(), 0o100755) for name, path in askers.items()]
    parts += [archive_member("m/" + path.name, path.read_bytes(), 0o100644) for path in modules]
    parts.append(archive_member("modules", "".join("/m/%s\n" % path.name for path in modules).encode(), 0o100644))
    return b"".join(parts) + archive_member("TRAILER!!!", b"", 0)


def kept_kernel(folder, wanted):
    """Returns the kernel that was fetched last for this wish, or None."""
    package = read_kept(folder).get(wanted or "")
    kernel = kernel_of(apt.Package(*package), folder) if package else None
    return kernel if kernel is not None and kernel.folder.exists() else None


def read_kept(folder):
    path = folder / "kernels.json"
    return json.loads(path.read_text()) if path.exists() else {}


def keep_kernel(folder, wanted, kernel):
    apt.write_json(folder / "kernels.json", {**read_kept(folder), wanted or "": ["linux-image-" + kernel.release, kernel.version]})
