//! The randomness of libraries that ask the kernel for it themselves: inside a [`SeededEntropy`]
//! guard a thread's `getrandom` system call is answered from a seed, so that connection ids, keys
//! and a controller's dice are the same in every run. Every other thread, and this one outside of a
//! guard, gets the kernel's. Must not know who uses it.
//!
//! It takes the place of the C library's `syscall`, through which the crate `getrandom` 0.2 (below
//! `ring` and `rand` 0.8) and BoringSSL ask. Not reached: the processor's own `RDRAND`, which
//! BoringSSL mixes in (its keys and padding stay random, of fixed length), and newer `getrandom`
//! crates, which look the C library's function up by name.
#![expect(unsafe_code, reason = "defines the C symbol `syscall` for the whole program")]

use std::cell::Cell;
use std::ffi::c_long;
use std::marker::PhantomData;

use crate::splitmix::{SplitMix64, mix};

/// A stream of pseudo-random bytes that a seed decides. Not for secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedStream(SplitMix64);

impl SeedStream {
    /// Streams of one seed and different purposes begin far apart.
    pub fn new(seed: u64, purpose: u64) -> Self {
        Self(SplitMix64::new(seed ^ mix(purpose)))
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next().to_le_bytes()[..chunk.len()]);
        }
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }
}

/// Has `owner` do its work with the thread's system randomness from a stream of its own.
pub fn seeded<T, R>(
    owner: &mut T,
    stream: fn(&mut T) -> &mut SeedStream,
    work: impl FnOnce(&mut T) -> R,
) -> R {
    // A copy, since the owner is lent to its work.
    let mut drawn = *stream(owner);
    let result = {
        let _seeded = SeededEntropy::enter(&mut drawn);
        work(owner)
    };
    *stream(owner) = drawn;
    result
}

/// While this lives, the thread's system randomness comes from `stream`. Guards nest.
#[derive(Debug)]
pub struct SeededEntropy<'a> {
    stream: &'a mut SeedStream,
    outer: Option<SeedStream>,
    /// The stream belongs to a thread, so the guard must not leave it.
    thread: PhantomData<*const ()>,
}

impl<'a> SeededEntropy<'a> {
    pub fn enter(stream: &'a mut SeedStream) -> Self {
        let outer = STREAM.replace(Some(*stream));
        Self { stream, outer, thread: PhantomData }
    }

    /// How often the system was asked since the thread began; only ever counted inside a guard.
    pub fn draws() -> u64 {
        DRAWS.get()
    }
}

impl Drop for SeededEntropy<'_> {
    fn drop(&mut self) {
        if let Some(stream) = STREAM.replace(self.outer) {
            *self.stream = stream;
        }
    }
}

thread_local! {
    static STREAM: Cell<Option<SeedStream>> = const { Cell::new(None) };
    static DRAWS: Cell<u64> = const { Cell::new(0) };
}

/// Whether [`SeededEntropy`] has an effect on this processor: only where a variadic C function
/// takes its whole numbers as any other function does, so that Rust can define one.
pub const SEEDABLE: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod interposed {
    use std::ffi::c_void;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use super::{DRAWS, STREAM, c_long};

    /// Takes the place of the C library's function in the whole program; all but a seeded
    /// `getrandom` is passed on.
    ///
    /// # Safety
    ///
    /// As for `syscall(2)` and the system call that is asked for.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn syscall(
        number: c_long,
        a: c_long,
        b: c_long,
        c: c_long,
        d: c_long,
        e: c_long,
        f: c_long,
    ) -> c_long {
        if number == libc::SYS_getrandom
            && let Some(mut stream) = STREAM.get()
            && b > 0
        {
            // SAFETY: for getrandom(2), `a` and `b` are a buffer that may be written and its
            // length.
            let buffer = unsafe { std::slice::from_raw_parts_mut(a as *mut u8, b as usize) };
            stream.fill(buffer);
            STREAM.set(Some(stream));
            DRAWS.set(DRAWS.get() + 1);
            return b;
        }
        // SAFETY: the caller's promise is passed on. Arguments the call does not have are ignored
        // by the kernel.
        unsafe { real_syscall()(number, a, b, c, d, e, f) }
    }

    type Syscall = unsafe extern "C" fn(c_long, ...) -> c_long;

    fn real_syscall() -> Syscall {
        static REAL_FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
        let mut function = REAL_FUNCTION.load(Ordering::Relaxed);
        if function.is_null() {
            // SAFETY: the name is a C string.
            function = unsafe { libc::dlsym(libc::RTLD_NEXT, c"syscall".as_ptr()) };
            assert!(!function.is_null(), "the C library has no syscall");
            REAL_FUNCTION.store(function, Ordering::Relaxed);
        }
        // SAFETY: the symbol after ours is the C library's function of this type; the pointer is
        // not null.
        unsafe { std::mem::transmute::<*mut c_void, Syscall>(function) }
    }
}

#[cfg(test)]
mod tests {
    use ring::rand::{SecureRandom, SystemRandom};

    use super::*;

    fn system_random() -> [u8; 16] {
        let mut bytes = [0; 16];
        SystemRandom::new().fill(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_guard_decides_the_randomness_of_its_own_thread_only() {
        let draw = |seed| {
            let mut stream = SeedStream::new(seed, 0);
            let _guard = SeededEntropy::enter(&mut stream);
            let elsewhere = std::thread::spawn(system_random).join().unwrap();
            (system_random(), elsewhere)
        };
        let (first, again, other) = (draw(1), draw(1), draw(2));
        assert_eq!(first.0 == again.0, SEEDABLE);
        assert_ne!(first.0, other.0);
        assert_ne!(first.1, again.1);
        assert_ne!(system_random(), system_random());
    }

    #[test]
    fn a_stream_goes_on_where_the_guard_left_it() {
        let mut stream = SeedStream::new(9, 1);
        let draw = |stream: &mut SeedStream| {
            let _guard = SeededEntropy::enter(stream);
            system_random()
        };
        assert_ne!(draw(&mut stream), draw(&mut stream));
    }

    #[test]
    fn other_system_calls_pass() {
        let mut stream = SeedStream::new(9, 1);
        let _guard = SeededEntropy::enter(&mut stream);
        assert_eq!(pid_by_system_call(), i64::from(std::process::id()));
    }

    fn pid_by_system_call() -> i64 {
        // SAFETY: getpid(2) takes nothing and cannot fail.
        unsafe { libc::syscall(libc::SYS_getpid) }
    }
}
