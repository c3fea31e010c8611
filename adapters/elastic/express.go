package main

// This file decides which policies go-seccomp-bpf can express, and turns them into its policies. It must not know how they are
// compiled.

import (
	"math/bits"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/secequiv/secequiv/api/go/normalform"
	"github.com/secequiv/secequiv/api/go/serve"
)

func express(p normalform.Policy) (*seccomp.Policy, error) {
	if len(p.Arches) != 1 || p.Arches[0].Audit != uint32(arch.X86_64.ID) {
		return nil, serve.Unsupported("go-seccomp-bpf compiles for one architecture, here x86_64")
	}
	if p.BadArchAction != p.DefaultAction {
		return nil, serve.Unsupported("go-seccomp-bpf gives other architectures the default action")
	}
	if !x32IsMissing(p.Ranges) {
		return nil, serve.Unsupported("go-seccomp-bpf always answers x32 calls with ENOSYS")
	}
	if len(p.Rules) == 0 {
		return nil, serve.Unsupported("go-seccomp-bpf expects at least one rule")
	}
	action, err := expressAction(p.DefaultAction)
	if err != nil {
		return nil, err
	}
	policy := &seccomp.Policy{DefaultAction: action}
	used := map[string]bool{} // calls of the last group
	for _, rule := range p.Rules {
		name, ok := arch.X86_64.SyscallNumbers[int(rule.Nr)]
		if !ok {
			return nil, serve.Unsupported("go-seccomp-bpf has no name for system call %d", rule.Nr)
		}
		action, err := expressAction(rule.Action)
		if err != nil {
			return nil, err
		}
		count := len(policy.Syscalls)
		if count == 0 || policy.Syscalls[count-1].Action != action || used[name] {
			policy.Syscalls = append(policy.Syscalls, seccomp.SyscallGroup{Action: action})
			used = map[string]bool{}
			count++
		}
		used[name] = true
		group := &policy.Syscalls[count-1]
		if rule.Always() {
			group.Names = append(group.Names, name)
			continue
		}
		for _, all := range rule.AnyOf {
			conditions, err := expressConjunction(all)
			if err != nil {
				return nil, err
			}
			group.NamesWithCondtions = append(group.NamesWithCondtions, seccomp.NameWithConditions{Name: name, Conditions: conditions})
		}
	}
	return policy, nil
}

// x32IsMissing returns whether exactly the x32 calls fail with ENOSYS.
func x32IsMissing(ranges []normalform.Range) bool {
	const enosys = 0x50026
	low := normalform.Range{Audit: uint32(arch.X86_64.ID), First: 0x40000000, Last: 0x7fffffff, Action: enosys}
	high := normalform.Range{Audit: uint32(arch.X86_64.ID), First: 0xc0000000, Last: 0xfffffffe, Action: enosys}
	return len(ranges) == 2 && ranges[0] == low && ranges[1] == high
}

func expressAction(value uint32) (seccomp.Action, error) {
	switch action := seccomp.Action(value); action {
	case seccomp.ActionErrno | 1:
		return seccomp.ActionErrno, nil
	case seccomp.ActionKillThread, seccomp.ActionKillProcess, seccomp.ActionTrap, seccomp.ActionTrace, seccomp.ActionLog, seccomp.ActionAllow:
		return action, nil
	}
	return 0, serve.Unsupported("go-seccomp-bpf has no name for the action 0x%08x", value)
}

func expressConjunction(all []normalform.Condition) (seccomp.ArgumentConditions, error) {
	operations := map[string]seccomp.Operation{
		"eq": seccomp.Equal, "ne": seccomp.NotEqual, "gt": seccomp.GreaterThan, "ge": seccomp.GreaterOrEqual, "lt": seccomp.LessThan,
		"le": seccomp.LessOrEqual,
	}
	var out seccomp.ArgumentConditions
	for _, c := range all {
		if c.Field == normalform.InstructionPointer {
			return nil, serve.Unsupported("go-seccomp-bpf cannot compare the instruction pointer")
		}
		condition := seccomp.Condition{Argument: uint32(c.Field), Operation: operations[c.Op], Value: c.Value}
		switch {
		case c.Op == "masked_eq" && c.Value == 0:
			condition.Operation, condition.Value = seccomp.BitsNotSet, c.Mask
		case c.Op == "masked_eq" && c.Value == c.Mask && bits.OnesCount64(c.Mask) == 1:
			condition.Operation = seccomp.BitsSet
		case c.Op == "masked_eq":
			return nil, serve.Unsupported("go-seccomp-bpf tests only whether any bits of a mask are set")
		case c.Bits == 32:
			return nil, serve.Unsupported("go-seccomp-bpf compares whole arguments, not 32 bits")
		}
		out = append(out, condition)
	}
	return out, nil
}
