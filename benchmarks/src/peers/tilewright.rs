//! Tilewright's own kernels, from its registry.
//!
//! To complete: [`open`] reads the registry at [`Setup::registry`], and a contender whose `prepare`
//! looks up the kernel of the workload (`problem.shape().to_string()`), for this processor and
//! `setup.threads`, loads it through the run-time crate, and whose `run` launches it on
//! `problem.a()`, `problem.b()` and `problem.c()`. A shape without a kernel is [`Unsupported`],
//! which the table shows as `–`.

#[expect(unused_imports, reason = "named by the documentation above")]
use super::Unsupported;
use super::{Absent, Contender, Entry, Role, Setup};

pub(super) const ENTRY: Entry = Entry {
    name: "tilewright",
    about: "Tilewright's registered kernel",
    role: Role::Subject,
    library: None,
    open,
};

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let place = match &setup.registry {
        Some(folder) => format!("no registered kernel in {}", folder.display()),
        None => "no registered kernel: no registry given".to_owned(),
    };
    Err(Absent { why: place, remedy: "tune the shapes, then pass --registry DIR".to_owned() })
}
