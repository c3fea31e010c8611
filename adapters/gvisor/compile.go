package main

// This file decides which policies gVisor can express, and turns them into gVisor's rule sets. It must not know how gVisor
// compiles them.

import (
	"fmt"
	"runtime"

	"github.com/secequiv/secequiv/api/go/normalform"
	"github.com/secequiv/secequiv/api/go/serve"
	"gvisor.dev/gvisor/pkg/seccomp"
)

// gVisor compiles for the architecture that it was built for.
var audit = map[string]uint32{"amd64": 0xc000003e, "arm64": 0xc00000b7}[runtime.GOARCH]

func compile(text []byte, unoptimized bool) ([]serve.Insn, error) {
	policy, err := normalform.Read(text)
	if err != nil {
		return nil, err
	}
	program, err := express(policy)
	if err != nil {
		return nil, err
	}
	program.Options.SkipOptimizations = unoptimized
	insns, _, err := program.Build()
	if err != nil {
		return nil, fmt.Errorf("Program.Build: %w", err)
	}
	return fromGvisor(insns), nil
}

func express(p normalform.Policy) (*seccomp.Program, error) {
	if len(p.Arches) != 1 || p.Arches[0].Audit != audit {
		return nil, serve.Unsupported("gVisor compiles only for the architecture on which it runs, here " + runtime.GOARCH)
	}
	if len(p.Ranges) > 0 {
		return nil, serve.Unsupported("gVisor has no rules for ranges of system call numbers")
	}
	program := &seccomp.Program{}
	var err error
	if program.Options.DefaultAction, err = expressAction(p.DefaultAction); err != nil {
		return nil, err
	}
	if program.Options.BadArchAction, err = expressAction(p.BadArchAction); err != nil {
		return nil, err
	}
	for _, call := range p.Hot {
		program.Options.HotSyscalls = append(program.Options.HotSyscalls, number(call.Nr))
	}
	vsyscalls := vsyscalls(p.Rules)
	var last normalform.Rule
	for _, rule := range p.Rules {
		action, err := expressAction(rule.Action)
		if err != nil {
			return nil, err
		}
		vsyscall := vsyscalls[rule.Nr]
		count := len(program.RuleSets)
		if count == 0 || last.Action != rule.Action || program.RuleSets[count-1].Vsyscall != vsyscall || program.RuleSets[count-1].Rules.Has(number(rule.Nr)) {
			program.RuleSets = append(program.RuleSets, seccomp.RuleSet{Rules: seccomp.NewSyscallRules(), Action: action, Vsyscall: vsyscall})
			count++
		}
		expressed, err := expressRule(rule, vsyscall)
		if err != nil {
			return nil, err
		}
		program.RuleSets[count-1].Rules.Set(number(rule.Nr), expressed)
		last = rule
	}
	return program, nil
}

// vsyscallOnly is the condition under which gVisor applies rule sets with Vsyscall.
var vsyscallOnly = normalform.Condition{Field: normalform.InstructionPointer, Bits: 64, Op: "masked_eq", Mask: 1 << 63, Value: 1 << 63}

// vsyscalls returns the calls whose alternatives all apply to vsyscalls only. gVisor cannot combine such rules of a call with others.
func vsyscalls(rules []normalform.Rule) map[uint32]bool {
	only := map[uint32]bool{}
	for _, rule := range rules {
		all := true
		for _, conditions := range rule.AnyOf {
			found := false
			for _, condition := range conditions {
				found = found || condition == vsyscallOnly
			}
			all = all && found
		}
		before, ok := only[rule.Nr]
		only[rule.Nr] = all && (before || !ok)
	}
	return only
}

// number returns a system call as gVisor writes it: the pseudo number -1 has all bits of a uintptr set.
func number(nr uint32) uintptr { return uintptr(int32(nr)) }

func expressAction(value uint32) (seccomp.Action, error) {
	kinds := map[uint32]seccomp.Action{
		0x80000000: seccomp.KillProcess,
		0x00000000: seccomp.KillThread,
		0x00030000: seccomp.Trap,
		0x00050000: seccomp.ReturnError,
		0x7fc00000: seccomp.UserNotify,
		0x7ff00000: seccomp.Trace,
		0x7fff0000: seccomp.Allow,
	}
	kind, ok := kinds[value&0xffff0000]
	if !ok {
		return "", serve.Unsupported("gVisor has no name for the action 0x%08x", value)
	}
	data := uint16(value)
	if data == 0 {
		return kind, nil
	}
	if kind != seccomp.ReturnError && kind != seccomp.Trace {
		return "", serve.Unsupported("gVisor supports data only for errno and trace, not for 0x%08x", value)
	}
	return kind.Code(data), nil
}

func expressRule(rule normalform.Rule, vsyscall bool) (seccomp.SyscallRule, error) {
	var any []seccomp.SyscallRule
	for _, conditions := range rule.AnyOf {
		expressed, err := expressConjunction(conditions, vsyscall)
		if err != nil {
			return nil, err
		}
		any = append(any, expressed)
	}
	if len(any) == 1 {
		return any[0], nil
	}
	return seccomp.Or(any), nil
}

// expressConjunction makes several gVisor rules if conditions test the same field, because one rule tests a field at most once.
func expressConjunction(conditions []normalform.Condition, vsyscall bool) (seccomp.SyscallRule, error) {
	var all []seccomp.SyscallRule
	for left := conditions; len(left) > 0; {
		var args seccomp.PerArg // gVisor also omits fields without a matcher
		var later []normalform.Condition
		tests := 0
		for _, condition := range left {
			if vsyscall && condition == vsyscallOnly {
				continue
			}
			if args[condition.Field] != nil {
				later = append(later, condition)
				continue
			}
			var err error
			if args[condition.Field], err = expressCondition(condition); err != nil {
				return nil, err
			}
			tests++
		}
		if tests > 0 {
			all = append(all, args)
		}
		left = later
	}
	switch len(all) {
	case 0:
		return seccomp.MatchAll{}, nil
	case 1:
		return all[0], nil
	}
	return seccomp.And(all), nil
}

// expressCondition uses gVisor's test for descriptors where it fits. It replaces a test of the low half by an equivalent test under a mask.
func expressCondition(c normalform.Condition) (seccomp.ValueMatcher, error) {
	value, mask := uintptr(c.Value), uintptr(c.Mask)
	if c.Bits == 32 && c.Op != "eq" && c.Op != "masked_eq" {
		return nil, serve.Unsupported("gVisor applies '%s' only to whole arguments, not to 32 bits", c.Op)
	}
	switch c.Op {
	case "eq":
		if c.Bits == 32 {
			return seccomp.MaskedEqual(mask, value), nil
		}
		return seccomp.EqualTo(value), nil
	case "ne":
		return seccomp.NotEqual(value), nil
	case "gt":
		return seccomp.GreaterThan(value), nil
	case "ge":
		return seccomp.GreaterThanOrEqual(value), nil
	case "lt":
		return seccomp.LessThan(value), nil
	case "le":
		return seccomp.LessThanOrEqual(value), nil
	case "masked_eq":
		const notFD = ^uint64(0x7fffffff)
		if c.Value == 0 && c.Mask == notFD {
			return seccomp.NonNegativeFD{}, nil
		}
		return seccomp.MaskedEqual(mask, value), nil
	}
	return nil, fmt.Errorf("unknown operator '%s'", c.Op)
}
