; The jump after the test is 244 instructions away, and leads 100 further.
ld [0]
jeq #7, near, far
near: jeq #8, skip, on
skip: ja middle
on: ld [0]
.repeat 240
ld [0]
.endrepeat
ret #1
far: ja end
middle: ld [0]
.repeat 100
ld [0]
.endrepeat
end: ret #2
