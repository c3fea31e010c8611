; The value of A is the result, not the constant of the instruction.
ld #1
ret a
