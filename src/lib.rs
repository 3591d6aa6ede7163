//! OpenShift Templates for synchronous programs.
