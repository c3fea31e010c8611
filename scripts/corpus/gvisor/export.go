package main

// Writes rule sets as policy text. This file translates gVisor's matchers and rules into the policy
// format, and defines the layout of the text. check.go translates back.

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"gvisor.dev/gvisor/pkg/seccomp"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

type array []any

// actionNames maps the actions of the dumps to their names in policies.
var actionNames = map[seccomp.Action]string{
	seccomp.Allow:       "allow",
	seccomp.KillProcess: "kill_process",
	denyAction:          "errno(EPERM)",
}

func exportPolicy(c configuration, description string, names syscallNames) (string, error) {
	program, err := c.program()
	if err != nil {
		return "", err
	}
	used := map[string]bool{}
	var sets array
	for _, set := range program.RuleSets {
		var rules object
		for _, nr := range numbers(set.Rules) {
			rule, err := exportRule(set.Rules.Get(nr), used)
			if err != nil {
				return "", fmt.Errorf("system call %d: %w", nr, err)
			}
			rules = append(rules, member{names.text(nr), rule})
		}
		sets = append(sets, object{
			{"action", actionNames[set.Action]}, {"vsyscall", set.Vsyscall}, {"rules", rules},
		})
	}
	var hot array
	for _, nr := range program.Options.HotSyscalls {
		hot = append(hot, names.text(nr))
	}
	var values object
	for _, v := range variables {
		if used[v.name] {
			values = append(values, member{v.name, v.value})
		}
	}
	var text strings.Builder
	render(&text, object{
		{"version", 1},
		{"name", "gvisor-" + c.name},
		{"description", description},
		{"arches", array{"x86_64"}},
		{"default_action", actionNames[program.Options.DefaultAction]},
		{"bad_arch_action", actionNames[program.Options.BadArchAction]},
		{"hot", hot},
		{"variables", values},
		{"rule_sets", sets},
	}, 0, 0)
	return text.String() + "\n", nil
}

func exportRule(rule seccomp.SyscallRule, used map[string]bool) (any, error) {
	children := func(key string, rules []seccomp.SyscallRule) (any, error) {
		var list array
		for _, child := range rules {
			exported, err := exportRule(child, used)
			if err != nil {
				return nil, err
			}
			list = append(list, exported)
		}
		return object{{key, list}}, nil
	}
	switch rule := rule.(type) {
	case seccomp.MatchAll:
		return true, nil
	case seccomp.Or:
		return children("any_of", rule)
	case seccomp.And:
		return children("all_of", rule)
	case seccomp.PerArg:
		args := object{}
		for i, matcher := range rule {
			if matcher == nil {
				continue
			}
			exported, err := exportMatcher(matcher, used)
			if err != nil {
				return nil, err
			}
			args = append(args, member{argumentName(i), exported})
		}
		return object{{"args", args}}, nil
	}
	return nil, fmt.Errorf("unknown rule %T", rule)
}

func argumentName(i int) string {
	if i == seccomp.RuleIP {
		return "ip"
	}
	return fmt.Sprint(i)
}

func exportMatcher(matcher seccomp.ValueMatcher, used map[string]bool) (any, error) {
	switch m := matcher.(type) {
	case seccomp.AnyValue:
		return "any", nil
	case seccomp.NonNegativeFD:
		return "non_negative_fd", nil
	case seccomp.EqualTo:
		for _, v := range variables {
			if uint64(m) == v.marker {
				used[v.name] = true
				return object{{"eq", "$" + v.name}}, nil
			}
		}
		return object{{"eq", number(uint64(m))}}, nil
	case seccomp.NotEqual:
		return object{{"ne", number(uint64(m))}}, nil
	case seccomp.GreaterThan:
		return object{{"gt", number(uint64(m))}}, nil
	case seccomp.GreaterThanOrEqual:
		return object{{"ge", number(uint64(m))}}, nil
	case seccomp.LessThan:
		return object{{"lt", number(uint64(m))}}, nil
	case seccomp.LessThanOrEqual:
		return object{{"le", number(uint64(m))}}, nil
	}
	// The type of seccomp.MaskedEqual and seccomp.BitsAllowlist has no exported name.
	if fields := reflect.ValueOf(matcher); fields.Type() == reflect.TypeOf(seccomp.MaskedEqual(0, 0)) {
		mask, value := fields.FieldByName("mask").Uint(), fields.FieldByName("value").Uint()
		if value == 0 && mask>>32 == 0xffffffff {
			return object{{"bits_allowlist", hex(^mask)}}, nil
		}
		return object{{"masked_eq", object{{"mask", hex(mask)}, {"value", hex(value)}}}}, nil
	}
	return nil, fmt.Errorf("unknown matcher %T", matcher)
}

func hex(value uint64) string { return fmt.Sprintf("%#x", value) }

// number writes small values as JSON numbers and the others, mostly flags and commands, as hexadecimal text.
func number(value uint64) any {
	if value < 1<<16 {
		return value
	}
	return hex(value)
}

// render writes a value, on one line if it fits.
func render(text *strings.Builder, value any, depth, column int) {
	const width = 120
	if flat := flatten(value); column+len(flat) <= width {
		text.WriteString(flat)
		return
	}
	indent := strings.Repeat(" ", depth+1)
	item := func(i, count int, head string, value any) {
		text.WriteString(indent + head)
		render(text, value, depth+1, len(indent)+len(head)+1)
		if i+1 < count {
			text.WriteByte(',')
		}
		text.WriteByte('\n')
	}
	switch value := value.(type) {
	case object:
		text.WriteString("{\n")
		for i, m := range value {
			item(i, len(value), quote(m.key)+": ", m.value)
		}
		text.WriteString(indent[1:] + "}")
	case array:
		text.WriteString("[\n")
		for i, element := range value {
			item(i, len(value), "", element)
		}
		text.WriteString(indent[1:] + "]")
	default:
		text.WriteString(flatten(value))
	}
}

func flatten(value any) string {
	var parts []string
	switch value := value.(type) {
	case object:
		for _, m := range value {
			parts = append(parts, quote(m.key)+": "+flatten(m.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case array:
		for _, element := range value {
			parts = append(parts, flatten(element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return quote(value)
}

// quote returns a scalar as JSON.
func quote(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // the value is always a string, an integer or a boolean
	}
	return string(raw)
}
