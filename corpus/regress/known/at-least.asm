; The call is allowed if the low half of argument 0 is at least 5.
ld [16]
jge #5, yes, no
yes: ret #0x7fff0000
no: ret #0
