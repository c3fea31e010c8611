"""Makes what QEMU boots: Debian's kernel, and an initramfs with the askers and the modules that the port to the host needs."""

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
from .boards import NotAvailable

HERE = Path(__file__).resolve().parent
CLANG = "clang-19"
LINKER = "ld.lld-19"
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


def package_of(board):
    return "linux-image-" + board.flavour


def package_pattern(board):
    return r"linux-image-[0-9][a-z0-9.+~-]*-%s" % re.escape(board.flavour)


def release_of(package):
    return package.name[len("linux-image-"):]


def chosen(archive, board, version):
    """Returns the kernel's package. `version` is a version of a package or the start of a release; without it, apt chooses."""
    if version is None:
        return archive.candidate_dependency(package_of(board), package_pattern(board))
    found = archive.versions(archive.names(package_pattern(board)))
    fitting = [each for each in found if each.version == version or (release_of(each) + "-").startswith((version + ".", version + "-", version + "+"))]
    if not fitting:
        raise NotAvailable("no version %s of %s; there are %s" % (version, package_of(board), ", ".join(each.version for each in found) or "none"))
    return newest(fitting)


def newest(packages):
    def is_newer(one, other):
        return subprocess.run(["dpkg", "--compare-versions", one.version, "gt", other.version]).returncode == 0

    best = packages[0]
    for each in packages[1:]:
        best = each if is_newer(each, best) else best
    return best


def extract_kernel(deb, folder):
    """Takes the kernel, its configuration and the modules of virtio out of a package."""
    (folder / "modules").mkdir(parents=True)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as files:
            for one in files:
                if not one.isfile():
                    continue
                if re.fullmatch(r"\./boot/vmlinu[xz]-.*", one.name):
                    (folder / "kernel").write_bytes(files.extractfile(one).read())
                elif re.fullmatch(r"\./boot/config-.*", one.name):
                    (folder / "config").write_bytes(files.extractfile(one).read())
                elif module := re.fullmatch(r"\./(?:usr/)?lib/modules/.*/(virtio[a-z0-9_-]*)\.ko(\.xz)?", one.name):
                    content = files.extractfile(one).read()
                    (folder / "modules" / (module.group(1).replace("-", "_") + ".ko")).write_bytes(lzma.decompress(content) if module.group(2) else content)
    if process.returncode != 0 or not (folder / "kernel").exists():
        raise NotAvailable("%s has no kernel" % deb.name)


def fetch_kernel(archive, board, folder, version):
    """Downloads and extracts a kernel unless this was done before."""
    package = chosen(archive, board, version)
    kernel = Kernel(folder / release_of(package) / package.version, release_of(package), package.version)
    if kernel.folder.exists():
        return kernel
    kernel.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        deb, = archive.download([package], Path(temporary) / "packages")
        extract_kernel(deb, Path(temporary) / "new")
        (Path(temporary) / "new").replace(kernel.folder)
    return kernel


def libc_packages(archive, entry):
    names = archive.names(r"libgcc-[0-9]+-dev")
    if not names:
        raise NotAvailable("the package lists of %s have no package libgcc-12-dev or the like" % entry.debian)
    number = max(int(re.search(r"\d+", name).group()) for name in names)
    return ["libc6-dev", "linux-libc-dev", "libgcc-%d-dev" % number] + ([entry.libc, entry.libgcc % number] if entry.libc else [])


def fetch_libc(archive, entry, folder):
    """Unpacks the C library for static programs of an entry; returns the folder."""
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        for deb in archive.download(libc_packages(archive, entry), Path(temporary) / "packages"):
            apt.unpack(deb, Path(temporary) / "new")
        (Path(temporary) / "new").replace(folder)
    return folder


def only_path(folder, pattern):
    """Returns the only path in the folder that matches the pattern."""
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise NotAvailable("%s has no %s" % (folder, pattern))
    return paths[-1]


def compile_command(entry, sysroot, to):
    """Returns the command. It names all folders and start files, because clang finds those of some targets only in a complete system."""
    libraries = only_path(sysroot, "usr/lib/*/crt1.o").parent
    headers = sysroot / "usr/include"
    libgcc = only_path(sysroot, "usr/lib/gcc/*/*/libgcc.a").parent / entry.libgcc_folder
    libc = sysroot / entry.folder if entry.folder else libraries
    return [CLANG, "--target=" + entry.target, *entry.flags, *FLAGS, "-nostdlibinc", "-isystem", str(headers / libraries.name), "-isystem", str(headers),
            "-fuse-ld=lld", "-static", "-s", "-nostdlib", "-L%s" % libc, "-L%s" % libgcc, "-o", str(to), str(libc / "crt1.o"), str(libc / "crti.o"),
            str(libgcc / "crtbeginT.o"), *map(str, sources()), "-Wl,--start-group", "-lgcc", "-lgcc_eh", "-lc", "-Wl,--end-group",
            str(libgcc / "crtend.o"), str(libc / "crtn.o")]


def build_asker(entry, sysroot, to):
    """Compiles the asker for an entry unless `to` was made from the same sources in the same way."""
    command = compile_command(entry, sysroot, to)
    stamp = hashlib.sha256(repr(command).encode() + b"".join(path.read_bytes() for path in sorted((HERE / "asker").iterdir()))).hexdigest()
    kept = to.with_name(to.name + ".stamp")
    if to.exists() and kept.exists() and kept.read_text() == stamp:
        return to
    if shutil.which(LINKER) is None:
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


def kept_kernel(folder, version):
    """Returns the kernel that was fetched last, or that of the given version, or None."""
    for line in reversed(json.loads((folder / "kernels.json").read_text()) if (folder / "kernels.json").exists() else []):
        kernel = Kernel(folder / line["release"] / line["version"], line["release"], line["version"])
        if kernel.folder.exists() and version in (None, kernel.version, kernel.release):
            return kernel
    return None


def keep_kernel(folder, kernel):
    kept = json.loads((folder / "kernels.json").read_text()) if (folder / "kernels.json").exists() else []
    line = {"release": kernel.release, "version": kernel.version}
    apt.write_json(folder / "kernels.json", [each for each in kept if each != line] + [line])
