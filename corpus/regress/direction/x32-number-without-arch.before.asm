ld [0]
jeq #0x40000001, deny
ret #0x7fff0000
deny: ret #0x50001
