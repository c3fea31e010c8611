; merge-equal-code led the second test's jump to the third, skip-decided-tests led it on, and so
; forth without an end.
ld [4]
jeq #9, other, first
first: ld [0]
jeq #1, again, load
load: ld [0]
again: jeq #1, one, two
one: ret #5
two: ret #5
other: ret #7
