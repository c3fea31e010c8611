"""Runs another solver on a query in SMT-LIB 2, as a reference for scripts/bench hard.

Run as a script: smt_reference.py bitwuzla|cvc5 FILE SECONDS prints the answer (sat, unsat or unknown) and the seconds for reading and solving. Needs the
Python module of that name (PyPI)."""
import sys
import time


def bitwuzla(path, seconds):
    import bitwuzla as solver
    options = solver.Options()
    options.set(solver.Option.TIME_LIMIT_PER, int(1000 * seconds))
    parser = solver.Parser(solver.TermManager(), options)
    parser.parse(path, parse_only=True)
    return str(parser.bitwuzla().check_sat())


def cvc5(path, seconds):
    import cvc5 as module
    solver = module.Solver(module.TermManager())
    solver.setOption("tlimit-per", str(int(1000 * seconds)))
    parser = module.InputParser(solver)
    parser.setFileInput(module.InputLanguage.SMT_LIB_2_6, path)
    while True:
        command = parser.nextCommand()
        if command.isNull() or str(command).startswith("(check-sat"):
            return str(solver.checkSat())
        command.invoke(solver, parser.getSymbolManager())


if __name__ == "__main__":
    start = time.monotonic()
    answer = {"bitwuzla": bitwuzla, "cvc5": cvc5}[sys.argv[1]](sys.argv[2], float(sys.argv[3])).split()[0]
    print(answer if answer in ("sat", "unsat") else "unknown", "%.3f" % (time.monotonic() - start))
