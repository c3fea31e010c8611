ld [0]
xor #5
ret a
