//! Group services: membership with views, and multicast in one order with them.
