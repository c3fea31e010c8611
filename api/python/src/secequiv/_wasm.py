"""The library as WebAssembly, for systems that no native library fits. Needs the package wasmtime.

Owns how Python's arguments reach the module's memory: `Library` has the functions that a ctypes.CDLL of libsecequiv.so has, with the same
argument types. It must not know what the functions do.
"""

import ctypes
import struct
import threading
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._library import ALL_INSTRUCTIONS

MEMORY_MIB = 512  # of the module in all
DIAGRAMS_MIB = 256  # of decision diagrams, if nobody says how many
OPTIONS = struct.Struct("<5I4xdQQ7I4x")  # struct secequiv_options on wasm32


class Library:
    """Calls functions of the module at `path`. Threads take turns."""

    def __init__(self, path: str, signatures: Dict[str, Tuple[Any, List[Any]]]) -> None:
        try:
            import wasmtime
        except ImportError:
            raise ImportError("%s needs the package wasmtime (pip install wasmtime)" % path) from None
        self._name, self._signatures, self._lock = path, signatures, threading.RLock()
        self._trap = wasmtime.Trap
        config = wasmtime.Config()
        try:
            config.cache = True  # compiling takes seconds
        except wasmtime.WasmtimeError:
            pass  # no folder that can be written
        engine = wasmtime.Engine(config)
        self._module = wasmtime.Module.from_file(engine, path)
        self._linker = wasmtime.Linker(engine)
        self._linker.define_wasi()
        self._new_store, self._wasi, self._instance = lambda: wasmtime.Store(engine), wasmtime.WasiConfig, 0
        self._restart()

    def _restart(self) -> None:
        self._instance += 1
        self._store = self._new_store()
        self._store.set_wasi(self._wasi())
        self._store.set_limits(memory_size=MEMORY_MIB << 20)
        self._exports = self._linker.instantiate(self._store, self._module).exports(self._store)
        self._memory = self._exports["memory"]
        self._exports["_initialize"](self._store)

    def _run(self, name: str, *arguments: int) -> Any:
        try:
            return self._exports[name](self._store, *arguments)
        except self._trap as trap:
            ran_out = self._exports["secequiv_module_memory_ran_out"](self._store)
            self._restart()
            if ran_out:
                raise MemoryError("the module's memory ran out") from None
            raise RuntimeError("the module trapped in %s, which is a bug: %s" % (name, str(trap).rpartition("wasm trap: ")[2].strip())) from None

    # Pointers that callers keep have the number of their instance in the upper half: those of an earlier instance point nowhere.
    def _kept(self, at: int) -> Optional[int]:
        return self._instance << 32 | at if at else None

    def _address(self, kept: int) -> int:
        if kept >> 32 != self._instance:
            raise MemoryError("this filter was lost when the module's memory ran out or the module trapped; read it again")
        return kept & 0xffffffff

    def bytes_at(self, kept: int, length: int) -> bytes:
        with self._lock:
            at = self._address(kept)
            return bytes(self._memory.read(self._store, at, at + length))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        result, kinds = self._signatures[name]

        def function(*arguments: Any) -> Any:
            with self._lock:
                if result is None and arguments[0] and arguments[0] >> 32 != self._instance:
                    return None  # a result of an earlier instance needs not be freed
                call = _Call(self)
                out = self._run(name, *[call.passed(argument, kind) for argument, kind in zip(arguments, kinds)])
                call.finish()
                return self._returned(out, result)

        return function

    def _returned(self, out: Any, kind: Any) -> Any:
        if kind is ctypes.c_void_p:
            return self._kept(out)
        if kind is not ctypes.c_char_p or not out:
            return out if kind is not ctypes.c_char_p else None
        parts: List[bytes] = []
        while not parts or b"\0" not in parts[-1]:
            at = out + sum(map(len, parts))
            parts.append(bytes(self._memory.read(self._store, at, at + 4096)))
        return b"".join(parts).partition(b"\0")[0]


class _Call:
    """The memory that the arguments of one call take."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._taken: List[int] = []
        self._outputs: List[Tuple[int, Any]] = []  # addresses, and the ctypes objects that get what is there

    def passed(self, argument: Any, kind: Any) -> int:
        """Returns the number that the module gets for an argument of a type of `_library`."""
        if argument is None:
            return 0
        if isinstance(argument, int):
            if kind is ctypes.c_void_p:
                return self._library._address(argument)
            if argument == ALL_INSTRUCTIONS:
                return 0xffffffff
            if not 0 <= argument < 0xffffffff:
                raise ValueError("expected a number from 0 to 2**32-2, found %d" % argument)
            return argument
        if isinstance(argument, bytes):
            return self._copied(argument + b"\0")
        target = getattr(argument, "_obj", argument)  # of byref()
        if hasattr(target, "_fields_"):
            return self._copied(self._options(target))
        at = self._copied(bytes(target))
        self._outputs.append((at, target))
        return at

    def finish(self) -> None:
        """Copies outputs, and frees the memory."""
        for at, target in self._outputs:
            content = bytes(self._library._memory.read(self._library._store, at, at + ctypes.sizeof(target)))
            ctypes.memmove(ctypes.byref(target), content, len(content))
        for at in self._taken:
            self._library._run("free", at)

    def _copied(self, content: bytes) -> int:
        at: int = self._library._run("malloc", max(len(content), 1))
        if at == 0:
            raise MemoryError("the module's memory ran out")
        self._taken.append(at)
        self._library._memory.write(self._library._store, content, at)
        return at

    def _options(self, given: Any) -> bytes:
        numbers = [given.same, given.refines, given.engine, given.any_length]
        texts = [given.assume, given.arch, given.form, given.kernel, given.capabilities, given.filter, given.policy_format]
        memory = min(given.max_memory_mib or DIAGRAMS_MIB, DIAGRAMS_MIB)
        return OPTIONS.pack(OPTIONS.size, *numbers, given.timeout_seconds, memory, given.max_regions, *[self.passed(text, None) for text in texts])
