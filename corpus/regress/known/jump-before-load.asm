; After a jump, the kernel's check counts all words as set; after a return, only the words that were set at the return.
; If `ja done` becomes a return, M[0] therefore counts as unset at `join`.
ld [0]
jeq #1, one, two
one: st M[0]
ja join
two: tax
ja done
join: ld M[0]
ret a
done: ret #0
