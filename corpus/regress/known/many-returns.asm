; 4096 instructions: 2047 tests, each with a return of its own, all the same.
ld [0]
.repeat 2047
.raw 0x15, 0, 1, 5
ret #1
.endrepeat
ret #2
