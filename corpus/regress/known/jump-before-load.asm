; The kernel's check takes what is known behind a return over into the instruction that follows, which it does not behind a
; jump. Where `ja done` becomes a return, M[0] counts as unset at `join`.
ld [0]
jeq #1, one, two
one: st M[0]
ja join
two: tax
ja done
join: ld M[0]
ret a
done: ret #0
