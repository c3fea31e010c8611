ld [4]
jeq #0xc000003e, x86, other
x86: ld [0]
jeq #0, allow, deny
other: jeq #0x40000003, i386, kill
i386: ld [0]
jeq #3, allow, log
allow: ret #0x7fff0000
deny: ret #0x50001
log: ret #0x7ffc0000
kill: ret #0
