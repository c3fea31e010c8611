package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"gvisor.dev/gvisor/pkg/bpf"
)

const recordBytes = 64

// pairs runs two raw programs on 64-byte records repeatedly, as gVisor's own differential fuzzer does: bpf.Exec runs the first
// program, and bpf.InstrumentedExec, which records coverage, the second. It prints how many records both programs ran.
// scripts/bench uses it as a reference. The arguments are two programs, a file of records, and seconds.
func pairs(arguments []string) error {
	if len(arguments) != 4 {
		return fmt.Errorf("expected BEFORE AFTER INPUTS SECONDS, found %d arguments", len(arguments))
	}
	var compiled [2]bpf.Program
	for i := range compiled {
		raw, err := os.ReadFile(arguments[i])
		if err != nil {
			return err
		}
		if compiled[i], err = readProgram(raw); err != nil {
			return fmt.Errorf("%s: %w", arguments[i], err)
		}
	}
	records, err := os.ReadFile(arguments[2])
	if err != nil {
		return err
	}
	if len(records) < recordBytes || len(records)%recordBytes != 0 {
		return fmt.Errorf("%s: expected records of %d bytes, found %d bytes", arguments[2], recordBytes, len(records))
	}
	seconds, err := strconv.ParseFloat(arguments[3], 64)
	if err != nil {
		return err
	}
	covered := make([]bool, compiled[1].Length())
	count, start := 0, time.Now()
	for time.Since(start).Seconds() < seconds {
		for at := 0; at < len(records); at += recordBytes {
			input := bpf.Input(records[at : at+recordBytes])
			before, err := bpf.Exec[bpf.LittleEndian](compiled[0], input)
			if err != nil {
				return err
			}
			after, err := bpf.InstrumentedExec[bpf.LittleEndian](compiled[1], input)
			if err != nil {
				return err
			}
			if before != after.ReturnValue {
				return fmt.Errorf("record %d: %#x and %#x", at/recordBytes, before, after.ReturnValue)
			}
			for line, ran := range after.Coverage {
				covered[line] = covered[line] || ran
			}
			count++
		}
	}
	lines := 0
	for _, ran := range covered {
		if ran {
			lines++
		}
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"pairs": count, "seconds": time.Since(start).Seconds(), "lines": lines})
}

func readProgram(raw []byte) (bpf.Program, error) {
	var insns []bpf.Instruction
	for ; len(raw) >= 8; raw = raw[8:] {
		insns = append(insns, bpf.RawInstruction(binary.LittleEndian.Uint16(raw), raw[2], raw[3], binary.LittleEndian.Uint32(raw[4:])))
	}
	return bpf.Compile(insns, false)
}
