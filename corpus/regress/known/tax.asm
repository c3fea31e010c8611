ld [0]
tax
ld #0
txa
ret a
