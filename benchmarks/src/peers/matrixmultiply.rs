//! The crate `matrixmultiply`, whose threads are set by `MATMUL_NUM_THREADS`.

use super::{Contender, Entry, Problem, Role, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "matrixmultiply",
    about: "crate matrixmultiply",
    role: Role::Peer,
    library: None,
    open: |_| Ok(Box::new(MatrixMultiply { problem: None })),
};

struct MatrixMultiply {
    problem: Option<Problem>,
}

impl Contender for MatrixMultiply {
    fn describe_kernel(&self) -> String {
        let kernel = if std::arch::is_x86_feature_detected!("avx512f") { "avx512f" } else { "fma" };
        format!("matrixmultiply 0.3, {kernel} kernels by feature")
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.problem = Some(problem);
        Ok(())
    }

    fn run(&mut self) {
        let Some(problem) = self.problem else { return };
        let shape = problem.shape();
        let ((ar, ac), (br, bc)) = (shape.a_strides(), shape.b_strides());
        let (m, n, k) = (shape.m, shape.n, shape.k);
        let (a, b, c) = (problem.a(), problem.b(), problem.c());
        // SAFETY: `Problem` guarantees operands of these extents and strides; with beta 0 C is not read.
        unsafe { ::matrixmultiply::sgemm(m, k, n, 1.0, a, ar, ac, b, br, bc, 0.0, c, n as isize, 1) };
    }
}
