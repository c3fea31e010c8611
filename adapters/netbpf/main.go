// Command netbpf puts golang.org/x/net/bpf under test: its virtual machine as an evaluator, and its disassembler followed
// by its assembler as an optimizer. The two together must not change a filter.
//
// It serves requests as harness/adapter/PROTOCOL.md describes.
package main

import (
	"encoding/binary"
	"fmt"

	"github.com/secequiv/secequiv/api/go/serve"
	"golang.org/x/net/bpf"
)

func main() {
	serve.Command(serve.Handlers{Optimize: reassemble, Evaluate: evaluate})
}

func disassemble(program []serve.Insn) ([]bpf.Instruction, error) {
	raw := make([]bpf.RawInstruction, 0, len(program))
	for _, insn := range program {
		raw = append(raw, bpf.RawInstruction{Op: insn.Code, Jt: insn.Jt, Jf: insn.Jf, K: insn.K})
	}
	insns, all := bpf.Disassemble(raw)
	if !all {
		return nil, fmt.Errorf("Disassemble does not know all instructions")
	}
	return insns, nil
}

func reassemble(program []serve.Insn) ([]serve.Insn, error) {
	insns, err := disassemble(program)
	if err != nil {
		return nil, err
	}
	raw, err := bpf.Assemble(insns)
	if err != nil {
		return nil, err
	}
	out := make([]serve.Insn, 0, len(raw))
	for _, insn := range raw {
		out = append(out, serve.Insn{Code: insn.Op, Jt: insn.Jt, Jf: insn.Jf, K: insn.K})
	}
	return out, nil
}

// evaluate swaps the bytes of each word, because the words of a packet are big-endian.
func evaluate(program []serve.Insn, inputs [][]byte) ([]uint32, error) {
	insns, err := disassemble(program)
	if err != nil {
		return nil, err
	}
	for _, insn := range insns {
		if _, ok := insn.(bpf.NegateA); ok {
			return nil, serve.Unsupported("the virtual machine does not implement NegateA")
		}
	}
	vm, err := bpf.NewVM(insns)
	if err != nil {
		return nil, fmt.Errorf("NewVM: %w", err)
	}
	values := make([]uint32, 0, len(inputs))
	for _, input := range inputs {
		packet := make([]byte, 0, len(input))
		for ; len(input) > 0; input = input[4:] {
			packet = binary.BigEndian.AppendUint32(packet, binary.LittleEndian.Uint32(input))
		}
		value, err := vm.Run(packet)
		if err != nil {
			return nil, err
		}
		values = append(values, uint32(value))
	}
	return values, nil
}
