//! A kernel ready to run, and timing its launches.

use std::cell::Cell;
use std::hint::black_box;
use std::marker::PhantomData;

use tilewright_codegen::{Artifact, WORKSPACE_ALIGNMENT};

use crate::{
    BufferSpec, Clock, Disturbance, Eviction, ExecutableCode, GuardedBuffer, HugePages, KernelEntry,
    Placement, Pool, RuntimeError,
};

/// Name of the main entry of an artifact.
const MAIN_ENTRY: &str = "run";

/// The pointers and run-time extents of one launch, in the program's order.
#[derive(Debug, Clone, Default)]
pub struct Operands {
    /// One pointer for each tensor.
    pub tensors: Vec<*mut u8>,
    /// One value for each run-time extent.
    pub extents: Vec<i64>,
}

/// An artifact mapped to run, with the workspace that its launches share.
///
/// Launches of one loaded kernel must not overlap, so threads cannot share it; each loads the artifact for itself,
/// which gives it a workspace of its own:
///
/// ```compile_fail,E0277
/// fn share(kernel: &tilewright_runtime::LoadedKernel) {
///     std::thread::scope(|scope| {
///         scope.spawn(|| kernel.workers());
///     });
/// }
/// ```
#[derive(Debug)]
pub struct LoadedKernel {
    entry: KernelEntry,
    workers: usize,
    workspace: Option<GuardedBuffer>,
    /// Keeps what `entry` points to; `None` for a function of a library, which is never unloaded.
    code: Option<ExecutableCode>,
    /// May move to another thread, but not be used by two at once: launches share the workspace.
    not_shared: PhantomData<Cell<()>>,
}

impl LoadedKernel {
    /// Loads the artifact to be entered at `run`.
    ///
    /// Whether this processor has the instructions that the artifact needs is not checked here.
    ///
    /// # Errors
    /// When the artifact has no such entry or no code, or the system refuses memory.
    pub fn load(artifact: &Artifact) -> Result<Self, RuntimeError> {
        Self::load_entry(artifact, MAIN_ENTRY)
    }

    /// Loads the artifact to be entered at this name.
    ///
    /// # Errors
    /// As [`LoadedKernel::load`].
    pub fn load_entry(artifact: &Artifact, name: &str) -> Result<Self, RuntimeError> {
        let code = ExecutableCode::load(artifact)?;
        let entry = code.entry(name)?;
        let workspace = workspace(artifact.workspace_bytes as usize)?;
        Ok(Self {
            entry,
            workers: artifact.workers as usize,
            workspace,
            code: Some(code),
            not_shared: PhantomData,
        })
    }

    /// A function that is mapped already and stays mapped, with the workspace that it asks for.
    ///
    /// # Errors
    /// When the system refuses the memory.
    pub fn of_function(
        entry: KernelEntry,
        workers: usize,
        workspace_bytes: usize,
    ) -> Result<Self, RuntimeError> {
        Ok(Self {
            entry,
            workers,
            workspace: workspace(workspace_bytes)?,
            code: None,
            not_shared: PhantomData,
        })
    }

    /// Number of workers that a launch must have.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// The mapped code; `None` for a function of a library.
    pub fn code(&self) -> Option<&ExecutableCode> {
        self.code.as_ref()
    }

    /// Whether launches left the bytes behind the workspace, up to the guard page, alone.
    pub fn workspace_intact(&self) -> bool {
        self.workspace.as_ref().is_none_or(GuardedBuffer::margins_intact)
    }

    /// Whether huge pages were asked for and granted for the workspace.
    pub fn workspace_huge_pages(&self) -> HugePages {
        self.workspace.as_ref().map_or(HugePages::NotAsked, GuardedBuffer::huge_pages)
    }

    pub(crate) fn entry(&self) -> KernelEntry {
        self.entry
    }

    pub(crate) fn workspace(&self) -> *mut u8 {
        self.workspace.as_ref().map_or(std::ptr::null_mut(), GuardedBuffer::as_ptr)
    }
}

