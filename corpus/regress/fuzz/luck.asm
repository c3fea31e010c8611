; What the top byte of a hash may be: fuzzing finds one edge after the other by luck, and a short proof finds none.
; `fuzz BEFORE AFTER --corpus` lost what its last run met, said nothing when it could not write, waited for ever if its
; parent ignored SIGCHLD, took a folder named -x for an option, and --minimize deleted whatever lay there.
ld [16]
mul #0x9e3779b1
st M[0]
ld [20]
mul #0x85ebca6b
tax
ld M[0]
xor x
rsh #24
jeq #1, yes, n0
n0: jeq #6, yes, n1
n1: jeq #11, yes, n2
n2: jeq #16, yes, n3
n3: jeq #21, yes, n4
n4: jeq #26, yes, n5
n5: jeq #31, yes, n6
n6: jeq #36, yes, n7
n7: jeq #41, yes, n8
n8: jeq #46, yes, n9
n9: jeq #51, yes, n10
n10: jeq #56, yes, n11
n11: jeq #61, yes, n12
n12: jeq #66, yes, n13
n13: jeq #71, yes, n14
n14: jeq #76, yes, n15
n15: jeq #81, yes, n16
n16: jeq #86, yes, n17
n17: jeq #91, yes, n18
n18: jeq #96, yes, n19
n19: jeq #101, yes, n20
n20: jeq #106, yes, n21
n21: jeq #111, yes, n22
n22: jeq #116, yes, n23
n23: jeq #121, yes, n24
n24: jeq #126, yes, n25
n25: jeq #131, yes, n26
n26: jeq #136, yes, n27
n27: jeq #141, yes, n28
n28: jeq #146, yes, n29
n29: jeq #151, yes, n30
n30: jeq #156, yes, n31
n31: jeq #161, yes, n32
n32: jeq #166, yes, n33
n33: jeq #171, yes, n34
n34: jeq #176, yes, n35
n35: jeq #181, yes, n36
n36: jeq #186, yes, n37
n37: jeq #191, yes, n38
n38: jeq #196, yes, n39
n39: no: ret #0x50001
yes: ret #0x7fff0000
