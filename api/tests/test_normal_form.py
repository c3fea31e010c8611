"""Tests the readers of the normal form for C, C++ and Python: on policies of the corpus, they agree with each other and with a plain JSON reader.

The readers for Go and Rust have their own tests.
"""

import io
import json
import struct
import sys

import pytest
from api_build import BUILD, ROOT, run

sys.path.insert(0, str(ROOT / "api" / "python" / "src"))

import secequiv_adapter  # noqa: E402

POLICIES = sorted((ROOT / "corpus/policies/seed").glob("*.json")) + [ROOT / "corpus/policies/gvisor/systrap.json",
                                                                     ROOT / "corpus/policies/oci/docker-default.json"]
OPERATORS = ("eq", "ne", "gt", "ge", "lt", "le", "masked_eq")
DUMP = r"""
#include "secequiv_normal_form.h"
#include <stdio.h>
int main(int argc, char** argv) {
  for (int file = 1; file < argc; ++file) {
    static char text[1 << 22];
    struct secequiv_policy p;
    FILE* in = fopen(argv[file], "rb");
    const size_t size = fread(text, 1, sizeof text, in), wrong = secequiv_read_policy(text, size, &p);
    fclose(in);
    if (wrong) { printf("wrong at %d\n", (int)wrong - 1); continue; }
    printf("%u %u |", p.default_action, p.bad_arch_action);
    for (size_t i = 0; i < p.arch_count; ++i) printf(" %u %d", p.arches[i].audit, p.arches[i].big_endian);
    printf(" |");
    for (size_t i = 0; i < p.range_count; ++i)
      printf(" %u %u %u %u", p.ranges[i].audit, p.ranges[i].first, p.ranges[i].last, p.ranges[i].action);
    printf(" |");
    for (size_t i = 0; i < p.hot_count; ++i) printf(" %u %u", p.hot[i].audit, p.hot[i].nr);
    for (size_t i = 0; i < p.rule_count; ++i) {
      const struct secequiv_rule* r = &p.rules[i];
      printf(" | %u %u %u", r->action, r->audit, r->nr);
      for (size_t j = 0; j < r->count; ++j) {
        printf(" or");
        for (size_t k = 0; k < r->any_of[j].count; ++k) {
          const struct secequiv_condition* c = &r->any_of[j].conditions[k];
          printf(" (%d %d %d %llu %llu)", c->field, c->bits, (int)c->op, (unsigned long long)c->mask, (unsigned long long)c->value);
        }
      }
    }
    printf("\n");
    secequiv_free_policy(&p);
  }
  return 0;
}
"""


def expected(form):
    def numbers(items, *names):
        return "".join(" %d" % item[name] for item in items for name in names)

    out = "%d %d |%s |%s |%s" % (form["default_action"], form["bad_arch_action"], numbers(form["arches"], "audit", "big_endian"),
                                 numbers(form["ranges"], "audit", "first", "last", "action"), numbers(form["hot"], "audit", "nr"))
    for rule in form["rules"]:
        out += " | %d %d %d" % (rule["action"], rule["audit"], rule["nr"])
        for all_of in rule["any_of"]:
            out += " or" + "".join(" (%d %d %d %d %d)" % (c["field"], c["bits"], OPERATORS.index(c["op"]), c["mask"], c["value"])
                                   for c in all_of)
    return out


def forms(folder):
    for file in POLICIES:
        written = folder / file.name
        run(BUILD / "bin" / "secequiv", "import", "--as", "normal-form", file, "-o", written)
        yield written


