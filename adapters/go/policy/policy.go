// Package policy reads resolved policies, for adapters in Go.
//
// harness/adapter/PROTOCOL.md describes their format: our policy format with numbers in place of names. The package must not know
// how policies are compiled. The harness has already checked each policy that it sends.
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

// Policy is a resolved policy.
type Policy struct {
	Version       int       `json:"version"`
	Name          string    `json:"name"`
	Description   string    `json:"description"`
	Arches        []string  `json:"arches"` // the first one is the primary architecture
	DefaultAction uint32    `json:"default_action"`
	BadArchAction uint32    `json:"bad_arch_action"`
	X32Action     *uint32   `json:"x32_action"`
	Hot           []Call    `json:"hot"`
	RuleSets      []RuleSet `json:"rule_sets"`
}

// Call is a system call of one architecture.
type Call struct {
	Arch string
	Nr   uint32
}

// RuleSet contains at most one rule for each call.
type RuleSet struct {
	Action   uint32        `json:"action"`
	Vsyscall bool          `json:"vsyscall"`
	Rules    map[Call]Rule `json:"rules"`
}

// Rule always matches, or has exactly one of its other members.
type Rule struct {
	MatchAll bool               `json:"-"`
	AnyOf    []Rule             `json:"any_of"`
	AllOf    []Rule             `json:"all_of"`
	Args     map[string]Matcher `json:"args"` // by field: "0" to "5", "ip"
}

// Matcher is a test of one 64-bit field, or of its low half. Op is the name in the format: any, eq, ne, gt, ge, lt, le,
// masked_eq, bits_allowlist, non_negative_fd.
type Matcher struct {
	Op          string
	Value, Mask uint64
	LowHalf     bool
}

// Read reads a resolved policy.
func Read(text []byte) (Policy, error) {
	var policy Policy
	if err := decode(text, &policy); err != nil {
		return Policy{}, err
	}
	if policy.Version != 1 || len(policy.Arches) == 0 {
		return Policy{}, fmt.Errorf("expected version 1 and architectures")
	}
	return policy, nil
}

// Calls returns the calls that have rules, in ascending order.
func (s *RuleSet) Calls() []Call {
	var calls []Call
	for call := range s.Rules {
		calls = append(calls, call)
	}
	slices.SortFunc(calls, func(a, b Call) int { return cmp.Or(cmp.Compare(a.Arch, b.Arch), cmp.Compare(a.Nr, b.Nr)) })
	return calls
}

// UnmarshalText reads "x86_64:39".
func (c *Call) UnmarshalText(text []byte) error {
	arch, digits, _ := strings.Cut(string(text), ":")
	nr, err := strconv.ParseUint(digits, 10, 32)
	*c = Call{arch, uint32(nr)}
	return err
}

// UnmarshalJSON reads true, or an object with one member.
func (r *Rule) UnmarshalJSON(raw []byte) error {
	if string(raw) == "true" {
		r.MatchAll = true
		return nil
	}
	type object Rule // without this method
	return decode(raw, (*object)(r))
}

// UnmarshalJSON reads objects like {"eq": 5} and {"masked_eq": {"mask": 7, "value": 5}}, with "bits": 32 for the low half.
func (m *Matcher) UnmarshalJSON(raw []byte) error {
	if string(raw) == `"any"` {
		m.Op = "any"
		return nil
	}
	var members map[string]json.RawMessage
	if err := decode(raw, &members); err != nil {
		return err
	}
	m.LowHalf = string(members["bits"]) == "32"
	delete(members, "bits")
	if len(members) != 1 {
		return fmt.Errorf("expected a matcher, found %s", raw)
	}
	for op, operand := range members {
		m.Op = op
		switch op {
		case "non_negative_fd":
			return nil
		case "bits_allowlist":
			return decode(operand, &m.Mask)
		case "masked_eq":
			var pair struct{ Mask, Value uint64 }
			err := decode(operand, &pair)
			m.Mask, m.Value = pair.Mask, pair.Value
			return err
		default:
			return decode(operand, &m.Value)
		}
	}
	return nil
}

// decode reads one JSON value and refuses unknown members.
func decode(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("expected the end after the JSON value, found more text")
	}
	return nil
}
