package main

// Checks that an exported policy lost nothing: it is read back into gVisor's rules, which must compile to exactly the same
// programs. This file reads the subset of the policy format that export.go writes.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gvisor.dev/gvisor/pkg/bpf"
	"gvisor.dev/gvisor/pkg/seccomp"
)

type policyFile struct {
	Version       int               `json:"version"`
	Name          string            `json:"name"`
	Description   string            `json:"description"`
	Arches        []string          `json:"arches"`
	DefaultAction string            `json:"default_action"`
	BadArchAction string            `json:"bad_arch_action"`
	Hot           []string          `json:"hot"`
	Variables     map[string]uint32 `json:"variables"`
	RuleSets      []struct {
		Action   string                     `json:"action"`
		Vsyscall bool                       `json:"vsyscall"`
		Rules    map[string]json.RawMessage `json:"rules"`
	} `json:"rule_sets"`
}

// sameProgram returns an error unless the policy compiles to before and after.
func sameProgram(policy string, names syscallNames, before, after []bpf.Instruction) error {
	gotBefore, gotAfter, err := compile(func() (*seccomp.Program, error) { return importPolicy(policy, names) })
	if err != nil {
		return fmt.Errorf("reading the exported policy back: %w", err)
	}
	if !slices.Equal(before, gotBefore) || !slices.Equal(after, gotAfter) {
		return fmt.Errorf("the exported policy compiles to another program")
	}
	return nil
}

func importPolicy(policy string, names syscallNames) (*seccomp.Program, error) {
	var file policyFile
	if err := decode([]byte(policy), &file); err != nil {
		return nil, err
	}
	program := &seccomp.Program{}
	var err error
	if program.Options.DefaultAction, err = importAction(file.DefaultAction); err != nil {
		return nil, err
	}
	if program.Options.BadArchAction, err = importAction(file.BadArchAction); err != nil {
		return nil, err
	}
	for _, text := range file.Hot {
		nr, err := names.number(text)
		if err != nil {
			return nil, err
		}
		program.Options.HotSyscalls = append(program.Options.HotSyscalls, nr)
	}
	for _, set := range file.RuleSets {
		action, err := importAction(set.Action)
		if err != nil {
			return nil, err
		}
		rules := seccomp.NewSyscallRules()
		for text, raw := range set.Rules {
			nr, err := names.number(text)
			if err != nil {
				return nil, err
			}
			rule, err := importRule(raw, file.Variables)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			rules.Set(nr, rule)
		}
		program.RuleSets = append(program.RuleSets, seccomp.RuleSet{Rules: rules, Action: action, Vsyscall: set.Vsyscall})
	}
	return program, nil
}

// decode reads one JSON value, refuses unknown members and keeps numbers exact.
func decode(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func importAction(text string) (seccomp.Action, error) {
	for action, name := range actionNames {
		if name == text {
			return action, nil
		}
	}
	return "", fmt.Errorf("unknown action %q", text)
}

func importRule(raw json.RawMessage, values map[string]uint32) (seccomp.SyscallRule, error) {
	if string(raw) == "true" {
		return seccomp.MatchAll{}, nil
	}
	var rule struct {
		AnyOf []json.RawMessage          `json:"any_of"`
		AllOf []json.RawMessage          `json:"all_of"`
		Args  map[string]json.RawMessage `json:"args"`
	}
	if err := decode(raw, &rule); err != nil {
		return nil, err
	}
	var children []seccomp.SyscallRule
	for _, child := range append(rule.AnyOf, rule.AllOf...) {
		imported, err := importRule(child, values)
		if err != nil {
			return nil, err
		}
		children = append(children, imported)
	}
	switch {
	case rule.AnyOf != nil:
		return seccomp.Or(children), nil
	case rule.AllOf != nil:
		return seccomp.And(children), nil
	}
	args := seccomp.PerArg{}
	for i := range args {
		if raw, ok := rule.Args[argumentName(i)]; ok {
			matcher, err := importMatcher(raw, values)
			if err != nil {
				return nil, err
			}
			args[i] = matcher
		}
	}
	return args, nil
}

func importMatcher(raw json.RawMessage, values map[string]uint32) (seccomp.ValueMatcher, error) {
	switch string(raw) {
	case `"any"`:
		return seccomp.AnyValue{}, nil
	case `"non_negative_fd"`:
		return seccomp.NonNegativeFD{}, nil
	}
	var matcher map[string]any
	if err := decode(raw, &matcher); err != nil || len(matcher) != 1 {
		return nil, fmt.Errorf("not a matcher: %s", raw)
	}
	for kind, operand := range matcher {
		if kind == "masked_eq" {
			pair, ok := operand.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("not a matcher: %s", raw)
			}
			mask, err := importValue(pair["mask"], values)
			if err != nil {
				return nil, err
			}
			value, err := importValue(pair["value"], values)
			return seccomp.MaskedEqual(mask, value), err
		}
		value, err := importValue(operand, values)
		if err != nil {
			return nil, err
		}
		switch kind {
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
		case "bits_allowlist":
			return seccomp.BitsAllowlist(value), nil
		}
	}
	return nil, fmt.Errorf("unknown matcher: %s", raw)
}

func importValue(operand any, values map[string]uint32) (uintptr, error) {
	text := fmt.Sprint(operand)
	if name, ok := strings.CutPrefix(text, "$"); ok {
		value, ok := values[name]
		if !ok {
			return 0, fmt.Errorf("unknown variable %q", name)
		}
		return uintptr(value), nil
	}
	value, err := strconv.ParseUint(text, 0, 64)
	return uintptr(value), err
}
