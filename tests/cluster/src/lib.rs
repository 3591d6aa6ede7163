//! An embedded OpenShift-like API server, for tests.
