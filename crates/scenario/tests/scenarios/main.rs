//! Whole scenarios, from their text to their results: against theory, against arithmetic, against
//! themselves, and against everything that a user can get wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod abr;
mod adaptive_queues;
mod atm;
mod bad_abr;
mod bad_atm;
mod bad_calls;
mod bad_controls;
mod bad_input;
mod bad_links;
mod bad_networks;
mod bad_queues;
mod bad_text;
mod bad_values;
mod bbr_cases;
mod call_extremes;
mod calls;
mod cells;
mod class_rows;
mod classes;
mod closed_forms;
mod conservation;
mod controls;
mod determinism;
mod early;
mod every_mechanism;
mod exact;
mod extremes;
mod failures;
mod fairness;
mod frames;
mod handshake;
mod impairments;
mod l4s;
mod limits;
mod loss_systems;
mod many_flows;
mod media;
mod partitions;
mod pcn;
mod precedences;
mod recording;
mod recovery;
mod residual;
mod rings;
mod sawtooth;
mod statistics;
mod support;
mod templates;
mod ties;
mod transfers;
mod transmitted;
mod variable_links;
mod video;
