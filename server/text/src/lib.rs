//! Rope documents, positions, change sets and their algebra.
