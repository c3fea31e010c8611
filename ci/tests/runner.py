"""Runs the steps of a composite action or of a workflow's job on this machine as GitHub's runner does. No network, no other actions.

Owns the environment of steps, the files for outputs and PATH, and the few expressions that our action and tutorials use.
"""

import re
import subprocess
import uuid
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
OWN = re.compile(r"OWNER/secequiv@v(\S+)")


def read_values(path):
    """Returns what a step wrote to $GITHUB_OUTPUT: NAME=VALUE, or NAME<<END with lines up to END."""
    values, lines = {}, iter(path.read_text().split("\n") if path.exists() else [])
    for line in lines:
        name, mark, end = line.partition("<<")
        if mark:
            value = []
            for other in lines:
                if other == end:
                    break
                value.append(other)
            values[name] = "\n".join(value)
        elif line:
            values.update([line.split("=", 1)])
    return values


class Runner:
    """A fresh machine: its only secequiv is the one that a step installs."""

    def __init__(self, folder, workspace, package):
        self.temp, self.workspace, self.package = folder / "temp", workspace, package
        self.temp.mkdir(exist_ok=True)
        self.path = ["/usr/local/bin", "/usr/bin", "/bin"]
        self.log, self.summary, self.uploaded = "", "", []
        self.ok = True

    def expression(self, text, values):
        """Evaluates one expression: terms joined by &&, each a value, a comparison with '', or a status function."""
        result = ""
        for term in text.split("&&"):
            name, different, _ = term.strip().partition(" != ''")
            result = {"always()": True, "success()": self.ok, "failure()": not self.ok}.get(name)
            if result is None:
                result = values[name]
            if different:
                result = result != ""
            if not result:
                return result
        return result

    def text(self, template, values):
        return re.sub(r"\$\{\{ *(.*?) *\}\}", lambda found: str(self.expression(found[1], values)), str(template))

    def shell(self, script, environment):
        """Runs a script as `shell: bash` does; returns its exit status and outputs."""
        files = {name: self.temp / ("%s_%s" % (name, uuid.uuid4())) for name in ("OUTPUT", "STEP_SUMMARY", "PATH")}
        script_file = self.temp / "step.sh"
        script_file.write_text(script)
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script_file)], cwd=self.workspace, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={"PATH": ":".join(self.path), "HOME": str(self.temp), "RUNNER_TEMP": str(self.temp), "PIP_NO_INDEX": "1",
                                   **{"GITHUB_" + name: str(path) for name, path in files.items()}, **environment})
        self.log += done.stdout
        if files["STEP_SUMMARY"].exists():
            self.summary += files["STEP_SUMMARY"].read_text()
        if files["PATH"].exists():
            self.path = files["PATH"].read_text().split() + self.path
        return done.returncode, read_values(files["OUTPUT"])

    def steps(self, steps, values, environment=()):
        """Runs steps one after the other. `values` are those of expressions, and also gets their outputs. Returns the status of the last step that failed, or 0."""
        values = values if isinstance(values, Missing) else Missing(values, {step["id"] for step in steps if "id" in step})
        values["runner.temp"] = str(self.temp)
        last = 0
        for step in steps:
            condition = str(step.get("if", "success()"))
            condition = re.sub(r"^\$\{\{ *(.*?) *\}\}$", r"\1", condition)
            if not self.ok and not re.search(r"(always|failure)\(\)", condition) or not self.expression(condition, values):
                continue
            if "run" in step:
                status, outputs = self.shell(step["run"], {**dict(environment), **{name: self.text(value, values) for name, value in step.get("env", {}).items()}})
            else:
                given = {name: self.text(value, values) for name, value in step.get("with", {}).items()}
                status, outputs = self.uses(step["uses"], given)
            values.update({"steps.%s.outputs.%s" % (step.get("id"), name): value for name, value in outputs.items()})
            self.ok = self.ok and status == 0
            last = status or last
        return last

    def uses(self, name, given):
        if OWN.fullmatch(name):
            return self.action(given)
        if name.startswith("github/codeql-action/upload-sarif@"):
            self.uploaded.append((self.workspace / given["sarif_file"]).read_bytes())
        return 0, {}

    def action(self, given):
        """Runs our action; returns its exit status and its outputs."""
        given = {name: {"True": "true", "False": "false"}.get(value, value) for name, value in given.items()}  # YAML's truth values
        unknown = set(given) - set(ACTION["inputs"])
        assert not unknown, unknown
        inputs = {name: given.get(name, field["default"]) for name, field in ACTION["inputs"].items()}
        if "package" not in given:
            inputs["package"] = str(self.package)
        ids = {step["id"] for step in ACTION["runs"]["steps"] if "id" in step}
        values = Missing({"inputs." + name: value for name, value in inputs.items()}, ids)
        outer, self.ok = self.ok, True
        status = self.steps(ACTION["runs"]["steps"], values, {"GITHUB_ACTION_PATH": str(ROOT)})
        self.ok = outer
        return status, {name: self.text(field["value"], values) for name, field in ACTION["outputs"].items()}


class Missing(dict):
    """Outputs that a step did not write are empty. Any other unknown name is an error."""

    def __init__(self, values, ids):
        super().__init__(values)
        self.ids = ids

    def __missing__(self, name):
        found = re.fullmatch(r"steps\.([\w-]+)\.outputs\.([\w-]+)", name)
        if found and found[1] in self.ids:
            return ""
        raise KeyError(name)
