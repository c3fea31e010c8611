"""Calls libsecequiv.so through ctypes, or secequiv.wasm through wasmtime, and copies its results into Python objects.

Owns the library's memory: `call` frees everything that it allocates. It must not know what results mean.
"""

import ctypes
import json
import os
import shutil
import weakref
from pathlib import Path
from typing import Any, Dict, NamedTuple, Optional, Tuple

ABI = 1
DATA_SIZE = 64
ALL_INSTRUCTIONS = ctypes.c_size_t(-1).value


class Options(ctypes.Structure):
    """struct secequiv_options."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("same", ctypes.c_uint32),
        ("refines", ctypes.c_uint32),
        ("engine", ctypes.c_uint32),
        ("any_length", ctypes.c_uint32),
        ("timeout_seconds", ctypes.c_double),
        ("max_memory_mib", ctypes.c_uint64),
        ("max_regions", ctypes.c_uint64),
        ("assume", ctypes.c_char_p),
        ("arch", ctypes.c_char_p),
        ("form", ctypes.c_char_p),
        ("kernel", ctypes.c_char_p),
        ("capabilities", ctypes.c_char_p),
        ("filter", ctypes.c_char_p),
        ("policy_format", ctypes.c_char_p),
    ]


class Raw(NamedTuple):
    """A result, copied."""

    verdict: int
    message: str
    document: Optional[Dict[str, Any]]
    witness: Optional[Tuple[bytes, int, int]]
    value: Optional[int]
    program: Optional[bytes]
    is_policy: bool
    notes: str


class Parsed:
    """A result of secequiv_parse, freed with this object. It cannot be copied: a deep copy or pickle of its owner has None instead."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        weakref.finalize(self, LIBRARY.secequiv_result_free, handle)

    def __reduce__(self) -> Tuple[type, Tuple[()]]:
        return type(None), ()


_POINTER, _SIZE, _OPTIONS = ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Options)
_U32 = ctypes.POINTER(ctypes.c_uint32)
_SIGNATURES = {
    "secequiv_abi_version": (ctypes.c_uint32, []),
    "secequiv_version": (ctypes.c_char_p, []),
    "secequiv_parse": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _OPTIONS]),
    "secequiv_prove": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_prove_parsed": (_POINTER, [_POINTER, _POINTER, _OPTIONS]),
    "secequiv_prove_property": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _OPTIONS]),
    "secequiv_prove_property_parsed": (_POINTER, [_POINTER, ctypes.c_char_p, _OPTIONS]),
    "secequiv_diff_parsed": (_POINTER, [_POINTER, _POINTER, _OPTIONS]),
    "secequiv_why_parsed": (_POINTER, [_POINTER, ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_diff": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_evaluate": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_validate": (_POINTER, [ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_why": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_actions": (_POINTER, [ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_reach": (_POINTER, [ctypes.c_char_p, _SIZE, _SIZE, _OPTIONS]),
    "secequiv_cost": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _SIZE, ctypes.c_char_p, _OPTIONS]),
    "secequiv_cache": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, _SIZE, _OPTIONS]),
    "secequiv_disassemble": (_POINTER, [_POINTER, ctypes.c_char_p, _OPTIONS]),
    "secequiv_lift": (_POINTER, [_POINTER, ctypes.c_char_p, _OPTIONS]),
    "secequiv_optimize": (_POINTER, [_POINTER, _OPTIONS]),
    "secequiv_diff_page": (_POINTER, [_POINTER, _POINTER, _OPTIONS]),
    "secequiv_lint": (_POINTER, [ctypes.c_char_p, _SIZE, ctypes.c_char_p, ctypes.c_int, _OPTIONS]),
    "secequiv_result_verdict": (ctypes.c_int, [_POINTER]),
    "secequiv_result_message": (ctypes.c_char_p, [_POINTER]),
    "secequiv_result_json": (ctypes.c_char_p, [_POINTER]),
    "secequiv_result_witness": (ctypes.c_int, [_POINTER, ctypes.c_char_p, _U32, _U32]),
    "secequiv_result_value": (ctypes.c_int, [_POINTER, _U32]),
    "secequiv_result_program": (_POINTER, [_POINTER, ctypes.POINTER(_SIZE)]),
    "secequiv_result_is_policy": (ctypes.c_int, [_POINTER]),
    "secequiv_result_notes": (ctypes.c_char_p, [_POINTER]),
    "secequiv_result_free": (None, [_POINTER]),
}


