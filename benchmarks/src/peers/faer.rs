//! The crate `faer`.

use ::faer::linalg::matmul::matmul;
use ::faer::{Accum, MatMut, MatRef, Par};

use super::{Contender, Entry, Problem, Role, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "faer",
    about: "crate faer",
    role: Role::Peer,
    library: None,
    open: |setup| Ok(Box::new(Faer { parallelism: parallelism(setup.threads), problem: None })),
};

struct Faer {
    parallelism: Par,
    problem: Option<Problem>,
}

fn parallelism(threads: usize) -> Par {
    if threads == 1 { Par::Seq } else { Par::rayon(threads) }
}

impl Contender for Faer {
    fn describe_kernel(&self) -> String {
        let kernel = if std::arch::is_x86_feature_detected!("avx512f") { "avx512f" } else { "avx2" };
        format!("faer 0.24, {kernel} kernels by feature")
    }

    fn prepare(&mut self, problem: Problem) -> Result<(), Unsupported> {
        self.problem = Some(problem);
        Ok(())
    }

    fn run(&mut self) {
        let Some(problem) = self.problem else { return };
        let shape = problem.shape();
        let ((ar, ac), (br, bc)) = (shape.a_strides(), shape.b_strides());
        // SAFETY: `Problem` guarantees operands of these extents and strides.
        unsafe {
            let a = MatRef::from_raw_parts(problem.a(), shape.m, shape.k, ar, ac);
            let b = MatRef::from_raw_parts(problem.b(), shape.k, shape.n, br, bc);
            let c = MatMut::from_raw_parts_mut(problem.c(), shape.m, shape.n, shape.n as isize, 1);
            matmul(c, Accum::Replace, a, b, 1.0, self.parallelism);
        }
    }
}
