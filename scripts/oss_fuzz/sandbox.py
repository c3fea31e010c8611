"""Run a command as a fuzzing service would: $OUT has another path than during the build, the sources and the build folder are
hidden, and only /tmp is writable. This needs mount namespaces (root, or an unprivileged user namespace); `Sandbox.isolated` states
whether they are available."""

import os
import shutil
import subprocess
from pathlib import Path

# The mount namespace has its own /tmp that contains $OUT; `hidden` folders are empty, everything else is read-only.
_SCRIPT = """
set -e
out=$1 tmp=$2 hidden=$3
shift 3
mkdir -p "$tmp/not-out"
mount --bind "$out" "$tmp/not-out"
mount --rbind "$tmp" /tmp
case $hidden/ in /tmp/*) ;; *) mount -t tmpfs none "$hidden" ;; esac
mount -o remount,bind,ro /tmp/not-out
awk '{ print $2 }' /proc/self/mounts | sort -ru | while read -r at; do
  case $at in "$tmp"/* | "$hidden"/* | /tmp | /tmp/* | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) continue ;; esac
  mount -o remount,bind,ro "$at"
done
cd /tmp/not-out
exec "$@"
"""


def namespaces():
    """Returns a command prefix that creates a mount namespace, or None if this machine does not permit one."""
    unshare = shutil.which("unshare")
    for options in (["--mount"], ["--user", "--map-root-user", "--mount"]) if unshare else ():
        prefix = [unshare, *options, "--propagation", "private"]
        if subprocess.run(prefix + ["mount", "-t", "tmpfs", "none", "/tmp"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return prefix
    return None


class Sandbox:
    """The place in which the targets of one build run. `out` is the moved $OUT, `scratch` becomes /tmp, `hidden` is the source tree."""

    def __init__(self, out, scratch, hidden, isolate=True):
        self._real_out, self._real_tmp, self._hidden = Path(out).resolve(), Path(scratch).resolve(), Path(hidden).resolve()
        self._prefix = namespaces() if isolate else None
        self.isolated = self._prefix is not None
        # Paths as the command sees them.
        self.out = Path("/tmp/not-out") if self.isolated else self._real_out
        self.tmp = Path("/tmp") if self.isolated else self._real_tmp

    def part(self, name):
        """Returns a sandbox for the same build whose /tmp is a folder of its own, so that several commands can run at once."""
        scratch = self.put(name)
        scratch.mkdir(exist_ok=True)
        return Sandbox(self._real_out, scratch, self._hidden, self.isolated)

    def put(self, name):
        """Returns the path that a file or folder in the command's /tmp has outside the sandbox, where the caller can prepare or read it."""
        return self._real_tmp / name

    def run(self, command, environment=None, timeout=120, **more):
        """Runs a command in $OUT without this process's environment; joins standard output and error, as text."""
        variables = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/tmp", "TMPDIR": str(self.tmp), "OUT": str(self.out), **(environment or {})}
        command = [str(part) for part in command]
        if self.isolated:
            command = self._prefix + ["sh", "-c", _SCRIPT, "sh", str(self._real_out), str(self._real_tmp), str(self._hidden)] + command
        try:
            return subprocess.run(command, cwd=str(self._real_out), env=variables, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", **more)
        except subprocess.TimeoutExpired as error:
            output = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
            return subprocess.CompletedProcess(command, -1, output + "\nstopped after %d s\n" % timeout)
