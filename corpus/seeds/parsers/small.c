{ 0x20,   0,   0, 0x00000000 },  /*    0: ld [0]  A = nr */
{ 0x15,   0,   1, 0x00000027 },  /*    1: jeq #0x27, L2, L3  nr == 0x27 */
{ 0x06,   0,   0, 0x7fff0000 },  /*    2: ret #0x7fff0000  return ALLOW */
{ 0x06,   0,   0, 0x00050001 },  /*    3: ret #0x50001  return ERRNO(1 EPERM) */
