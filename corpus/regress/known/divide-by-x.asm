; X is 0: the program ends and returns 0.
ld #5
div x
ret #7
