; The length of struct seccomp_data is 64 bytes.
ld #len
ret a
