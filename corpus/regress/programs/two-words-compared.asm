; reach ran out of memory: it made a list of every path on which two words differ, some 2^32.
ld [16]
ldx #0
tax
ld [20]
jgt x, L1, L2
L1: ret #1
L2: jeq x, L3, L4
L3: ret #2
L4: ret #3
