ld [4]
jeq #0xc000003e, native
ret #0x50001
native: ld [0]
jeq #39, deny
ret #0x7fff0000
deny: ret #0x50001