def _found() -> str:
    """Returns the library of this package, or the one beside the command line, in a build folder or an installation."""
    name = "libsecequiv.so.%d" % ABI
    command = shutil.which(os.environ.get("SECEQUIV") or "secequiv")
    near = [Path(__file__).parent / each for each in ("libsecequiv.so", "secequiv.wasm")]
    for pattern in ("lib*/", "lib/*/") if command else ():
        near += sorted(Path(command).resolve().parent.parent.glob(pattern + name))
    return str(next((path for path in near if path.exists()), name))


def _load() -> Any:
    name = os.environ.get("SECEQUIV_LIBRARY") or _found()
    if name.endswith(".wasm"):
        from ._wasm import Library

        return _checked(name, Library(name, _SIGNATURES))
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError("cannot load the library of secequiv: %s (set SECEQUIV_LIBRARY to the path of libsecequiv.so, or SECEQUIV "
                          "to the path of the command secequiv in an installation or a build folder)" % error) from None
    for function, (result, arguments) in _SIGNATURES.items():
        entry = getattr(library, function)
        entry.restype, entry.argtypes = result, arguments
    library.bytes_at = ctypes.string_at
    return _checked(name, library)


def _checked(name: str, library: Any) -> Any:
    found = library.secequiv_abi_version()
    if found != ABI:
        raise ImportError("%s has version %d of the interface; expected %d" % (name, found, ABI))
    return library


LIBRARY = _load()


def call(function: str, *arguments: Any, **options: Any) -> Raw:
    """Calls `function` of the library and copies its result; `options` are members of struct secequiv_options."""
    handle = _called(function, arguments, options)
    try:
        return _copied(handle)
    finally:
        LIBRARY.secequiv_result_free(handle)


def parse_kept(*arguments: Any, **options: Any) -> Tuple[Raw, Parsed]:
    """Calls secequiv_parse as `call` does, but also keeps its result."""
    kept = Parsed(_called("secequiv_parse", arguments, options))
    return _copied(kept.handle), kept


def _called(function: str, arguments: Tuple[Any, ...], options: Dict[str, Any]) -> int:
    given = Options(size=ctypes.sizeof(Options), **options)
    handle: int = getattr(LIBRARY, function)(*arguments, ctypes.byref(given))
    return handle


def _copied(handle: Optional[int]) -> Raw:
    document = LIBRARY.secequiv_result_json(handle)
    data, before, after = ctypes.create_string_buffer(DATA_SIZE), ctypes.c_uint32(), ctypes.c_uint32()
    witness = LIBRARY.secequiv_result_witness(handle, data, ctypes.byref(before), ctypes.byref(after))
    value, length = ctypes.c_uint32(), ctypes.c_size_t()
    has_value = LIBRARY.secequiv_result_value(handle, ctypes.byref(value))
    program = LIBRARY.secequiv_result_program(handle, ctypes.byref(length))
    return Raw(
        verdict=LIBRARY.secequiv_result_verdict(handle),
        message=LIBRARY.secequiv_result_message(handle).decode(errors="replace"),
        document=json.loads(document) if document else None,
        witness=(data.raw, before.value, after.value) if witness else None,
        value=value.value if has_value else None,
        program=LIBRARY.bytes_at(program, 8 * length.value) if program else None,
        is_policy=bool(LIBRARY.secequiv_result_is_policy(handle)),
        notes=LIBRARY.secequiv_result_notes(handle).decode(errors="replace"),
    )
