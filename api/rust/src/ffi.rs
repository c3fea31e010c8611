//! The declarations of api/c/secequiv.h. tests/test_rust.py compares them with the header. Owns no behaviour.
#![allow(unsafe_code, non_camel_case_types)]

use std::ffi::{c_char, c_int, c_void};

use crate::{Insn as sock_filter, SeccompData};

pub const SECEQUIV_ABI_VERSION: u32 = 1;
pub const SECEQUIV_ERROR: c_int = 0;
pub const SECEQUIV_EQUIVALENT: c_int = 1;
pub const SECEQUIV_PASS: c_int = 2;
pub const SECEQUIV_DIFFERENT: c_int = 3;
pub const SECEQUIV_UNKNOWN: c_int = 4;
pub const SECEQUIV_REJECTED: c_int = 5;
pub const SECEQUIV_FAIL: c_int = 6;
pub const SECEQUIV_SAME_RAW: u32 = 0;
pub const SECEQUIV_SAME_BEHAVIOUR: u32 = 1;
pub const SECEQUIV_SAME_EFFECT: u32 = 2;
pub const SECEQUIV_ENGINE_DD: u32 = 0;
pub const SECEQUIV_ENGINE_Z3: u32 = 1;
pub const SECEQUIV_ENGINE_BOTH: u32 = 2;
pub const SECEQUIV_ENGINE_SAT: u32 = 3;
pub const SECEQUIV_ALL_INSTRUCTIONS: usize = usize::MAX;

#[repr(C)]
pub struct secequiv_options {
    pub size: usize,
    pub same: u32,
    pub refines: u32,
    pub engine: u32,
    pub any_length: u32,
    pub timeout_seconds: f64,
    pub max_memory_mib: u64,
    pub max_regions: u64,
    pub assume: *const c_char,
    pub arch: *const c_char,
    pub form: *const c_char,
    pub kernel: *const c_char,
    pub capabilities: *const c_char,
    pub filter: *const c_char,
    pub policy_format: *const c_char,
}

#[repr(C)]
pub struct secequiv_result {
    _opaque: [u8; 0],
}

#[rustfmt::skip]
extern "C" {
    pub fn secequiv_abi_version() -> u32;
    pub fn secequiv_version() -> *const c_char;
    pub fn secequiv_parse(bytes: *const c_void, length: usize, name: *const c_char, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_prove(before: *const sock_filter, before_length: usize, after: *const sock_filter, after_length: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_prove_parsed(before: *const secequiv_result, after: *const secequiv_result, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_prove_property(program: *const sock_filter, length: usize, property: *const c_char, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_prove_property_parsed(program: *const secequiv_result, property: *const c_char, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_diff(before: *const sock_filter, before_length: usize, after: *const sock_filter, after_length: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_diff_parsed(before: *const secequiv_result, after: *const secequiv_result, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_evaluate(program: *const sock_filter, length: usize, seccomp_data: *const c_void, data_size: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_validate(program: *const sock_filter, length: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_why(program: *const sock_filter, length: usize, seccomp_data: *const c_void, data_size: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_why_parsed(program: *const secequiv_result, seccomp_data: *const c_void, data_size: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_actions(program: *const sock_filter, length: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_reach(program: *const sock_filter, length: usize, instruction: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_cost(before: *const sock_filter, before_length: usize, after: *const sock_filter, after_length: usize, profile: *const c_char, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_cache(before: *const sock_filter, before_length: usize, after: *const sock_filter, after_length: usize, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_lint(bytes: *const c_void, length: usize, name: *const c_char, strict: c_int, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_disassemble(program: *const secequiv_result, form: *const c_char, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_lift(program: *const secequiv_result, form: *const c_char, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_optimize(program: *const secequiv_result, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_diff_page(before: *const secequiv_result, after: *const secequiv_result, options: *const secequiv_options) -> *mut secequiv_result;
    pub fn secequiv_result_verdict(result: *const secequiv_result) -> c_int;
    pub fn secequiv_result_holds(result: *const secequiv_result) -> c_int;
    pub fn secequiv_result_message(result: *const secequiv_result) -> *const c_char;
    pub fn secequiv_result_json(result: *const secequiv_result) -> *const c_char;
    pub fn secequiv_result_witness(result: *const secequiv_result, seccomp_data: *mut c_void, before: *mut u32, after: *mut u32) -> c_int;
    pub fn secequiv_result_value(result: *const secequiv_result, value: *mut u32) -> c_int;
    pub fn secequiv_result_program(result: *const secequiv_result, length: *mut usize) -> *const sock_filter;
    pub fn secequiv_result_is_policy(result: *const secequiv_result) -> c_int;
    pub fn secequiv_result_notes(result: *const secequiv_result) -> *const c_char;
    pub fn secequiv_result_free(result: *mut secequiv_result);
}

// linux/filter.h and linux/seccomp.h
const _: () = assert!(std::mem::size_of::<sock_filter>() == 8 && std::mem::size_of::<SeccompData>() == 64);
