package normalform

import (
	"reflect"
	"strings"
	"testing"
)

const text = `{"normal_form": 1, "name": "n", "default_action": 327681, "bad_arch_action": 2147483648,
 "arches": [{"name": "s390x", "audit": 2147483670, "big_endian": true}],
 "ranges": [{"audit": 2147483670, "first": 5, "last": 9, "action": 7}],
 "hot": [{"audit": 2147483670, "nr": 3}],
 "rules": [{"action": 0, "audit": 2147483670, "nr": 3, "any_of": [[]]},
  {"action": 1, "audit": 2147483670, "nr": 4, "any_of": [
   [{"field": 6, "bits": 32, "op": "ne", "mask": 4294967295, "value": 2}],
   [{"field": 0, "bits": 64, "op": "masked_eq", "mask": 18446744073709551615, "value": 3}]]}]}`

func TestReadsEveryMember(t *testing.T) {
	policy, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const s390x = 0x80000016
	expected := Policy{
		Form: 1, Name: "n", DefaultAction: 0x50001, BadArchAction: 0x80000000,
		Arches: []Arch{{"s390x", s390x, true}}, Ranges: []Range{{s390x, 5, 9, 7}}, Hot: []Call{{s390x, 3}},
		Rules: []Rule{
			{0, s390x, 3, [][]Condition{{}}},
			{1, s390x, 4, [][]Condition{{{InstructionPointer, 32, "ne", 0xffffffff, 2}}, {{0, 64, "masked_eq", ^uint64(0), 3}}}},
		},
	}
	if !reflect.DeepEqual(policy, expected) {
		t.Errorf("expected %+v, found %+v", expected, policy)
	}
	if !policy.Rules[0].Always() || policy.Rules[1].Always() || policy.Rules[1].Call() != (Call{s390x, 4}) {
		t.Errorf("wrong rules: %+v", policy.Rules)
	}
}

func TestRefusesOtherText(t *testing.T) {
	for _, wrong := range []string{"", "[]", text + "{}", strings.Replace(text, "1", "2", 1), strings.Replace(text, "nr", "number", 1),
		strings.Replace(text, `"s390x"`, "5", 1), `{"normal_form": 1}`, text[:len(text)-1]} {
		if policy, err := Read([]byte(wrong)); err == nil {
			t.Errorf("read %q as %+v", wrong, policy)
		}
	}
}

func TestNamesThePlaceOfAMistake(t *testing.T) {
	for _, c := range []struct{ from, to, err string }{
		{`"bad_arch_action": 2147483648,`, ``, `policy: expected the member "bad_arch_action"`},
		{`"arches"`, `"Arches"`, `policy: unknown or repeated member "Arches"`},
		{`"hot": [`, `"hot": null, "x": [`, `hot: expected a list, found <nil>`},
		{`"nr": 3}]`, `"nr": 3, "nr": 3}]`, `hot[0]: unknown or repeated member "nr"`},
		{`"first": 5, `, ``, `ranges[0]: expected the member "first"`},
		{`"first": 5`, `"first": null`, `ranges[0].first: expected an unsigned number of 32 bits, found <nil>`},
		{`"first": 5`, `"first": -5`, `ranges[0].first: expected an unsigned number of 32 bits, found -5`},
		{`"first": 5`, `"first": 4294967296`, `ranges[0].first: expected an unsigned number of 32 bits, found 4294967296`},
		{`"big_endian": true`, `"big_endian": 1`, `arches[0].big_endian: expected true or false, found 1`},
		{`"ne"`, `"is"`, `rules[1].any_of[0][0].op: expected eq, ne, gt, ge, lt, le or masked_eq, found "is"`},
		{`"field": 6`, `"field": 7`, `rules[1].any_of[0][0].field: expected 0 to 6, found 7`},
		{`"bits": 64`, `"bits": 16`, `rules[1].any_of[1][0].bits: expected 32 or 64, found 16`},
		{`"bits": 64`, `"bits": 32`, `rules[1].any_of[1][0]: expected a mask and a value of 32 bits, found 18446744073709551615 and 3`},
		{`[[]]`, `[null]`, `rules[0].any_of[0]: expected a list, found <nil>`},
		{`"normal_form": 1`, `"normal_form": 2`, `normal_form: expected 1, found 2`},
	} {
		wrong := strings.Replace(text, c.from, c.to, 1)
		if policy, err := Read([]byte(wrong)); wrong == text || err == nil || err.Error() != c.err {
			t.Errorf("%s: expected %q, found %v (%+v)", c.to, c.err, err, policy)
		}
	}
}
