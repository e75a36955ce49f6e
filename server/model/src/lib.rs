//! Language models behind one trait, over their wire protocols.
