; The call is allowed if the low half of argument 0 is greater than 5.
ld [16]
jgt #5, yes, no
yes: ret #0x7fff0000
no: ret #0
