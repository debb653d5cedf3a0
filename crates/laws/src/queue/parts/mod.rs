//! Parts that laws of queues are made of: cores of AQM, classes and their schedulers, queues by a
//! hash of the flow.

pub(super) mod ack_filter;
pub(super) mod adjustment;
pub(super) mod any_drop_policy;
pub(super) mod class;
pub(super) mod class_counts;
pub(super) mod class_hash;
pub(super) mod class_rules;
pub(super) mod class_set;
pub(super) mod classful;
pub(super) mod classifier;
pub(super) mod cobalt_core;
pub(super) mod codel_core;
pub(super) mod dynamic_redn;
pub(super) mod fifo;
pub(super) mod flow_hash;
pub(super) mod flow_index;
pub(super) mod flow_queues;
pub(super) mod packet_pool;
pub(super) mod pie_core;
pub(super) mod red_core;
pub(super) mod red_options;
pub(super) mod round_robin;
pub(super) mod tags;
