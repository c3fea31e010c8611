; The first return cuts off the store, but a jump that never runs leads to the load.
ret #0
st M[0]
jeq #0, next, next
next: ld M[0]
ret #0