@pytest.mark.parametrize("language, standard", [("c", "c99"), ("c++", "c++11")])
def test_the_c_reader_reads_every_member(tmp_path, language, standard):
    source, program = tmp_path / "dump", tmp_path / "dump.program"
    source.write_text(DUMP)
    run("g++" if language == "c++" else "gcc", "-x", language, "-std=" + standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-g",
        "-O2", "-Wstrict-aliasing=1",
        "-fsanitize=address,undefined", "-I", ROOT / "harness/adapter", source, "-o", program)
    files = list(forms(tmp_path))
    text = files[-1].read_text()
    wrong = ["", "{", "[]", text[:-3], text + "1", text.replace("327681", "4294967296"), text.replace('"nr"', '"number"', 1),
             text.replace('"field": 0', '"field": 7', 1), text.replace('"bits": 64, ', "", 1), text.replace('": 1', '": 2', 1), "[" * 100000,
             text.replace('"bits": 64', '"bits": 33', 1), text.replace('"bits": 64', '"bits": 0', 1), text.replace('"bits": 64', '"bits": 32', 1),
             text.replace('"nr": ', '"nr": 1, "nr": ', 1), text.replace('"name": ', '"name": "", "name": ', 1), text.replace('"eq"', '"is"', 1)]
    broken = []
    for i, each in enumerate(wrong):
        assert each != text
        broken.append(tmp_path / ("wrong%d" % i))
        broken[-1].write_text(each)
    lines = run(program, *files, *broken).splitlines()
    assert lines[:len(files)] == [expected(json.loads(file.read_text())) for file in files]
    assert [line.split(" at ")[0] for line in lines[len(files):]] == ["wrong"] * len(wrong)


def test_the_python_reader_reads_every_member(tmp_path):
    for file in forms(tmp_path):
        read, form = secequiv_adapter.read_policy(file.read_bytes()), json.loads(file.read_text())
        assert form.pop("normal_form") == 1
        again = read._asdict()
        again["hot"] = [{"audit": audit, "nr": nr} for audit, nr in read.hot]
        for name in ("arches", "ranges"):
            again[name] = [each._asdict() for each in again[name]]
        again["rules"] = [{**rule._asdict(), "any_of": [[c._asdict() for c in all_of] for all_of in rule.any_of]} for rule in read.rules]
        assert again == form


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"normal_form": 2, "arches": [1]}', '{"normal_form": 1, "arches": [1], "rules": [{}]}',
                                  "[" * 100000])
def test_the_python_reader_refuses_malformed_text(text):
    with pytest.raises(secequiv_adapter.Refused):
        secequiv_adapter.read_policy(text.encode())


class Pipes:
    """Standard input and output as bytes."""

    def __init__(self, monkeypatch, *requests):
        monkeypatch.setattr(sys, "argv", ["adapter"])
        raw = b"".join(struct.pack("<I", len(request)) + request for request in requests)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        self.out = io.BytesIO()
        self.text = io.TextIOWrapper(self.out)  # without this reference, Python would close the bytes
        monkeypatch.setattr(sys, "stdout", self.text)

    def answers(self):
        raw = self.out.getvalue()
        while raw:
            end = 4 + struct.unpack("<I", raw[:4])[0]
            yield raw[4:end]
            raw = raw[end:]


def test_python_serves_each_kind_of_request(monkeypatch):
    def compiled(policy):
        if policy.rules:
            raise secequiv_adapter.Unsupported("no rules")
        return [(6, 0, 0, policy.default_action)]

    form = (b'{"normal_form": 1, "name": "", "default_action": 5, "bad_arch_action": 0, "ranges": [], "hot": [], "rules": %s,'
            b' "arches": [{"name": "", "audit": 1, "big_endian": false}]}')
    ret = struct.pack("<HBBI", 6, 0, 0, 5)
    pipes = Pipes(monkeypatch, b"O" + ret * 2, b"C" + form % b"[]", b"C" + form % b'[{"action": 1, "audit": 1, "nr": 1, "any_of": [[]]}]',
                  b"E" + struct.pack("<I", 1) + ret + bytes([7] * 128), b"", b"O123", b"E" + struct.pack("<I", 9) + ret, b"X")
    secequiv_adapter.serve(lambda program: program[:1], compiled, lambda program, inputs: [program[0].k + each[63] for each in inputs])
    answers = list(pipes.answers())
    assert answers[:4] == [b"\0" + ret, b"\0" + ret, b"\1no rules", b"\0" + struct.pack("<2I", 12, 12)]
    assert [answer[0] for answer in answers[4:]] == [2, 2, 2, 1]


def test_python_answers_missing_functions_as_unsupported(monkeypatch):
    pipes = Pipes(monkeypatch, b"O" + bytes(8), b"C{}", b"E")
    secequiv_adapter.serve()
    assert [answer[0] for answer in pipes.answers()] == [1, 1, 1]
