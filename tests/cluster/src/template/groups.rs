//! The legacy kinds that processing gives their group back.

/// `group = <name>.openshift.io`; each kind's list form too. Read from openshift-apiserver's table.
const KINDS: &[(&str, &[&str])] = &[
    (
        "apps",
        &["DeploymentConfig", "DeploymentConfigRollback", "DeploymentLog", "DeploymentRequest"],
    ),
    (
        "authorization",
        &[
            "ClusterRole",
            "ClusterRoleBinding",
            "Role",
            "RoleBinding",
            "RoleBindingRestriction",
            "SubjectRulesReview",
            "SelfSubjectRulesReview",
            "ResourceAccessReview",
            "LocalResourceAccessReview",
            "SubjectAccessReview",
            "LocalSubjectAccessReview",
        ],
    ),
    ("build", &["BuildConfig", "Build", "BinaryBuildRequestOptions", "BuildLog", "BuildRequest"]),
    (
        "image",
        &[
            "Image",
            "ImageSignature",
            "ImageStream",
            "ImageStreamImage",
            "ImageStreamImport",
            "ImageStreamMapping",
            "ImageStreamTag",
        ],
    ),
    ("network", &["ClusterNetwork", "EgressNetworkPolicy", "HostSubnet", "NetNamespace"]),
    (
        "oauth",
        &["OAuthAccessToken", "OAuthAuthorizeToken", "OAuthClientAuthorization", "OAuthClient"],
    ),
    ("project", &["Project", "ProjectRequest"]),
    ("quota", &["ClusterResourceQuota", "AppliedClusterResourceQuota"]),
    ("route", &["Route"]),
    (
        "security",
        &[
            "SecurityContextConstraints",
            "PodSecurityPolicySubjectReview",
            "PodSecurityPolicySelfSubjectReview",
            "PodSecurityPolicyReview",
        ],
    ),
    ("template", &["Template"]),
    ("user", &["Group", "Identity", "UserIdentityMapping", "User"]),
];

/// The group version that an object of the core group comes back with, if its kind is one of the legacy ones.
pub(super) fn group_version(api_version: &str, kind: &str) -> Option<String> {
    if api_version.contains('/') {
        return None;
    }
    let singular = kind.strip_suffix("List").unwrap_or(kind);
    let (group, _) = KINDS.iter().find(|(_, kinds)| kinds.contains(&singular))?;
    Some(format!("{group}.openshift.io/{api_version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legacy_kinds_get_their_group() {
        for (api_version, kind, expected) in [
            ("v1", "Route", Some("route.openshift.io/v1")),
            ("v1beta1", "Route", Some("route.openshift.io/v1beta1")),
            ("", "Route", Some("route.openshift.io/")),
            ("v1", "RouteList", Some("route.openshift.io/v1")),
            ("v1", "DeploymentConfig", Some("apps.openshift.io/v1")),
            ("v1", "RoleBinding", Some("authorization.openshift.io/v1")),
            ("rbac.authorization.k8s.io/v1", "RoleBinding", None),
            ("v1", "TemplateInstance", None),
            ("v1", "Deployment", None),
            ("v1", "ConfigMap", None),
        ] {
            assert_eq!(
                group_version(api_version, kind).as_deref(),
                expected,
                "{api_version} {kind}"
            );
        }
    }
}
