//! The native module of the wheel, `forebay._native`: the engine with the mechanisms of Forebay.

forebay_python::engine!(forebay_scenario::registry);
