; STX changes what the second load of M[0] loads.
ldx #1
stx M[0]
ld M[0]
ldx #2
stx M[0]
ld M[0]
ret a
