"""Gets packages of other architectures from the mirrors that the host's apt uses. All lists, caches and settings are in a folder of the caller: nothing of the
host is changed, and no package is installed."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from .boards import NotAvailable

BACKPORTS = "-backports"  # suites that have newer kernels; a mirror that lacks them is no error


class Package(NamedTuple):
    name: str
    version: str


def run(command, environment=None, cwd=None):
    """Returns what the command prints. Raises NotAvailable if there is no such command or if it fails."""
    try:
        done = subprocess.run(command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise NotAvailable("%s is not installed" % command[0]) from None
    if done.returncode != 0:
        raise NotAvailable("%s failed: %s" % (" ".join(command[:2]), (done.stderr.strip().splitlines() or ["status %d" % done.returncode])[-1]))
    return done.stdout


def host_sources():
    """Returns the lines of a sources.list with the host's Debian archives."""
    fields = ("REPO_URI", "CODENAME", "COMPONENT", "SIGNED_BY", "ORIGIN")
    printed = run(["apt-get", "indextargets", "--format", "|".join("$(%s)" % field for field in fields), "Created-By: Packages"])
    lines = []
    for line in printed.splitlines():
        uri, codename, component, signed_by, origin = line.split("|")
        if origin != "Debian" or component != "main":
            continue
        keys = "/usr/share/keyrings/debian-archive-keyring.gpg" if signed_by.startswith("$") or not signed_by else signed_by
        options = "[signed-by=%s] " % keys if Path(keys).exists() else ""
        suites = [codename] if "-" in codename else [codename, codename + BACKPORTS]
        lines += ["deb %s%s %s main" % (options, uri, suite) for suite in suites]
    if not lines:
        raise NotAvailable("apt has no Debian archive in its sources (after `apt-get update`)")
    return sorted(set(lines))


def transport_settings():
    """Returns the host's settings for downloads (proxies and the like). All others are left out, hooks above all."""
    return [line for line in run(["apt-config", "dump"]).splitlines() if line.startswith("Acquire::")]


class Archive:
    """The packages of one architecture. `folder` holds apt's files."""

    def __init__(self, folder, architecture):
        self.folder = Path(folder)
        self.architecture = architecture
        self.environment = dict(os.environ, APT_CONFIG=str(self.folder / "apt.conf"), LC_ALL="C")

    def settings(self):
        """Returns the text of apt's configuration file."""
        own = {"Dir::State": "state", "Dir::State::status": "status", "Dir::Cache": "cache", "Dir::Log": "log", "Dir::Etc::sourcelist": "sources.list"}
        lines = ['%s "%s";' % (key, self.folder / value) for key, value in own.items()]
        lines += ['Dir::Etc::%s "/dev/null";' % key for key in ("main", "parts", "sourceparts", "preferences", "preferencesparts")]
        return "\n".join([*transport_settings(), *lines, 'APT::Architecture "%s";' % self.architecture, 'APT::Architectures { "%s"; };' % self.architecture,
                          'APT::Sandbox::User "";', ""])

    def update(self):
        """Fetches the lists of packages. Lists that cannot be fetched are left out, because a mirror may lack a suite or change meanwhile."""
        for name in ("state/lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "sources.list").write_text("\n".join(host_sources()) + "\n")
        (self.folder / "apt.conf").touch(0o600)  # the settings for downloads may have a password
        (self.folder / "apt.conf").write_text(self.settings())
        try:
            run(["apt-get", "-q", "update"], self.environment)
        except NotAvailable:
            if not any(self.folder.glob("state/lists/*_Packages*")):
                raise

    def ready(self):
        return any(self.folder.glob("state/lists/*_Packages*"))

    def names(self, start, pattern):
        """Returns the names of packages that begin with `start` and match the pattern."""
        return sorted(name for name in run(["apt-cache", "pkgnames", start], self.environment).split() if re.fullmatch(pattern, name))

    def versions(self, names):
        """Returns the packages of these names in all versions."""
        if not names:
            return []
        rows = [[cell.strip() for cell in line.split("|")] for line in run(["apt-cache", "madison", *names], self.environment).splitlines()]
        return sorted({Package(row[0], row[1]) for row in rows if len(row) == 3 and row[2].endswith("Packages")})

    def dependency(self, name, pattern):
        """Returns the package that matches the pattern and on which apt's candidate of `name` depends."""
        version = re.search(r"^  Candidate: (\S+)$", run(["apt-cache", "policy", name], self.environment), re.M)
        if version is None or version.group(1) == "(none)":
            raise NotAvailable("the package lists of %s have no package %s" % (self.architecture, name))
        shown = run(["apt-cache", "show", "%s=%s" % (name, version.group(1))], self.environment)
        for field in re.findall(r"^Depends: (.*)$", shown, re.M):
            found = re.search(r"(?:^|, )(%s) \(= ([^)]+)\)" % pattern, field)
            if found:
                return Package(found.group(1), found.group(2))
        raise NotAvailable("%s %s depends on no kernel" % (name, version.group(1)))

    def download(self, packages, to):
        """Downloads packages (Package, or a name) into the folder `to`; returns the files."""
        to.mkdir(parents=True, exist_ok=True)
        before = set(to.glob("*.deb"))
        run(["apt-get", "-q", "download", *("%s=%s" % each if isinstance(each, Package) else each for each in packages)], self.environment, to)
        return sorted(set(to.glob("*.deb")) - before)

    def unpack(self, packages, folder):
        """Downloads packages and unpacks them into the new folder, which exists afterwards with all of them or not at all. Returns the folder."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            for deb in self.download(packages, Path(temporary) / "packages"):
                run(["dpkg-deb", "-x", str(deb), str(Path(temporary) / "new")])
            (Path(temporary) / "new").replace(folder)
        return folder


def write_json(path, value):
    """Writes the file whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(temporary, path)
