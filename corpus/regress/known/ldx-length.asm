; LDX of the length sets X, not A.
ldx #len
ret a
