//! A thread that runs beside the endpoints of a trial. However the trial ends, it is told to stop
//! and waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::error::NetemError;
use crate::engine::EngineError;
use crate::engine::bounds::Bounds;

pub(super) struct Aside<T> {
    stop: Arc<AtomicBool>,
    name: &'static str,
    thread: Option<JoinHandle<T>>,
}

impl<T: Send + 'static> Aside<Result<T, NetemError>> {
    /// `body` makes what will run from the flag that tells it to stop. If that ends with an error,
    /// the trial ends too.
    pub(super) fn start<F>(
        name: &'static str,
        bounds: &Arc<Bounds>,
        body: impl FnOnce(Arc<AtomicBool>) -> F,
    ) -> Result<Self, EngineError>
    where
        F: FnOnce() -> Result<T, NetemError> + Send + 'static,
    {
        let stop = Arc::new(AtomicBool::new(false));
        let (run, bounds) = (body(Arc::clone(&stop)), Arc::clone(bounds));
        let body = move || {
            let result = run();
            if result.is_err() {
                bounds.end();
            }
            result
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(body);
        Ok(Self { stop, name, thread: Some(thread.map_err(EngineError::Thread)?) })
    }

    pub(super) fn end(mut self) -> Result<T, EngineError> {
        let joined = self.join().unwrap_or(Err(NetemError::Crashed(self.name)));
        Ok(joined?)
    }
}

impl<T> Aside<T> {
    /// `None` if the thread panicked.
    fn join(&mut self) -> Option<T> {
        self.stop.store(true, Ordering::Release);
        self.thread.take()?.join().ok()
    }
}

impl<T> Drop for Aside<T> {
    fn drop(&mut self) {
        self.join();
    }
}

#[cfg(test)]
mod tests;
