"""Every known bug in corpus/known.toml must still exist. If it was fixed, its entry must be deleted."""

import struct

import frames
import pytest
from built_adapters import built

from corpus import known
from naive.accept import accept
from naive.naive import Insn, run

HANG_SECONDS = 3
ENTRIES = known.load()


def differs(entry, adapter, secequiv, resolved):
    """(ours, theirs) as measured now."""
    if entry.request == "evaluate":
        program = entry.program()
        status, body = adapter.ask(frames.evaluate(program, [entry.data]))
        assert status == frames.ANSWERED, body
        return run(program, entry.data), frames.values(body)[0]
    if entry.request == "optimize":
        program = entry.program()
        status, body = adapter.ask(frames.optimize(program))
    else:
        status, body = adapter.ask(frames.compile_policy(resolved(entry.file.read_text())))
    assert status == frames.ANSWERED, body
    after = [Insn(*insn) for insn in frames.decode(body)]
    refusal = accept(after)
    if entry.kind == "refused-output":
        return "accepted", "accepted" if refusal is None else "%s at %d" % refusal
    assert refusal is None
    if entry.request == "optimize":
        return run(program, entry.data), run(after, entry.data)
    words = ",".join(str(word) for word in struct.unpack("<16I", entry.data))
    done = secequiv("run", entry.file, "--words", words)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[1].split()[0], 0), run(after, entry.data)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_known_bug_still_exists(entry, secequiv, resolved):
    command = [built(entry.adapter), *entry.arguments]
    if entry.kind == "slow":
        pytest.skip("tests never time anything")
    if entry.kind == "hang":
        adapter = frames.Served(command, HANG_SECONDS)
        with pytest.raises(frames.Gone, match="no answer within"):
            adapter.ask(frames.compile_policy(resolved(entry.file.read_text())) if entry.request == "compile"
                        else b"O" + entry.file.read_bytes())
        return
    with frames.Served(command, 60) as adapter:
        assert differs(entry, adapter, secequiv, resolved) == (entry.ours, entry.theirs)
