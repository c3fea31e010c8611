; TXA changes A, so the second load is needed.
ld [0]
txa
ld [0]
ret a
