//! The clock of libraries that read the time themselves: inside a [`VirtualNow`] guard a thread's `CLOCK_MONOTONIC`
//! (and with it `std::time::Instant::now`) is the `now` that was passed in, so that such a library becomes one whose
//! clock is an argument, in virtual and in real time alike. Every other thread, and this one outside of a guard, sees
//! the real clock. Must not know who uses it.
#![expect(unsafe_code, reason = "defines the C symbol `clock_gettime` for the whole program")]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

use libc::{c_int, c_void, clockid_t, timespec};

use crate::units::Instant;

/// While this lives, the thread's monotonic clock stands still at one instant. Guards nest.
#[derive(Debug)]
pub struct VirtualNow {
    outer: u64,
    /// The clock belongs to a thread, so the guard must not leave it.
    thread: PhantomData<*const ()>,
}

impl VirtualNow {
    pub fn enter(now: Instant) -> Self {
        let outer = NOW.replace(now.as_nanos().min(REAL - 1));
        Self { outer, thread: PhantomData }
    }
}

impl Drop for VirtualNow {
    fn drop(&mut self) {
        NOW.set(self.outer);
    }
}

/// `now` as the standard library's type, which cannot be made from a number: counted from an origin that is always
/// the same, since it is read inside a guard.
pub fn to_std(now: Instant) -> std::time::Instant {
    origin() + Duration::from_nanos(now.as_nanos())
}

/// The other way round; an instant before the origin is [`Instant::ZERO`].
pub fn from_std(instant: std::time::Instant) -> Instant {
    Instant::ZERO + instant.saturating_duration_since(origin())
}

#[expect(clippy::disallowed_methods, reason = "reads the virtual clock, which stands at zero here")]
fn origin() -> std::time::Instant {
    static ORIGIN: OnceLock<std::time::Instant> = OnceLock::new();
    *ORIGIN.get_or_init(|| {
        let _zero = VirtualNow::enter(Instant::ZERO);
        std::time::Instant::now()
    })
}

/// The value of [`NOW`] that stands for "no guard".
const REAL: u64 = u64::MAX;

thread_local! {
    /// Nanoseconds. Constant and without a destructor, so reading it is one load and it may be read at any time.
    static NOW: Cell<u64> = const { Cell::new(REAL) };
}

/// Takes the place of the C library's function in the whole program: the linker resolves the standard library's and
/// every C dependency's call to it.
///
/// # Safety
///
/// As for `clock_gettime(2)`: `time` points to a `timespec` that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    let now = NOW.get();
    if now == REAL || clock != libc::CLOCK_MONOTONIC {
        // SAFETY: the caller's promise is passed on.
        return unsafe { real_clock_gettime(clock, time) };
    }
    let value = timespec { tv_sec: (now / NANOS) as _, tv_nsec: (now % NANOS) as _ };
    // SAFETY: the caller promises that `time` may be written.
    unsafe { time.write(value) };
    0
}

const NANOS: u64 = 1_000_000_000;

type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;

/// # Safety
///
/// As for [`clock_gettime`].
unsafe fn real_clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    static REAL_FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut function = REAL_FUNCTION.load(Ordering::Relaxed);
    if function.is_null() {
        // SAFETY: the name is a C string.
        function = unsafe { libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr()) };
        assert!(!function.is_null(), "the C library has no clock_gettime");
        REAL_FUNCTION.store(function, Ordering::Relaxed);
    }
    // SAFETY: the symbol after ours is the C library's function of this type; the pointer is not null.
    let function = unsafe { std::mem::transmute::<*mut c_void, ClockGettime>(function) };
    // SAFETY: the caller's promise is passed on.
    unsafe { function(clock, time) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "these tests are about what the clock says")]
mod tests {
    use super::*;

    fn at(nanos: u64) -> VirtualNow {
        VirtualNow::enter(Instant::from_nanos(nanos))
    }

    #[test]
    fn a_guard_sets_the_clock_of_its_own_thread_only() {
        let _guard = at(5_000_000_123);
        let first = std::time::Instant::now();
        assert_eq!(from_std(first), Instant::from_nanos(5_000_000_123));
        let elsewhere = std::thread::spawn(std::time::Instant::now).join().unwrap();
        assert_ne!(elsewhere, first);
        assert_eq!(std::time::Instant::now(), first);
    }

    #[test]
    fn guards_nest_and_give_the_real_clock_back() {
        let real = std::time::Instant::now();
        {
            let _outer = at(1_000);
            {
                let _inner = at(2_000);
                assert_eq!(from_std(std::time::Instant::now()).as_nanos(), 2_000);
            }
            assert_eq!(from_std(std::time::Instant::now()).as_nanos(), 1_000);
        }
        assert!(std::time::Instant::now() >= real);
    }

    #[test]
    fn the_calendar_clock_stays_real() {
        let _guard = at(7);
        let since_1970 = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        assert!(since_1970 > Duration::from_secs(1_000_000_000));
    }

    #[test]
    fn conversions_are_exact() {
        for nanos in [0, 1, 999_999_999, 1_000_000_000, 86_400_000_000_001] {
            let now = Instant::from_nanos(nanos);
            assert_eq!(from_std(to_std(now)), now);
            let _guard = VirtualNow::enter(now);
            assert_eq!(std::time::Instant::now(), to_std(now));
        }
    }
}
