//! Configuration: layers, provenance, and the plain structs handed to the rooms.
