// Package oci turns policies into seccomp profiles of the OCI runtime specification.
//
// It decides which policies such a profile can express on x86_64. It must not know who compiles the profile.
package oci

import (
	"fmt"

	"github.com/opencontainers/runtime-spec/specs-go"
	libseccomp "github.com/seccomp/libseccomp-golang"
	"github.com/secequiv/secequiv/api/go/normalform"
	"github.com/secequiv/secequiv/api/go/serve"
)

const (
	x86_64      = 0xc000003e
	killThread  = 0
	killProcess = 0x80000000
	x32Bit      = 0x40000000
)

// Express returns the profile for a policy. An error made by serve.Unsupported means that the adapter cannot express the policy as a profile.
func Express(p normalform.Policy) (*specs.LinuxSeccomp, error) {
	if len(p.Arches) != 1 || p.Arches[0].Audit != x86_64 {
		return nil, serve.Unsupported("the adapter compiles for x86_64 alone")
	}
	if p.BadArchAction != killThread {
		return nil, serve.Unsupported("a profile has no action for other architectures; libseccomp kills the thread")
	}
	if !x32IsBad(p.Ranges) {
		return nil, serve.Unsupported("x32 calls get the action for other architectures unless the profile lists x32")
	}
	out := &specs.LinuxSeccomp{Architectures: []specs.Arch{specs.ArchX86_64}}
	var err error
	if out.DefaultAction, out.DefaultErrnoRet, err = expressAction(p.DefaultAction); err != nil {
		return nil, err
	}
	actions := map[uint32]uint32{}
	for _, rule := range p.Rules {
		if known, found := actions[rule.Nr]; found && known != rule.Action {
			return nil, serve.Unsupported("call %d has rules with different actions, and libseccomp does not keep their order", rule.Nr)
		}
		actions[rule.Nr] = rule.Action
		if err := addRule(out, &rule); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// x32IsBad returns whether exactly the x32 calls get KILL_THREAD, which is also the action for other architectures.
func x32IsBad(ranges []normalform.Range) bool {
	low := normalform.Range{Audit: x86_64, First: x32Bit, Last: 0x7fffffff, Action: killThread}
	high := normalform.Range{Audit: x86_64, First: 0xc0000000, Last: 0xfffffffe, Action: killThread}
	return len(ranges) == 2 && ranges[0] == low && ranges[1] == high
}

func addRule(out *specs.LinuxSeccomp, rule *normalform.Rule) error {
	name, err := libseccomp.ScmpSyscall(rule.Nr).GetNameByArch(libseccomp.ArchAMD64)
	if err != nil || rule.Nr&x32Bit != 0 {
		return serve.Unsupported("libseccomp has no name for system call %d", rule.Nr)
	}
	action, data, err := expressAction(rule.Action)
	if err != nil {
		return err
	}
	for _, all := range rule.AnyOf {
		args, err := expressConjunction(all)
		if err != nil {
			return err
		}
		out.Syscalls = append(out.Syscalls, specs.LinuxSyscall{Names: []string{name}, Action: action, ErrnoRet: data, Args: args})
	}
	return nil
}

func expressAction(value uint32) (specs.LinuxSeccompAction, *uint, error) {
	data := uint(value & 0xffff)
	switch value &^ 0xffff {
	case 0x00050000:
		return specs.ActErrno, &data, nil
	case 0x7ff00000:
		return specs.ActTrace, &data, nil
	}
	plain := map[uint32]specs.LinuxSeccompAction{
		killThread: specs.ActKillThread, killProcess: specs.ActKillProcess, 0x00030000: specs.ActTrap, 0x7ffc0000: specs.ActLog,
		0x7fff0000: specs.ActAllow,
	}
	if action, found := plain[value]; found {
		return action, nil, nil
	}
	return "", nil, serve.Unsupported("a profile has no name for the action 0x%08x, or the action needs an agent", value)
}

func expressConjunction(all []normalform.Condition) ([]specs.LinuxSeccompArg, error) {
	operators := map[string]specs.LinuxSeccompOperator{
		"eq": specs.OpEqualTo, "ne": specs.OpNotEqual, "gt": specs.OpGreaterThan, "ge": specs.OpGreaterEqual, "lt": specs.OpLessThan,
		"le": specs.OpLessEqual, "masked_eq": specs.OpMaskedEqual,
	}
	var out []specs.LinuxSeccompArg
	used := map[int]bool{}
	for _, c := range all {
		operator, found := operators[c.Op]
		switch {
		case !found:
			return nil, fmt.Errorf("expected an operator, found %q", c.Op)
		case c.Field == normalform.InstructionPointer:
			return nil, serve.Unsupported("libseccomp cannot compare the instruction pointer")
		case c.Bits == 32:
			return nil, serve.Unsupported("libseccomp compares whole arguments, not 32 bits")
		case used[c.Field]:
			return nil, serve.Unsupported("container runtimes turn two comparisons of one argument into alternatives")
		}
		used[c.Field] = true
		arg := specs.LinuxSeccompArg{Index: uint(c.Field), Op: operator, Value: c.Value}
		if c.Op == "masked_eq" {
			arg.Value, arg.ValueTwo = c.Mask, c.Value
		}
		out = append(out, arg)
	}
	return out, nil
}
