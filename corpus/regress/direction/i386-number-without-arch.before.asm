ld [0]
jeq #384, deny
ret #0x7fff0000
deny: ret #0x50001
