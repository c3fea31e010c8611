// Command gvisor writes the seccomp filters of gVisor's Sentry, before and after gVisor's own
// optimizations. It also writes the rule sets that they were made from, as policies.
//
//	go run . -names NAMES -out DIR [-config NAME]
//
// NAMES holds one "number name" pair per line, the system calls of x86_64. For each configuration it writes
// DIR/programs/gvisor/NAME.before.bpf, NAME.after.bpf (struct sock_filter, little endian) and DIR/policies/gvisor/NAME.json,
// and prints one JSON object with gVisor's version, the sizes and a description of each.
package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"gvisor.dev/gvisor/pkg/bpf"
)

// written is the report about one configuration. Sizes are in instructions.
type written struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Before      int    `json:"before"`
	After       int    `json:"after"`
}

func main() {
	namesFile := flag.String("names", "", "file with the `number name` pairs of x86_64")
	out := flag.String("out", "", "folder to write to")
	only := flag.String("config", "", "write only this configuration")
	flag.Parse()
	if *namesFile == "" || *out == "" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*namesFile, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "gvisor:", err)
		os.Exit(1)
	}
}

func run(namesFile, out, only string) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("gVisor compiles for the architecture it runs on: this needs amd64, not %s", runtime.GOARCH)
	}
	names, err := readNames(namesFile)
	if err != nil {
		return err
	}
	version, err := gvisorVersion()
	if err != nil {
		return err
	}
	var done []written
	for _, c := range configurations {
		if only != "" && only != c.name {
			continue
		}
		w, err := writeConfiguration(c, names, version, out)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		done = append(done, w)
	}
	if len(done) == 0 {
		return fmt.Errorf("no configuration is called %q", only)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"version": version, "configurations": done})
}

func writeConfiguration(c configuration, names syscallNames, version, out string) (written, error) {
	before, after, err := compile(c.program)
	if err != nil {
		return written{}, err
	}
	description := fmt.Sprintf("Filter of gVisor's Sentry, %s: %s", version, c.description)
	policy, err := exportPolicy(c, description, names)
	if err != nil {
		return written{}, err
	}
	if err := sameProgram(policy, names, before, after); err != nil {
		return written{}, err
	}
	for path, content := range map[string][]byte{
		"programs/gvisor/" + c.name + ".before.bpf": bytecode(before),
		"programs/gvisor/" + c.name + ".after.bpf":  bytecode(after),
		"policies/gvisor/" + c.name + ".json":       []byte(policy),
	} {
		path = filepath.Join(out, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return written{}, err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return written{}, err
		}
	}
	return written{c.name, c.description, len(before), len(after)}, nil
}

// bytecode returns the program as an array of struct sock_filter: code, jt, jf, k, little endian.
func bytecode(program []bpf.Instruction) []byte {
	var raw []byte
	for _, insn := range program {
		raw = binary.LittleEndian.AppendUint16(raw, insn.OpCode)
		raw = append(raw, insn.JumpIfTrue, insn.JumpIfFalse)
		raw = binary.LittleEndian.AppendUint32(raw, insn.K)
	}
	return raw
}

// gvisorVersion returns the version of the gVisor module in this binary.
func gvisorVersion() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("built without module information")
	}
	for _, module := range info.Deps {
		if module.Path == "gvisor.dev/gvisor" {
			return module.Version, nil
		}
	}
	return "", fmt.Errorf("gvisor.dev/gvisor is not among the modules of this binary")
}
