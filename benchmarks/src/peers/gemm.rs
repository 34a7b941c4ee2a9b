//! The crate `gemm`.

use ::gemm::Parallelism;

use super::{Contender, Entry, Problem, Role, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "gemm",
    about: "crate gemm",
    role: Role::Peer,
    library: None,
    open: |setup| Ok(Box::new(Gemm { parallelism: parallelism(setup.threads), problem: None })),
};

struct Gemm {
    parallelism: Parallelism,
    problem: Option<Problem>,
}

fn parallelism(threads: usize) -> Parallelism {
    if threads == 1 { Parallelism::None } else { Parallelism::Rayon(threads) }
}

impl Contender for Gemm {
    fn describe_kernel(&self) -> String {
        let kernel = if std::arch::is_x86_feature_detected!("avx512f") { "avx512f" } else { "fma" };
        format!("gemm 0.19, {kernel} kernels by feature")
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
        let row = n as isize;
        // SAFETY: `Problem` guarantees operands of these extents and strides; C is not read.
        unsafe {
            ::gemm::gemm(
                m,
                n,
                k,
                c,
                1,
                row,
                false,
                a,
                ac,
                ar,
                b,
                bc,
                br,
                0.0,
                1.0,
                false,
                false,
                false,
                self.parallelism,
            );
        }
    }
}
