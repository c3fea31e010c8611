"""Proves the answers of compilers that run as programs of other architectures. `scripts/kernels compilers` builds them and runs this file."""

import json
import os
from random import Random

import frames
import pytest
from test_compilers import GVISOR, LIBSECCOMP, LIBSECCOMP_32_BITS, LIBSECCOMP_ARCHES, NAMES, NO_X32_LOOKALIKES, answers_are_right

COMMANDS = json.loads(os.environ["SECEQUIV_FOREIGN_COMPILERS"])
FOR_X86_64 = LIBSECCOMP._replace(numbers=NAMES)
CASES = {
    "libseccomp": [((), LIBSECCOMP_ARCHES, None), (("--tree",), LIBSECCOMP_ARCHES, None), ((), LIBSECCOMP_32_BITS, None), ((), FOR_X86_64, NO_X32_LOOKALIKES)],
    "gvisor": [(arguments, GVISOR._replace(arches=(("aarch64",),), vsyscall=False, numbers=tuple(range(8)) + (999,)), None)
               for arguments in ((), ("--unoptimized",))],
}


@pytest.mark.parametrize("name, at", [(name, at) for name in COMMANDS for at in range(len(CASES[name.split("-")[0]]))])
def test_answers_are_right(name, at, secequiv, normal_form, tmp_path):
    arguments, abilities, assume = CASES[name.split("-")[0]][at]
    with frames.Served(COMMANDS[name] + list(arguments), 60) as adapter:
        answers_are_right(adapter, Random(name), abilities, assume, secequiv, normal_form, tmp_path)
