; The comparison is with X, not with the constant of the instruction.
ldx #1
jge x, yes, no
yes: ret #1
no: ret #2
