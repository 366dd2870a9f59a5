//! x
use std::error::Error; use std::path::PathBuf;
pub fn print(_files: &[PathBuf]) -> Result<(), Box<dyn Error>> { Ok(()) }
