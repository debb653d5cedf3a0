//! The engine of Forebay with the transports of `own-element`. `FOREBAY_ENGINE` names the library.

forebay_python::engine!(own_element::registry);
