ld [4]
jeq #0x1, deny
ld [0]
jeq #39, deny
ret #0x7fff0000
deny: ret #0x50001
