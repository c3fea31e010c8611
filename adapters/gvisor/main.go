// Command gvisor puts gVisor's seccomp compiler, bytecode optimizer and interpreter under test.
//
// It serves requests as harness/adapter/PROTOCOL.md describes. With --unoptimized it compiles without gVisor's optimizations. For
// --pairs see the function pairs.
package main

import (
	"fmt"
	"os"

	"github.com/secequiv/secequiv/api/go/serve"
	"gvisor.dev/gvisor/pkg/bpf"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--pairs" {
		if err := pairs(os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "gvisor: --pairs: %v\n", err)
			os.Exit(2)
		}
		return
	}
	unoptimized := false
	for _, argument := range os.Args[1:] {
		if argument != "--unoptimized" {
			fmt.Fprintf(os.Stderr, "gvisor: unknown argument '%s': expected --unoptimized or nothing\n", argument)
			os.Exit(2)
		}
		unoptimized = true
	}
	serve.Main(serve.Handlers{
		Optimize: optimize,
		Compile:  func(text []byte) ([]serve.Insn, error) { return compile(text, unoptimized) },
		Evaluate: evaluate,
	})
}

// optimize runs bpf.Optimize, which expects a checked program. Unless the program is too long for
// bpf.Compile, that function checks it first.
func optimize(program []serve.Insn) ([]serve.Insn, error) {
	insns := toGvisor(program)
	if len(insns) <= bpf.MaxInstructions {
		if _, err := bpf.Compile(insns, false); err != nil {
			return nil, fmt.Errorf("bpf.Compile: %w", err)
		}
	}
	return fromGvisor(bpf.Optimize(insns)), nil
}

// evaluate runs bpf.Exec as the Sentry does for the filters of its programs: a filter that fails kills the thread.
func evaluate(program []serve.Insn, inputs [][]byte) ([]uint32, error) {
	if len(program) > bpf.MaxInstructions {
		return nil, serve.Unsupported("expected at most %d instructions, found more", bpf.MaxInstructions)
	}
	compiled, err := bpf.Compile(toGvisor(program), false)
	if err != nil {
		return nil, fmt.Errorf("bpf.Compile: %w", err)
	}
	const killThread = 0
	var values []uint32
	for _, input := range inputs {
		value, err := bpf.Exec[bpf.LittleEndian](compiled, bpf.Input(input))
		if err != nil {
			value = killThread
		}
		values = append(values, value)
	}
	return values, nil
}

func toGvisor(program []serve.Insn) []bpf.Instruction {
	insns := make([]bpf.Instruction, 0, len(program))
	for _, insn := range program {
		insns = append(insns, bpf.RawInstruction(insn.Code, insn.Jt, insn.Jf, insn.K))
	}
	return insns
}

func fromGvisor(insns []bpf.Instruction) []serve.Insn {
	program := make([]serve.Insn, 0, len(insns))
	for _, insn := range insns {
		program = append(program, serve.Insn{Code: insn.OpCode, Jt: insn.JumpIfTrue, Jf: insn.JumpIfFalse, K: insn.K})
	}
	return program
}
