"""Owns the table of architectures: Debian's names, the entries into the kernel, and the machines that QEMU emulates."""

from typing import NamedTuple


HOST = "host"


class Entry(NamedTuple):
    """A way into the kernel, and how a program that uses it is compiled."""

    name: str  # secequiv's name of the architecture, if it has one
    debian: str  # Debian's architecture whose C library the program uses; HOST for GCC's cross compiler and its C library
    target: str  # of clang or GCC
    flags: tuple = ()
    # A second C library of Debian's architecture: its packages, its folder, and the folder of its libgcc.
    libc: str = ""
    libgcc: str = ""
    folder: str = ""
    libgcc_folder: str = ""


class Board(NamedTuple):
    """A machine, the flavour of Debian's kernel that runs on it, and the entries of that kernel, the native one first."""

    flavour: str
    qemu: str  # the command
    package: str  # that contains the command
    machine: tuple
    console: str
    bus: str  # of virtio: pci, device (memory-mapped) or ccw
    entries: tuple
    serial: str = "-serial chardev:console"
    memory: int = 256  # MiB
    has_bitmap: bool = True  # whether this kernel keeps bitmaps of allowed calls


I386 = Entry("i386", "i386", "i686-linux-gnu")
ARM = Entry("arm", "armhf", "arm-linux-gnueabihf", ("-march=armv7-a", "-mfpu=vfpv3-d16"))
N32 = Entry("mips64el-n32", "mips64el", "mips64el-linux-gnuabin32", ("-march=mips64r2",), "libc6-dev-mipsn32", "libn32gcc-%d-dev", "usr/lib32", "n32")
O32 = Entry("mipsel", "mips64el", "mipsel-linux-gnu", ("-march=mips32r2",), "libc6-dev-mips32", "lib32gcc-%d-dev", "usr/libo32", "32")
S390 = Entry("s390", HOST, "s390x-linux-gnu", ("-m31",))  # clang has no 31-bit target

BOARDS = {
    "amd64": Board("amd64", "qemu-system-x86_64", "qemu-system-x86", ("-M", "pc", "-cpu", "max"), "ttyS0", "pci",
                   (Entry("x86_64", "amd64", "x86_64-linux-gnu"), I386)),
    "i386": Board("686-pae", "qemu-system-i386", "qemu-system-x86", ("-M", "pc", "-cpu", "max"), "ttyS0", "pci", (I386,)),
    "arm64": Board("arm64", "qemu-system-aarch64", "qemu-system-arm", ("-M", "virt", "-cpu", "max,pauth-impdef=on"), "ttyAMA0", "device",
                   (Entry("aarch64", "arm64", "aarch64-linux-gnu"), ARM)),
    "armhf": Board("armmp", "qemu-system-arm", "qemu-system-arm", ("-M", "virt", "-cpu", "cortex-a15"), "ttyAMA0", "device", (ARM,), memory=1024),  # it frees programs late
    "ppc64el": Board("powerpc64le", "qemu-system-ppc64", "qemu-system-ppc", ("-M", "pseries,x-vof=on,cap-htm=off", "-cpu", "power9"), "hvc0", "pci",
                     (Entry("ppc64le", "ppc64el", "powerpc64le-linux-gnu"),), "-device spapr-vty,chardev=console", 512),
    "mips64el": Board("5kc-malta", "qemu-system-mips64el", "qemu-system-mips", ("-M", "malta", "-cpu", "5KEc"), "ttyS0", "pci",
                      (Entry("mips64el", "mips64el", "mips64el-linux-gnuabi64", ("-march=mips64r2",)), N32, O32), has_bitmap=False),
    "s390x": Board("s390x", "qemu-system-s390x", "qemu-system-misc", ("-M", "s390-ccw-virtio",), "ttysclp0", "ccw",
                   (Entry("s390x", "s390x", "s390x-linux-gnu"), S390), "-device sclpconsole,chardev=console"),
}
SHORT = ("arm64", "s390x")


class NotAvailable(Exception):
    """Something that a kernel needs is not available on this machine."""
