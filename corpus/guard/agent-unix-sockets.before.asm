; Refuses socket(AF_UNIX, ...) if all 64 bits of the family match.
        ld [4]
        jeq #0xc000003e, number, kill
number: ld [0]
        jeq #41, low, allow          ; socket
low:    ld [16]
        jeq #1, high, allow          ; AF_UNIX
high:   ld [20]
        jeq #0, refuse, allow
allow:  ret #0x7fff0000
refuse: ret #0x50001
kill:   ret #0x80000000