/// Scratch memory between guard pages; none where no bytes are asked for.
fn workspace(bytes: usize) -> Result<Option<GuardedBuffer>, RuntimeError> {
    let spec = BufferSpec::new(bytes, Placement::AgainstStart).aligned(WORKSPACE_ALIGNMENT);
    (bytes > 0).then(|| GuardedBuffer::new(&spec.huge())).transpose()
}

/// Launches kernels on a pool and times them.
#[derive(Debug, Clone, Copy)]
pub struct Launcher<'pool> {
    pool: &'pool Pool,
    clock: Clock,
}

impl<'pool> Launcher<'pool> {
    /// Launches on this pool.
    pub fn new(pool: &'pool Pool) -> Self {
        Self { pool, clock: Clock::start() }
    }

    /// The pool.
    pub fn pool(&self) -> &'pool Pool {
        self.pool
    }

    /// Launches once, untimed.
    ///
    /// # Errors
    /// As [`Pool::launch`].
    ///
    /// # Safety
    /// As [`Pool::launch`].
    pub unsafe fn run(&self, kernel: &LoadedKernel, operands: &Operands) -> Result<(), RuntimeError> {
        // SAFETY: the caller keeps the contract of `launch`.
        unsafe { self.pool.launch(kernel, operands) }
    }

    /// Launches `launches` times back to back, caches as the launches leave them, and returns the
    /// nanoseconds of all of them together.
    ///
    /// # Errors
    /// As [`Pool::launch`]; the batch ends at the first error.
    ///
    /// # Safety
    /// As [`Pool::launch`].
    pub unsafe fn time_batch(
        &self,
        kernel: &LoadedKernel,
        operands: &Operands,
        launches: u32,
    ) -> Result<u64, RuntimeError> {
        let start = self.clock.nanoseconds();
        for _ in 0..launches {
            // SAFETY: the caller keeps the contract of `launch`.
            unsafe { self.pool.launch(kernel, black_box(operands)) }?;
        }
        Ok(self.clock.nanoseconds() - start)
    }

    /// As [`Launcher::time_batch`], with one random word of `output` overwritten before each launch, so that a kernel
    /// cannot take its last answer for this one's without looking at all of it. That costs some nanoseconds a launch.
    ///
    /// # Errors
    /// As [`Pool::launch`].
    ///
    /// # Safety
    /// As [`Pool::launch`], and the output's bytes are an operand that the kernel only writes, aligned to 4.
    pub unsafe fn time_disturbed(
        &self,
        kernel: &LoadedKernel,
        operands: &Operands,
        launches: u32,
        (output, bytes): (*mut u8, usize),
        seed: u64,
    ) -> Result<u64, RuntimeError> {
        let (words, mut state) = ((bytes / 4) as u64, seed | 1);
        let start = self.clock.nanoseconds();
        for _ in 0..launches {
            // Marsaglia's xorshift: cheap, and no kernel is told the seed.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (((state >> 32) * words) >> 32) as usize;
            // A value between 1 and 2 of single precision.
            let value = 0x3F80_0000 | (state as u32 >> 9);
            // SAFETY: the word lies in the output, which the caller lets be overwritten.
            unsafe { output.add(4 * at).cast::<[u8; 4]>().write_volatile(value.to_ne_bytes()) };
            // SAFETY: the caller keeps the contract of `launch`.
            unsafe { self.pool.launch(kernel, black_box(operands)) }?;
        }
        Ok(self.clock.nanoseconds() - start)
    }

    /// Launches once, and returns the nanoseconds with what the kernel did not leave as the calling convention
    /// asks.
    ///
    /// # Errors
    /// As [`Pool::launch`].
    ///
    /// # Safety
    /// As [`Pool::launch`].
    pub unsafe fn time_watched(
        &self,
        kernel: &LoadedKernel,
        operands: &Operands,
    ) -> Result<(u64, Option<Disturbance>), RuntimeError> {
        let start = self.clock.nanoseconds();
        // SAFETY: the caller keeps the contract of `launch`.
        let disturbance = unsafe { self.pool.launch_watched(kernel, black_box(operands)) }?;
        Ok((self.clock.nanoseconds() - start, disturbance))
    }

    /// Launches `launches` times, each after evicting the caches, and returns the nanoseconds of each
    /// launch alone.
    ///
    /// # Errors
    /// As [`Pool::launch`], of the kernel or of the eviction.
    ///
    /// # Safety
    /// As [`Pool::launch`], and the eviction's regions are still mapped.
    pub unsafe fn time_cold(
        &self,
        kernel: &LoadedKernel,
        operands: &Operands,
        eviction: &Eviction,
        launches: u32,
    ) -> Result<Vec<u64>, RuntimeError> {
        (0..launches)
            .map(|_| {
                // SAFETY: the caller vouches for the regions.
                unsafe { eviction.perform(self.pool) }?;
                // SAFETY: the caller keeps the contract of `launch`.
                unsafe { self.time_batch(kernel, operands, 1) }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::artifact;

    /// Stores the worker's number plus one to the last 8 bytes of a page of workspace: `mov rax, [rdi+24];
    /// mov rdx, [rdi+16]; inc rax; mov [rdx+displacement], rax; ret`.
    fn storing(displacement: u32, workspace_bytes: u64) -> Artifact {
        let mut code = vec![0x48, 0x8B, 0x47, 24, 0x48, 0x8B, 0x57, 16, 0x48, 0xFF, 0xC0, 0x48, 0x89, 0x82];
        code.extend(displacement.to_le_bytes());
        code.push(0xC3);
        artifact(code, 1, workspace_bytes)
    }

    #[test]
    fn the_workspace_is_aligned_kept_and_watched() {
        let pool = Pool::new(1).unwrap();
        let launcher = Launcher::new(&pool);
        for (displacement, intact) in [(0, true), (992, true), (1000, false)] {
            let kernel = LoadedKernel::load(&storing(displacement, 1000)).unwrap();
            assert_eq!(kernel.workspace() as usize % WORKSPACE_ALIGNMENT, 0);
            // SAFETY: the store stays within the workspace's open page.
            unsafe { launcher.run(&kernel, &Operands::default()) }.unwrap();
            assert_eq!(kernel.workspace_intact(), intact);
            // SAFETY: the same page, as above.
            assert_eq!(unsafe { kernel.workspace().add(displacement as usize).read() }, 1);
        }
    }

    #[test]
    fn no_workspace_is_a_null_pointer() {
        let kernel = LoadedKernel::load(&artifact(vec![0xC3], 1, 0)).unwrap();
        assert!(kernel.workspace().is_null());
        assert!(kernel.workspace_intact());
    }

    #[test]
    fn a_batch_launches_as_often_as_asked() {
        // inc qword [operands[0]]: mov rdx, [rdi]; mov rdx, [rdx]; inc qword [rdx]; ret
        let code = vec![0x48, 0x8B, 0x17, 0x48, 0x8B, 0x12, 0x48, 0xFF, 0x02, 0xC3];
        let kernel = LoadedKernel::load(&artifact(code, 1, 0)).unwrap();
        let mut count = Box::new(0_u64);
        let operands = Operands { tensors: vec![(&raw mut *count).cast()], extents: vec![] };
        let pool = Pool::new(2).unwrap();
        let launcher = Launcher::new(&pool);
        // SAFETY: the operand is the counter that the kernel expects.
        unsafe {
            launcher.time_batch(&kernel, &operands, 123).unwrap();
            let flush = Eviction::flush(vec![((&raw const *count).cast(), 8)]);
            assert_eq!(launcher.time_cold(&kernel, &operands, &flush, 5).unwrap().len(), 5);
            let walk = Eviction::walk(&pool, 1 << 20).unwrap();
            assert_eq!(launcher.time_cold(&kernel, &operands, &walk, 3).unwrap().len(), 3);
        }
        assert_eq!(*count, 131);
    }
}
