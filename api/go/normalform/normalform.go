// Package normalform reads the policies that secequiv sends to compilers under test.
//
// harness/adapter/PROTOCOL.md describes the form: numbers only, and each rule as alternatives of conjunctions. The package must not
// know how policies are compiled.
package normalform

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Policy is a policy. No list is nil in JSON, but a list may be empty.
type Policy struct {
	Form          int     `json:"normal_form"`
	Name          string  `json:"name"`
	DefaultAction uint32  `json:"default_action"` // the filter's return value if no rule matches
	BadArchAction uint32  `json:"bad_arch_action"`
	Arches        []Arch  `json:"arches"` // the first one is the primary architecture
	Ranges        []Range `json:"ranges"` // they decide before the rules
	Hot           []Call  `json:"hot"`    // frequent calls
	Rules         []Rule  `json:"rules"`  // the first one that matches decides
}

// Arch is a value of seccomp_data.arch. All others get BadArchAction.
type Arch struct {
	Name      string `json:"name"`
	Audit     uint32 `json:"audit"` // AUDIT_ARCH_*
	BigEndian bool   `json:"big_endian"`
}

// Range gives an action to all numbers from First to Last.
type Range struct {
	Audit, First, Last, Action uint32
}

// Call is a system call.
type Call struct {
	Audit, Nr uint32
}

// Rule matches a call if all conditions of at least one alternative hold. An empty alternative always holds, and is then the only one.
type Rule struct {
	Action uint32        `json:"action"`
	Audit  uint32        `json:"audit"`
	Nr     uint32        `json:"nr"`
	AnyOf  [][]Condition `json:"any_of"`
}

// InstructionPointer is the field behind the six arguments.
const InstructionPointer = 6

// Condition is an unsigned test of a field: of 64 bits, or of the low 32. Op is eq, ne, gt, ge, lt, le or masked_eq, which means
// field & Mask == Value. The other operators have a mask of all ones.
type Condition struct {
	Field       int    `json:"field"` // an argument, 0 to 5, or InstructionPointer
	Bits        int    `json:"bits"`  // 64 or 32
	Op          string `json:"op"`
	Mask, Value uint64
}

// Call returns the rule's system call.
func (r *Rule) Call() Call { return Call{r.Audit, r.Nr} }

// Always returns whether the rule matches every call with its number.
func (r *Rule) Always() bool { return len(r.AnyOf) == 1 && len(r.AnyOf[0]) == 0 }

// Read reads a policy.
func Read(text []byte) (Policy, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var policy Policy
	if err := decoder.Decode(&policy); err != nil {
		return Policy{}, err
	}
	if decoder.More() {
		return Policy{}, fmt.Errorf("expected the end after the policy, found more text")
	}
	if policy.Form != 1 || len(policy.Arches) == 0 {
		return Policy{}, fmt.Errorf("expected a policy with normal_form 1 and architectures")
	}
	return policy, nil
}
