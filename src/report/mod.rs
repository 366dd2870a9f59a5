//! What a reader gets to see of a run: a table in the terminal, charts, JSON and CSV, in a folder
//! that everything can be drawn again from. Sees recordings and the plan, and never an engine.

pub mod agreement;
pub mod chart;
mod claims;
pub mod csv;
mod figures;
pub mod impairment;
pub mod json;
pub mod results;

mod paths;
mod summarise;
mod table;
pub mod terminal;

pub use claims::{ClaimReport, ClaimedFigure};

pub use results::{Results, ResultsError};
pub use summarise::{Remark, Report, RunReport, SenderReport, summarise};
