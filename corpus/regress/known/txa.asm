; TXA sets A to X.
ldx #1
txa
ret a
