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
		strings.Replace(text, `"s390x"`, "5", 1), `{"normal_form": 1}`} {
		if policy, err := Read([]byte(wrong)); err == nil {
			t.Errorf("read %q as %+v", wrong, policy)
		}
	}
}
