; The comparison is with X, not with the constant of the instruction.
ld #1
ldx #1
jset x, yes, no
yes: ret #1
no: ret #2
