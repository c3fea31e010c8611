// Package policy reads our policy format into plain numbers, for adapters in Go.
//
// It owns names (of architectures, system calls, constants, actions) and what a key or a value stands for; the
// format is corpus/policies/schema.json. It must not know what anyone compiles a policy to. The harness has checked a
// policy before it asks about it, so that only what would be misread is refused here.
package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Policy is what a policy says, its names resolved.
type Policy struct {
	Arches        []string // canonical names, the primary one first
	DefaultAction uint32
	BadArchAction uint32
	X32Action     *uint32
	Hot           []Call // on the primary architecture
	RuleSets      []RuleSet
}

// Call is a system call of one architecture.
type Call struct {
	Arch string
	Nr   uint32
}

// RuleSet has rules in ascending order of architecture and number.
type RuleSet struct {
	Action   uint32
	Vsyscall bool
	Rules    []CallRule
}

// CallRule is the rule of one system call.
type CallRule struct {
	Call
	Rule Rule
}

// Kind tells what a Rule is.
type Kind int

// Kinds of rules: always true, one child, all children, all fields.
const (
	MatchAll Kind = iota
	AnyOf
	AllOf
	Args
)

// IP is the index of the instruction pointer among a rule's fields.
const IP = 6

// Rule is a tree of conditions.
type Rule struct {
	Kind     Kind
	Children []Rule
	Fields   [7]Matcher
}

// Matcher is a test of one 64-bit field, or of its low half. Op is the format's word for it: any, eq, ne, gt, ge, lt, le,
// masked_eq, bits_allowlist, non_negative_fd; "" for a field that is not named, which says the same as any.
type Matcher struct {
	Op          string
	Value, Mask uint64
	LowHalf     bool
}

type document struct {
	Schema        string                     `json:"$schema"`
	Version       json.Number                `json:"version"`
	Name          string                     `json:"name"`
	Description   string                     `json:"description"`
	Arches        []string                   `json:"arches"`
	DefaultAction json.RawMessage            `json:"default_action"`
	BadArchAction json.RawMessage            `json:"bad_arch_action"`
	X32Action     json.RawMessage            `json:"x32_action"`
	Hot           []string                   `json:"hot"`
	Variables     map[string]json.RawMessage `json:"variables"`
	RuleSets      []struct {
		Description string                     `json:"description"`
		Action      json.RawMessage            `json:"action"`
		Vsyscall    bool                       `json:"vsyscall"`
		Rules       map[string]json.RawMessage `json:"rules"`
	} `json:"rule_sets"`
}

type reader struct {
	policy    Policy
	variables map[string]uint64
}

// Read reads a policy.
func Read(text []byte) (Policy, error) {
	var doc document
	if err := decode(text, &doc); err != nil {
		return Policy{}, err
	}
	if doc.Version != "1" {
		return Policy{}, fmt.Errorf("expected version 1, found %q", doc.Version)
	}
	r := reader{variables: map[string]uint64{}}
	err := r.read(&doc)
	return r.policy, err
}

func (r *reader) read(doc *document) error {
	for _, name := range doc.Arches {
		arch, err := archName(name)
		if err != nil {
			return err
		}
		r.policy.Arches = append(r.policy.Arches, arch)
	}
	if len(r.policy.Arches) == 0 {
		return fmt.Errorf("no architectures")
	}
	if err := r.actions(doc); err != nil {
		return err
	}
	for name, raw := range doc.Variables {
		value, err := r.value(raw, "")
		if err != nil {
			return err
		}
		r.variables[name] = value
	}
	for _, name := range doc.Hot {
		calls, err := r.calls(name)
		if err != nil {
			return err
		}
		if calls[0].Arch == r.policy.Arches[0] {
			r.policy.Hot = append(r.policy.Hot, calls[0])
		}
	}
	for _, set := range doc.RuleSets {
		action, err := parseAction(set.Action)
		if err != nil {
			return err
		}
		out := RuleSet{Action: action, Vsyscall: set.Vsyscall}
		for name, raw := range set.Rules {
			calls, err := r.calls(name)
			if err != nil {
				return err
			}
			for _, call := range calls {
				rule, err := r.rule(raw, call.Arch)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				out.Rules = append(out.Rules, CallRule{call, rule})
			}
		}
		slices.SortFunc(out.Rules, func(a, b CallRule) int {
			return cmp.Or(cmp.Compare(a.Arch, b.Arch), cmp.Compare(a.Nr, b.Nr))
		})
		for i := 1; i < len(out.Rules); i++ {
			if out.Rules[i].Call == out.Rules[i-1].Call {
				return fmt.Errorf("%s:%d is listed twice in a rule set", out.Rules[i].Arch, out.Rules[i].Nr)
			}
		}
		r.policy.RuleSets = append(r.policy.RuleSets, out)
	}
	return nil
}

func (r *reader) actions(doc *document) error {
	const killProcess = 0x80000000
	var err error
	if r.policy.DefaultAction, err = parseAction(doc.DefaultAction); err != nil {
		return err
	}
	r.policy.BadArchAction = killProcess
	if doc.BadArchAction != nil {
		if r.policy.BadArchAction, err = parseAction(doc.BadArchAction); err != nil {
			return err
		}
	}
	if doc.X32Action != nil {
		action, err := parseAction(doc.X32Action)
		if err != nil {
			return err
		}
		r.policy.X32Action = &action
	}
	return nil
}

// decode reads one JSON value, refuses unknown members and keeps numbers exact.
func decode(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("text behind the JSON value")
	}
	return nil
}

