; merge-equal-code led the first test's jump to the second, skip-decided-tests led it on, and so
; forth without an end.
ld [0]
jeq #1, again, load
load: ld [0]
again: jeq #1, one, two
one: ret #5
two: ret #5
