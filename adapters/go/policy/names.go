package policy

// Names and what they stand for. The tables are the harness's own (harness/seccomp/tables), which the build lays beside
// this file.

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed tables/*.inc
var tableFiles embed.FS

// Arches are the canonical names of architectures.
var arches = []string{"x86_64", "i386", "x32", "aarch64", "arm", "riscv64", "s390x", "ppc64le", "mips64"}

var archAliases = map[string]string{
	"amd64": "x86_64", "x86": "i386", "386": "i386", "i686": "i386", "arm64": "aarch64", "ppc64el": "ppc64le",
}

func archName(text string) (string, error) {
	name := text
	if scmp, ok := strings.CutPrefix(text, "SCMP_ARCH_"); ok {
		name = strings.ToLower(scmp)
	}
	if canonical, ok := archAliases[name]; ok {
		name = canonical
	}
	if !slices.Contains(arches, name) {
		return "", fmt.Errorf("unknown architecture '%s'", text)
	}
	return name, nil
}

type archConstant struct{ arch, name string }

type names struct {
	syscalls      map[string]map[string]uint32 // by architecture and name
	constants     map[string]uint64
	archConstants map[archConstant]uint64
}

func (n *names) constant(arch, name string) (uint64, bool) {
	if value, ok := n.archConstants[archConstant{arch, name}]; ok {
		return value, true
	}
	value, ok := n.constants[name]
	return value, ok
}

// SyscallName returns the name of a system call, or "".
func SyscallName(call Call) string {
	for name, nr := range tables().syscalls[call.Arch] {
		if nr == call.Nr {
			return name
		}
	}
	return ""
}

// tables reads the tables once. They are part of this program: what is wrong with them is a mistake of its build.
var tables = sync.OnceValue(func() *names {
	n := &names{map[string]map[string]uint32{}, map[string]uint64{}, map[archConstant]uint64{}}
	for _, arch := range arches {
		n.syscalls[arch] = map[string]uint32{}
	}
	files, err := tableFiles.ReadDir("tables")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		raw, err := tableFiles.ReadFile("tables/" + file.Name())
		if err != nil {
			panic(err)
		}
		for _, line := range strings.Split(string(raw), "\n") {
			n.entry(strings.TrimSuffix(file.Name(), ".inc"), line)
		}
	}
	return n
})

// entry reads one line: SECEQUIV_SYSCALL(0, "read"), SECEQUIV_CONSTANT("NAME", 1), SECEQUIV_CONSTANT_ARCH(arch, "NAME", 1).
func (n *names) entry(file, line string) {
	head, rest, found := strings.Cut(line, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !found || !closed || !strings.HasPrefix(head, "SECEQUIV_") {
		return
	}
	fields := strings.Split(inner, ", ")
	number := func(text string) uint64 {
		value, err := parseUnsigned(text)
		if err != nil {
			panic(fmt.Sprintf("tables: %s: %s", line, err))
		}
		return value
	}
	switch head {
	case "SECEQUIV_SYSCALL":
		n.syscalls[file][strings.Trim(fields[1], `"`)] = uint32(number(fields[0]))
	case "SECEQUIV_CONSTANT":
		n.constants[strings.Trim(fields[0], `"`)] = number(fields[1])
	case "SECEQUIV_CONSTANT_ARCH":
		n.archConstants[archConstant{fields[0], strings.Trim(fields[1], `"`)}] = number(fields[2])
	}
}

var actionValues = map[string]uint32{
	"KILL_PROCESS": 0x80000000, "KILL_THREAD": 0, "KILL": 0, "TRAP": 0x00030000, "ERRNO": 0x00050000,
	"USER_NOTIF": 0x7fc00000, "TRACE": 0x7ff00000, "LOG": 0x7ffc0000, "ALLOW": 0x7fff0000,
}

// parseAction reads an action: a return value, a name, or a name with 16 bits of data.
func parseAction(raw json.RawMessage) (uint32, error) {
	text := string(raw)
	if strings.HasPrefix(text, `"`) {
		if err := decode(raw, &text); err != nil {
			return 0, err
		}
	}
	if value, err := parseUnsigned(text); err == nil && value>>32 == 0 {
		return uint32(value), nil
	}
	name, inner, found := strings.Cut(strings.ToUpper(text), "(")
	value, known := actionValues[name]
	if !known {
		return 0, fmt.Errorf("not an action: %s", raw)
	}
	if !found {
		return value, nil
	}
	inner, closed := strings.CutSuffix(inner, ")")
	data, err := parseUnsigned(inner)
	if err != nil {
		var ok bool
		if data, ok = tables().constant("x86_64", inner); !ok {
			return 0, fmt.Errorf("not an action: %s", raw)
		}
	}
	if !closed || data > 0xffff {
		return 0, fmt.Errorf("not an action: %s", raw)
	}
	return value | uint32(data), nil
}
