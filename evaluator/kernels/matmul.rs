//! C = A B, row-major, f32: a kernel for `tilewright judge` in Rust, rows dealt to workers.
//!
//! ```text
//! rustc -O -C target-cpu=native -C panic=abort --edition 2024 --crate-type cdylib -o my.so evaluator/kernels/matmul.rs
//! tilewright judge matmul:m=64,n=64,k=64,dtype=f32 --library my.so --symbol my_kernel
//! ```

use std::ffi::c_void;

const M: usize = 64;
const N: usize = 64;
const K: usize = 64;

/// `tilewright_arguments` of `evaluator/include/tilewright_kernel.h`.
#[repr(C)]
pub struct Arguments {
    operands: *const *mut f32,
    extents: *const i64,
    workspace: *mut c_void,
    worker: u64,
    workers: u64,
    barrier: *mut c_void,
}

/// # Safety
/// The operands are those of `matmul:m=64,n=64,k=64,dtype=f32`, and no other worker has this number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn my_kernel(arguments: *const Arguments) {
    // SAFETY: the caller's word.
    let (a, b, c, worker, workers) = unsafe {
        let Arguments { operands, worker, workers, .. } = &*arguments;
        let a = std::slice::from_raw_parts((**operands).cast_const(), M * K);
        let b = std::slice::from_raw_parts((*operands.add(1)).cast_const(), K * N);
        (a, b, *operands.add(2), *worker as usize, *workers as usize)
    };
    for i in M * worker / workers..M * (worker + 1) / workers {
        let mut row = [0.0_f32; N];
        for (p, factor) in a[i * K..][..K].iter().enumerate() {
            for (sum, value) in row.iter_mut().zip(&b[p * N..][..N]) {
                *sum += factor * value;
            }
        }
        // SAFETY: the row is this worker's own.
        unsafe { c.add(i * N).copy_from_nonoverlapping(row.as_ptr(), N) };
    }
}
