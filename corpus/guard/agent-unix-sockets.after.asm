; Refuses socket(AF_UNIX, ...). The kernel reads the family as an int, so the low half decides.
        ld [4]
        jeq #0xc000003e, number, kill
number: ld [0]
        jeq #41, low, allow          ; socket
low:    ld [16]
        jeq #1, refuse, allow        ; AF_UNIX
allow:  ret #0x7fff0000
refuse: ret #0x50001
kill:   ret #0x80000000
