start: ldx #len
/* all */ tax
txa
st M[3]
ldx M[3]
ld M[3]
add x
sub #1
mul #0x10
div x
and #0xff
or x
xor #010
lsh #3
rsh x
neg
jset x, a1, b1
a1: jgt #1, c1
b1: jle #7, c1
ja c1
c1: ret a
.raw 0x99, 1, 2, 3
ldh [4]
ldb [x + 3]
ldxb 4*([14]&0xf)
ret #0
