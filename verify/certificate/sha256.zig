// Owns the function of libmd that sha256.cc calls, for builds with Zig's compiler and without libmd (scripts/wheel).
const std = @import("std");

export fn SHA256Data(bytes: [*]const u8, size: usize, text: [*]u8) [*]u8 {
    var digest: [32]u8 = undefined;
    std.crypto.hash.sha2.Sha256.hash(bytes[0..size], &digest, .{});
    const digits = std.fmt.bytesToHex(digest, .lower);
    @memcpy(text[0..64], &digits);
    text[64] = 0;
    return text;
}
