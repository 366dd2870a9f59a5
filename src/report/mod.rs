//! What a reader gets to see of a run: a table in the terminal, charts, JSON and CSV, in a folder
//! that everything can be drawn again from. Sees recordings and the plan, and never an engine.

pub mod agreement;
pub mod chart;
mod claims;
pub mod csv;
pub mod figures;
mod front;
pub mod impairment;
pub mod json;
mod kind;
mod order;
pub mod results;

mod paths;
mod remark;
mod reservation;
mod summarise;
mod table;
pub mod terminal;

pub use claims::{ClaimReport, ClaimedFigure};
pub use front::Standing;
pub use kind::{Kind, Redundancy};
pub use order::Order;
pub use remark::Remark;
pub use reservation::Reservation;
pub use results::{Results, ResultsError};
pub use summarise::{Report, RunReport, SenderReport, summarise};
