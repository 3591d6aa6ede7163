//! The rights that a job needs.

use openshift_templates::{Access, DeleteOptions};
use serde_json::json;

use super::rendering;
use crate::site::Site;
use crate::support::job;

#[test]
fn missing_rights_are_found_before_work_starts() {
    let site = Site::new();
    let workers = site.client("worker").namespace("workers").unwrap();
    let access = workers.access(&job("a")).unwrap();
    assert_eq!(workers.check_access(&access).unwrap(), []);
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    let access = workers.access(&rendering(&json!([service]))).unwrap();
    let missing: Vec<_> =
        workers.check_access(&access).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 4);
    assert_eq!(missing[0], "create services in namespace \"workers\"");
}

#[test]
fn the_listed_rights_are_enough_and_none_of_them_is_too_many() {
    let site = Site::new();
    let name = format!("rights-{}", std::process::id());
    let template = job(&name);
    let access = site.client("admin").namespace("workers").unwrap().access(&template).unwrap();
    assert!(
        access.to_yaml().contains("resourceNames:\n  - worker-template"),
        "{}",
        access.to_yaml()
    );

    let granted = site.identity_with(&access);
    let workers = granted.client().namespace("workers").unwrap();
    assert_eq!(workers.check_access(&access).unwrap(), []);
    workers.create(&template).unwrap();
    assert_eq!(workers.get(&template).unwrap().len(), 3);
    let only_own = DeleteOptions::new().only_managed_by("mini-scheduler");
    assert_eq!(workers.delete_with(&template, &only_own).unwrap().len(), 3);

    // The rules of another job are others: what lacks is told, right by right.
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    let other = site.client("admin").namespace("workers").unwrap();
    let other: Access = other.access(&rendering(&json!([service]))).unwrap();
    let missing: Vec<_> =
        workers.check_access(&other).unwrap().iter().map(|m| m.verb().to_owned()).collect();
    assert_eq!(missing, ["create", "patch", "delete", "get"]);
}
