; TXA changes A, so the second load of the memory word is needed.
ld [0]
st M[0]
ld M[0]
txa
ld M[0]
ret a
