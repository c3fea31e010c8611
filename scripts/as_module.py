"""Import a script whose file name has no extension as a module, for tests."""


import importlib.machinery
import importlib.util


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module
