; shmctl has the number 396 on i386.
ld [4]
jeq #0x40000003, i386, other
other: ret #0
i386: ld [0]
jeq #396, yes, no
yes: ret #0x7fff0000
no: ret #0x50001
