//! Whole trials in virtual time, against formulas and against figures that know nothing of our
//! code.

mod closed_forms;
mod intervals;
mod kcp_echo_test;
mod kcptun_layers;
mod lab;
mod paths_back;
mod published_figures;
mod recoveries;
mod vehicles;
