//! The engine as a WebAssembly module: requests in as JSON, documents out as JSON.
//!
//! This crate converts and nothing else. One instance of the module holds one run at most: a page
//! makes a new instance for each run, so that memory, and what a failure leaves behind, go with it.
//! What the page calls is in [`exports`]; what it means in [`desk`].

pub mod desk;
pub mod exports;