// calls returns what "read", "39", "x86_64:read" or "i386:3" stands for, in the order of the policy's architectures.
func (r *reader) calls(key string) ([]Call, error) {
	arches, name := r.policy.Arches, key
	if before, after, found := strings.Cut(key, ":"); found {
		arch, err := archName(before)
		if err != nil {
			return nil, err
		}
		arches, name = []string{arch}, after
	}
	if nr, err := parseUnsigned(name); err == nil {
		if len(arches) != 1 || nr>>32 != 0 {
			return nil, fmt.Errorf("'%s' is no system call of one architecture", key)
		}
		return []Call{{arches[0], uint32(nr)}}, nil
	}
	var calls []Call
	for _, arch := range arches {
		if nr, ok := tables().syscalls[arch][name]; ok {
			calls = append(calls, Call{arch, nr})
		}
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("unknown system call '%s'", key)
	}
	return calls, nil
}

func (r *reader) rule(raw json.RawMessage, arch string) (Rule, error) {
	if string(raw) == "true" {
		return Rule{Kind: MatchAll}, nil
	}
	var members map[string]json.RawMessage
	if err := decode(raw, &members); err != nil {
		return Rule{}, err
	}
	if len(members) != 1 {
		return Rule{}, fmt.Errorf("expected one of any_of, all_of, args")
	}
	for key, inner := range members {
		switch key {
		case "any_of":
			return r.children(AnyOf, inner, arch)
		case "all_of":
			return r.children(AllOf, inner, arch)
		case "args":
			return r.args(inner, arch)
		}
	}
	return Rule{}, fmt.Errorf("expected one of any_of, all_of, args")
}

func (r *reader) children(kind Kind, raw json.RawMessage, arch string) (Rule, error) {
	var list []json.RawMessage
	if err := decode(raw, &list); err != nil {
		return Rule{}, err
	}
	if len(list) == 0 {
		return Rule{}, fmt.Errorf("an empty any_of or all_of")
	}
	out := Rule{Kind: kind}
	for _, item := range list {
		child, err := r.rule(item, arch)
		if err != nil {
			return Rule{}, err
		}
		out.Children = append(out.Children, child)
	}
	return out, nil
}

func (r *reader) args(raw json.RawMessage, arch string) (Rule, error) {
	var members map[string]json.RawMessage
	if err := decode(raw, &members); err != nil {
		return Rule{}, err
	}
	out := Rule{Kind: Args}
	for key, inner := range members {
		field := slices.Index([]string{"0", "1", "2", "3", "4", "5", "ip"}, key)
		if field < 0 {
			return Rule{}, fmt.Errorf("unknown field '%s'", key)
		}
		matcher, err := r.matcher(inner, arch)
		if err != nil {
			return Rule{}, err
		}
		out.Fields[field] = matcher
	}
	return out, nil
}

func (r *reader) matcher(raw json.RawMessage, arch string) (Matcher, error) {
	if text := string(raw); text == `"any"` || text == `"non_negative_fd"` {
		return Matcher{Op: strings.Trim(text, `"`)}, nil
	}
	var members map[string]json.RawMessage
	if err := decode(raw, &members); err != nil {
		return Matcher{}, err
	}
	var out Matcher
	if bits, ok := members["bits"]; ok {
		out.LowHalf = string(bits) == "32"
		delete(members, "bits")
	}
	if len(members) != 1 {
		return Matcher{}, fmt.Errorf("not a matcher: %s", raw)
	}
	var err error
	for out.Op, raw = range members {
		switch out.Op {
		case "eq", "ne", "gt", "ge", "lt", "le":
			out.Value, err = r.value(raw, arch)
		case "bits_allowlist":
			out.Mask, err = r.value(raw, arch)
		case "non_negative_fd":
		case "masked_eq":
			var pair struct{ Mask, Value json.RawMessage }
			if err = decode(raw, &pair); err != nil {
				return Matcher{}, err
			}
			if out.Mask, err = r.value(pair.Mask, arch); err != nil {
				return Matcher{}, err
			}
			out.Value, err = r.value(pair.Value, arch)
		default:
			return Matcher{}, fmt.Errorf("unknown matcher '%s'", out.Op)
		}
	}
	return out, err
}

// value reads a number, "$variable", or numbers and names of constants joined by |.
func (r *reader) value(raw json.RawMessage, arch string) (uint64, error) {
	var text string
	if len(raw) == 0 || raw[0] != '"' {
		return parseSigned(string(raw))
	}
	if err := decode(raw, &text); err != nil {
		return 0, err
	}
	if name, ok := strings.CutPrefix(text, "$"); ok {
		value, ok := r.variables[name]
		if !ok {
			return 0, fmt.Errorf("unknown variable '%s'", text)
		}
		return value, nil
	}
	var value uint64
	for _, term := range strings.Split(text, "|") {
		term = strings.Trim(term, " ")
		part, err := parseSigned(term)
		if err != nil {
			var ok bool
			if part, ok = tables().constant(arch, term); !ok {
				return 0, fmt.Errorf("'%s' is neither a number nor a constant of %s", term, arch)
			}
		}
		value |= part
	}
	return value, nil
}

// parseUnsigned reads decimal or 0x numbers as the format means them: a leading zero is nothing special.
func parseUnsigned(text string) (uint64, error) {
	if len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		return strconv.ParseUint(text[2:], 16, 64)
	}
	return strconv.ParseUint(text, 10, 64)
}

func parseSigned(text string) (uint64, error) {
	digits, negative := strings.CutPrefix(text, "-")
	value, err := parseUnsigned(digits)
	if err != nil || !negative {
		return value, err
	}
	if value > 1<<63 {
		return 0, fmt.Errorf("'%s' is below -2^63", text)
	}
	return -value, nil
}
