"""Builds the package, which contains libsecequiv.so.

If SECEQUIV_LIBRARY names a built library, it is copied. Otherwise CMake builds one in build/python of the source tree around
this folder. The first build takes some minutes. $CXX names the compiler; without it, CMake chooses one.

If SECEQUIV_COMMAND names the built command line, the package contains it. SECEQUIV_PLATFORM is the wheel's platform, if it is not this one.
If SECEQUIV_WASM names secequiv.wasm, the package contains this in place of a library, and fits every platform.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup  # before distutils, which setuptools replaces
from distutils.command.build_scripts import build_scripts
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

COMMAND = os.environ.get("SECEQUIV_COMMAND")
WASM = os.environ.get("SECEQUIV_WASM")
TREE = Path(__file__).resolve().parents[2]


def version():
    return re.search(r"project\(secequiv VERSION ([0-9.]+)", (TREE / "CMakeLists.txt").read_text()).group(1)


def library():
    """Returns the path of the library; builds it if SECEQUIV_LIBRARY is not set."""
    given = os.environ.get("SECEQUIV_LIBRARY")
    if given:
        return given
    build = TREE / "build" / "python"
    subprocess.run(["cmake", "-S", str(TREE), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DSECEQUIV_TESTS=OFF"], check=True)
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", str(build), "--parallel", jobs, "--target", "libsecequiv"], check=True)
    return build / "lib" / "libsecequiv.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        folder = Path(__file__).parent / "src" if getattr(self, "editable_mode", False) else Path(self.build_lib)
        (folder / "secequiv").mkdir(parents=True, exist_ok=True)
        if WASM:
            shutil.copyfile(WASM, folder / "secequiv" / "secequiv.wasm")
        else:
            shutil.copyfile(library(), folder / "secequiv" / "libsecequiv.so")


class CopyCommand(build_scripts):
    """Copies the command, which is neither a script nor a source."""

    def run(self):
        self.mkpath(self.build_dir)
        self.copy_file(COMMAND, str(Path(self.build_dir) / "secequiv"))

    def get_source_files(self):
        return []


class PlatformWheel(bdist_wheel):
    """Tags the wheel for this platform and any Python, because the library is not an extension module."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = bool(WASM)

    def get_tag(self):
        return "py3", "none", "any" if WASM else os.environ.get("SECEQUIV_PLATFORM") or super().get_tag()[2]


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return not WASM


setup(version=version(), distclass=BinaryDistribution, install_requires=["wasmtime>=20"] if WASM else [], scripts=["secequiv"] if COMMAND else [],
      entry_points={"console_scripts": ["secequiv = secequiv_command:main"]} if WASM else {},
      cmdclass={"build_py": BuildWithLibrary, "build_scripts": CopyCommand, "bdist_wheel": PlatformWheel})
