// Package normalform reads the policies that secequiv sends to compilers under test.
//
// harness/adapter/PROTOCOL.md describes the form: numbers only, and each rule as alternatives of conjunctions. The package must not
// know how policies are compiled.
package normalform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Policy is a policy in normal form. In JSON, its lists may be empty but not null.
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

// InstructionPointer is the field after the six arguments.
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

// Read reads a policy. An error names the place, such as rules[1].any_of[0][2].op.
func Read(text []byte) (Policy, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var policy Policy
	if err := read(decoder, "policy", reflect.ValueOf(&policy).Elem()); err != nil {
		return Policy{}, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return Policy{}, fmt.Errorf("policy: expected the end, found more text")
	}
	if policy.Form != 1 {
		return Policy{}, fmt.Errorf("normal_form: expected 1, found %d", policy.Form)
	}
	if len(policy.Arches) == 0 {
		return Policy{}, fmt.Errorf("arches: expected at least one architecture, found none")
	}
	return policy, nil
}

// read reads the next value into `into`. Unlike encoding/json, it requires every member exactly once, and no null.
func read(decoder *json.Decoder, place string, into reflect.Value) error {
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	wrong := func(expected string) error { return fmt.Errorf("%s: expected %s, found %v", place, expected, token) }
	switch into.Kind() {
	case reflect.Struct:
		if token != json.Delim('{') {
			return wrong("an object")
		}
		return readMembers(decoder, place, into)
	case reflect.Slice:
		if token != json.Delim('[') {
			return wrong("a list")
		}
		into.Set(reflect.MakeSlice(into.Type(), 0, 0))
		for decoder.More() {
			item := reflect.New(into.Type().Elem()).Elem()
			if err := read(decoder, fmt.Sprintf("%s[%d]", place, into.Len()), item); err != nil {
				return err
			}
			into.Set(reflect.Append(into, item))
		}
		_, err := decoder.Token()
		return err
	case reflect.String:
		text, ok := token.(string)
		if !ok {
			return wrong("text")
		}
		into.SetString(text)
	case reflect.Bool:
		truth, ok := token.(bool)
		if !ok {
			return wrong("true or false")
		}
		into.SetBool(truth)
	default:
		number, _ := token.(json.Number)
		bits := into.Type().Bits()
		if into.CanInt() {
			bits = 31
		}
		value, err := strconv.ParseUint(number.String(), 10, bits)
		if err != nil {
			return wrong(fmt.Sprintf("an unsigned number of %d bits", bits))
		}
		if into.CanInt() {
			into.SetInt(int64(value))
		} else {
			into.SetUint(value)
		}
	}
	return nil
}

func readMembers(decoder *json.Decoder, place string, into reflect.Value) error {
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		name, _ := token.(string)
		at := member(into.Type(), name)
		if at < 0 || seen[name] {
			return fmt.Errorf("%s: unknown or repeated member %q", place, name)
		}
		seen[name] = true
		inner := name
		if place != "policy" {
			inner = place + "." + name
		}
		if err := read(decoder, inner, into.Field(at)); err != nil {
			return err
		}
	}
	for i := 0; i < into.NumField(); i++ {
		if name := memberName(into.Type().Field(i)); !seen[name] {
			return fmt.Errorf("%s: expected the member %q", place, name)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if condition, ok := into.Interface().(Condition); ok {
		return condition.check(place)
	}
	return nil
}

func memberName(field reflect.StructField) string {
	if name := field.Tag.Get("json"); name != "" {
		return name
	}
	return strings.ToLower(field.Name)
}

func member(of reflect.Type, name string) int {
	for i := 0; i < of.NumField(); i++ {
		if memberName(of.Field(i)) == name {
			return i
		}
	}
	return -1
}

func (c Condition) check(place string) error {
	switch c.Op {
	case "eq", "ne", "gt", "ge", "lt", "le", "masked_eq":
	default:
		return fmt.Errorf("%s.op: expected eq, ne, gt, ge, lt, le or masked_eq, found %q", place, c.Op)
	}
	if c.Field > InstructionPointer {
		return fmt.Errorf("%s.field: expected 0 to %d, found %d", place, InstructionPointer, c.Field)
	}
	if c.Bits != 32 && c.Bits != 64 {
		return fmt.Errorf("%s.bits: expected 32 or 64, found %d", place, c.Bits)
	}
	if c.Bits == 32 && (c.Mask|c.Value)>>32 != 0 {
		return fmt.Errorf("%s: expected a mask and a value of 32 bits, found %d and %d", place, c.Mask, c.Value)
	}
	return nil
}
