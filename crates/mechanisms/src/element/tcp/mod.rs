//! TCP: senders and receivers that speak the RFCs, on segments.
