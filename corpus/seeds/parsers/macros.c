struct sock_filter f[] = {
 BPF_STMT(BPF_LD|BPF_W|BPF_ABS, 0), // nr
 BPF_JUMP(BPF_JMP+BPF_JEQ+BPF_K, 39u, 0, 1),
 BPF_STMT(BPF_RET|BPF_K, 0x7fff0000),
 BPF_STMT(BPF_RET|BPF_K, 0),
};
