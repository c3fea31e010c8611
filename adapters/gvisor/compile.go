package main

// This file decides which policies gVisor can express, and turns them into gVisor's rule sets. It must not know how gVisor
// compiles them.

import (
	"fmt"
	"slices"

	"github.com/secequiv/secequiv/api/go/serve"
	"gvisor.dev/gvisor/pkg/seccomp"
	"secequiv/adapters/policy"
)

func compile(text []byte, unoptimized bool) ([]serve.Insn, error) {
	parsed, err := policy.Read(text)
	if err != nil {
		return nil, err
	}
	program, err := express(parsed)
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

func express(p policy.Policy) (*seccomp.Program, error) {
	if len(p.Arches) != 1 || p.Arches[0] != "x86_64" {
		return nil, serve.Unsupported("gVisor compiles only for the architecture on which it runs, here x86_64")
	}
	if p.X32Action != nil {
		return nil, serve.Unsupported("gVisor has no rules for ranges of system call numbers (x32_action)")
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
	vsyscall := map[uint32]bool{}
	for _, set := range p.RuleSets {
		action, err := expressAction(set.Action)
		if err != nil {
			return nil, err
		}
		rules := seccomp.NewSyscallRules()
		for _, call := range set.Calls() {
			if before, ok := vsyscall[call.Nr]; ok && before != set.Vsyscall {
				return nil, serve.Unsupported("gVisor cannot combine rules for vsyscalls with other rules of system call %d", call.Nr)
			}
			vsyscall[call.Nr] = set.Vsyscall
			rule, err := expressRule(set.Rules[call])
			if err != nil {
				return nil, err
			}
			rules.Set(number(call.Nr), rule)
		}
		program.RuleSets = append(program.RuleSets, seccomp.RuleSet{Rules: rules, Action: action, Vsyscall: set.Vsyscall})
	}
	return program, nil
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

func expressRule(rule policy.Rule) (seccomp.SyscallRule, error) {
	if rule.MatchAll {
		return seccomp.MatchAll{}, nil
	}
	var children []seccomp.SyscallRule
	for _, child := range append(rule.AnyOf, rule.AllOf...) {
		expressed, err := expressRule(child)
		if err != nil {
			return nil, err
		}
		children = append(children, expressed)
	}
	if rule.AnyOf != nil {
		return seccomp.Or(children), nil
	}
	if rule.AllOf != nil {
		return seccomp.And(children), nil
	}
	var args seccomp.PerArg // gVisor also omits fields without a matcher
	for field, matcher := range rule.Args {
		index := slices.Index([]string{"0", "1", "2", "3", "4", "5", "ip"}, field)
		if index < 0 {
			return nil, fmt.Errorf("unknown field '%s'", field)
		}
		var err error
		if args[index], err = expressMatcher(matcher); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func expressMatcher(m policy.Matcher) (seccomp.ValueMatcher, error) {
	if m.LowHalf {
		return expressLowHalf(m)
	}
	value, mask := uintptr(m.Value), uintptr(m.Mask)
	switch m.Op {
	case "any":
		return seccomp.AnyValue{}, nil
	case "eq":
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
		return seccomp.MaskedEqual(mask, value), nil
	case "bits_allowlist":
		return seccomp.BitsAllowlist(mask), nil
	case "non_negative_fd":
		return seccomp.NonNegativeFD{}, nil
	}
	return nil, fmt.Errorf("unknown matcher '%s'", m.Op)
}

// expressLowHalf replaces a test of the low half by an equivalent test of the whole field under a mask, if there is one.
func expressLowHalf(m policy.Matcher) (seccomp.ValueMatcher, error) {
	const low = 0xffffffff
	switch m.Op {
	case "eq":
		return seccomp.MaskedEqual(low, uintptr(m.Value)), nil
	case "masked_eq":
		return seccomp.MaskedEqual(uintptr(m.Mask), uintptr(m.Value)), nil
	case "bits_allowlist":
		return seccomp.MaskedEqual(uintptr(low&^m.Mask), 0), nil
	case "non_negative_fd":
		return seccomp.MaskedEqual(1<<31, 0), nil
	}
	return nil, serve.Unsupported("gVisor applies '%s' only to whole arguments, not to 32 bits", m.Op)
}
