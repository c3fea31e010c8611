; A word by itself can have as many paths as two words that are compared: 2^31 to either return.
ld [16]
st M[0]
rsh #16
ldx M[0]
xor x
st M[0]
rsh #8
ldx M[0]
xor x
st M[0]
rsh #4
ldx M[0]
xor x
st M[0]
rsh #2
ldx M[0]
xor x
st M[0]
rsh #1
ldx M[0]
xor x
jset #1, odd, even
odd: ret #0x50001
even: ret #0x7fff0000
