//! Deleting only what is meant: by uid, by owner, by version; and how.

use openshift_templates::{
    CreateOptions, DeleteOptions, Error, Outcome, OwnershipError, PropagationPolicy, State,
    Template,
};
use serde_json::json;

use super::{names, pair, rendering, secret};
use crate::site::Site;

#[test]
fn a_saved_uid_protects_the_next_object_of_the_name() {
    let site = Site::new();
    let namespace = site.namespace();
    let old = namespace.create(&pair()).unwrap();
    namespace.delete(&old).unwrap();
    let new = namespace.create(&pair()).unwrap();
    let error = namespace.delete(&old).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.failures().len(), 2);
    assert!(
        operation
            .failures()
            .iter()
            .all(|f| f.error().is_conflict() && f.outcome() == Outcome::Rejected)
    );
    assert_eq!(namespace.get(&new).unwrap().len(), 2);
}

#[test]
fn objects_that_changed_since_they_were_read_are_spared() {
    let site = Site::new();
    let namespace = site.namespace();
    namespace.create(&pair()).unwrap();
    let live = namespace.get(&pair()).unwrap();
    namespace.create(&pair().parameter("V", "2")).unwrap();
    let error =
        namespace.delete_with(&pair(), &DeleteOptions::new().unchanged_since(&live)).unwrap_err();
    assert_eq!(error.as_operation().unwrap().failures().len(), 2);
    assert!(error.is_conflict(), "{error:?}");
}

#[test]
fn a_foreground_deletion_shows_as_such() {
    let site = Site::new();
    let namespace = site.namespace();
    let template = deployment_with_replicas();
    namespace.create(&template).unwrap();
    let options = DeleteOptions::new().propagation(PropagationPolicy::Foreground);
    namespace.delete_with(&template, &options).unwrap();
    // A garbage collector, where one runs, may have finished already.
    let state = namespace.status(&template).unwrap()[0].state().clone();
    assert!(matches!(state, State::Deleting | State::Absent), "{state}");
    namespace.delete(&template).unwrap();
}

fn deployment_with_replicas() -> Template {
    rendering(&json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": "${{V}}", "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]}},
        },
    }]))
}

#[test]
fn a_safe_replay_leaves_an_object_that_took_the_name_alone() {
    let site = Site::new();
    let namespace = site.namespace();
    let only_own = DeleteOptions::new().only_managed_by("mini-scheduler");
    for options in [CreateOptions::new(), CreateOptions::new().require_new(true)] {
        namespace.create_with(&pair(), &options).unwrap();
        assert_eq!(namespace.delete_with(&pair(), &only_own).unwrap().len(), 2);
    }

    // One of the two goes, and somebody else makes another of its name.
    let references = namespace.create(&pair()).unwrap();
    namespace.delete(&references[1..]).unwrap();
    let theirs = rendering(&json!([secret()]));
    let somebody = CreateOptions::new().field_manager("somebody");
    let theirs = namespace.create_with(&theirs, &somebody).unwrap();

    // A fresh process, with nothing saved.
    let error = site.namespace().delete_with(&pair(), &only_own).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(names(operation.completed()), ["ConfigMap/n-c"]);
    let [failure] = operation.failures() else { panic!("{error:?}") };
    let Error::Ownership(OwnershipError::Foreign { managers }) = failure.error() else {
        panic!("{failure:?}")
    };
    assert_eq!(
        (managers.as_slice(), failure.outcome()),
        (&["somebody".to_owned()][..], Outcome::NotSent)
    );
    assert_eq!(namespace.get(&theirs).unwrap().len(), 1);
}

#[test]
fn a_safe_replay_leaves_what_does_not_say_who_made_it() {
    let site = Site::new();
    let namespace = site.namespace();
    let unprovable = site.object_without_managers();
    let only_own = DeleteOptions::new().only_managed_by("mini-scheduler");
    let error = namespace.delete_with(std::slice::from_ref(&unprovable), &only_own).unwrap_err();
    let failure = &error.as_operation().unwrap().failures()[0];
    assert!(matches!(failure.error(), Error::Ownership(OwnershipError::Unprovable)), "{failure:?}");
    assert_eq!(namespace.get(&[unprovable]).unwrap().len(), 1);
}
