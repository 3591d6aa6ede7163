//! The template API beyond the recordings: what was observed of the real one, row by row.

use openshift_templates_testing::{Cluster, User};
use serde_json::{Value, json};

use crate::support::{Answer, Connection, bearer, get, post, send};

const TARGET: &str = "/apis/template.openshift.io/v1/namespaces/workers/processedtemplates";

fn message(answer: &Answer) -> String {
    answer.json()["message"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn nothing_is_mandatory() {
    let cluster = Cluster::start();
    let answer = post(&cluster, TARGET, &json!({}));
    assert_eq!(answer.status, 201);
    assert!(answer.body.ends_with(b"\n"));
    let expected = json!({"kind": "Template", "apiVersion": "template.openshift.io/v1",
        "metadata": {"namespace": "workers"}, "objects": null});
    assert_eq!(answer.json(), expected);
}

#[test]
fn bodies_that_are_refused() {
    let cluster = Cluster::start();
    let not = "Template in version \"v1\" cannot be handled as a Template: json: cannot unmarshal";
    for (body, expected) in [
        (json!({"apiVersion": "template.openshift.io/v2"}),
            "Template in version \"v2\" cannot be handled as a Template: no kind \"Template\" is registered for \
             version \"template.openshift.io/v2\" in scheme \"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30\""
                .to_owned()),
        (json!({"parameters": [{"name": "A", "value": true}]}),
            format!("{not} bool into Go struct field Parameter.parameters.value of type string")),
        (json!({"parameters": [{"name": "A", "value": ["x"]}]}),
            format!("{not} array into Go struct field Parameter.parameters.value of type string")),
        (json!({"parameters": [{"name": "A", "required": "true"}]}),
            format!("{not} string into Go struct field Parameter.parameters.required of type bool")),
        (json!({"parameters": {"A": "1"}}),
            format!("{not} object into Go struct field Template.parameters of type []v1.Parameter")),
        (json!({"labels": {"a": 1}}), format!("{not} number into Go struct field Template.labels of type string")),
    ] {
        let answer = post(&cluster, TARGET, &body);
        assert_eq!((answer.status, message(&answer)), (400, expected), "{body}");
    }
    let nulls = json!({"parameters": [{"name": "A", "value": null, "required": null}], "labels": null, "message": null});
    assert_eq!(post(&cluster, TARGET, &nulls).status, 201);
}

#[test]
fn parameters_that_are_refused() {
    let cluster = Cluster::start();
    let template = |parameters: Value| json!({"metadata": {"name": "t"}, "parameters": parameters});
    let start = "Template.template.openshift.io \"t\" is invalid:";
    for (parameters, expected) in [
        (
            json!([{"name": "A-B"}, {"value": "x"}, null]),
            "[parameters[0].name: Invalid value: \"A-B\": does not match ^[a-zA-Z0-9_]+$, \
             parameters[1].name: Required value, parameters[2].name: Required value]",
        ),
        (
            json!([{"name": "A", "required": true, "value": ""}]),
            "template.parameters[0]: Required value: template.parameters[0]: parameter A is required and must be \
             specified",
        ),
        (
            json!([{"name": "A"}, {"name": "B"}, {"name": "C", "generate": "nope"}]),
            "template.parameters[2]: Invalid value: \"nope\": Unknown generator name 'nope' for parameter C",
        ),
        (
            json!([{"name": "A", "generate": "expression", "from": "[z-a]{5}"}]),
            "template.parameters[0]: Invalid value: {\"name\":\"A\",\"generate\":\"expression\",\
             \"from\":\"[z-a]{5}\"}: invalid range specified: z-a",
        ),
    ] {
        let answer = post(&cluster, TARGET, &template(parameters));
        assert_eq!((answer.status, message(&answer)), (422, format!("{start} {expected}")));
    }
    let ignored =
        json!([{"name": "A", "from": "[a-z]{3}"}, {"name": "A", "value": "1", "generate": "nope"}]);
    assert_eq!(post(&cluster, TARGET, &template(ignored)).status, 201);
    let panics = json!([{"name": "A", "generate": "expression", "from": "[a-a]{5}"}]);
    let answer = post(&cluster, TARGET, &template(panics));
    assert_eq!(answer.status, 500);
    assert_eq!(
        answer.text(),
        "This request caused apiserver to panic. Look in the logs for details.\n"
    );
}

#[test]
fn errors_of_all_objects_come_together() {
    let cluster = Cluster::start();
    let body = json!({"metadata": {"name": "t"}, "objects": [{"a": 1}, "x", {"kind": "K"}]});
    let answer = post(&cluster, TARGET, &body);
    assert_eq!(answer.status, 422);
    let causes = answer.json()["details"]["causes"].clone();
    let fields: Vec<&Value> =
        causes.as_array().unwrap().iter().map(|cause| &cause["field"]).collect();
    assert_eq!(fields, ["item[0].objects", "item[1].objects"]);
}

#[test]
fn unknown_and_duplicate_fields() {
    let cluster = Cluster::start();
    let text = r#"{"message": "a", "message": "b", "Objects": [], "parameters": [{"name": "A", "bogus": 1}]}"#;
    let send = |query: &str| {
        let target = format!("{TARGET}{query}");
        send(&cluster, User::Admin, "POST", &target, "application/json", text)
    };
    let warned = send("");
    let warnings: Vec<&str> = warned
        .headers
        .iter()
        .filter(|(name, _)| name == "Warning")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(
        warnings,
        [
            r#"299 - "duplicate field \"message\"""#,
            r#"299 - "unknown field \"Objects\"""#,
            r#"299 - "unknown field \"parameters[0].bogus\"""#,
        ]
    );
    assert_eq!(warned.json()["message"], "b");
    assert_eq!(warned.json()["objects"], Value::Null);
    let strict = send("?fieldValidation=Strict");
    assert_eq!(strict.status, 400);
    assert!(
        message(&strict).contains(
            "strict decoding error: duplicate field \"message\", unknown field \"Objects\""
        )
    );
    assert!(send("?fieldValidation=Ignore").header("warning").is_none());
    let bad = send("?fieldValidation=Loud");
    assert_eq!((bad.status, bad.json()["details"]["kind"].clone()), (422, json!("CreateOptions")));
}

#[test]
fn methods_paths_and_media_types() {
    let cluster = Cluster::start();
    for method in ["GET", "PUT", "PATCH", "DELETE"] {
        assert_eq!(send(&cluster, User::Admin, method, TARGET, "", "").status, 405, "{method}");
    }
    for target in
        [format!("{TARGET}/x"), "/apis/template.openshift.io/v1/processedtemplates".to_owned()]
    {
        let answer = post(&cluster, &target, &json!({}));
        assert_eq!(answer.status, 404);
        assert_eq!(message(&answer), "the server could not find the requested resource");
    }
    for (content_type, body, status) in [
        ("application/json; charset=utf-8", "{}", 201),
        ("application/yaml", "objects: []\n", 201),
        ("text/plain", "{}", 415),
    ] {
        let answer = send(&cluster, User::Admin, "POST", TARGET, content_type, body);
        assert_eq!(answer.status, status, "{content_type}");
    }
    let authorization = bearer(&cluster, User::Admin);
    let headers = [("Authorization", authorization.as_str()), ("Accept", "text/html")];
    let answer = Connection::open(&cluster).request("POST", TARGET, &headers, Some(b"{}")).unwrap();
    assert_eq!(answer.status, 406);
    let headers = [("Authorization", authorization.as_str()), ("Accept", "application/yaml")];
    let answer = Connection::open(&cluster).request("POST", TARGET, &headers, Some(b"{}")).unwrap();
    assert_eq!((answer.status, answer.header("content-type")), (201, Some("application/yaml")));
    assert_eq!(serde_yaml::from_str::<Value>(&answer.text()).unwrap()["kind"], "Template");
}

#[test]
fn the_answer_repeats_metadata_unsubstituted() {
    let cluster = Cluster::start();
    let body = json!({
        "metadata": {"name": "Bad_Name!", "generateName": "g-", "uid": "u", "creationTimestamp": null,
            "labels": {"a": "${A}"}, "managedFields": [{"manager": "m"}]},
        "message": "${A} ${{A}}", "parameters": [{"name": "A", "value": "1"}], "labels": {"${A}": "${{A}}"},
    });
    let answer = post(&cluster, &format!("{TARGET}?fieldManager=me"), &body).json();
    let metadata = &answer["metadata"];
    assert_eq!(
        (metadata["name"].as_str(), metadata["labels"]["a"].as_str()),
        (Some("Bad_Name!"), Some("${A}"))
    );
    assert_eq!(metadata["generateName"], "g-");
    assert!(metadata.get("uid").is_none());
    assert_eq!(metadata["managedFields"].as_array().map(Vec::len), Some(1));
    assert_eq!(metadata["managedFields"][0]["manager"], "me");
    assert_eq!(answer["message"], "1 ${{A}}");
    assert_eq!(answer["labels"], json!({"1": "1"}));
}

#[test]
fn stored_templates() {
    let cluster = Cluster::start();
    let target = "/apis/template.openshift.io/v1/namespaces/workers/templates";
    let body = json!({"kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": {"name": "t"},
        "objects": ["x", 5, {}, null]});
    assert_eq!(post(&cluster, target, &body).status, 201);
    let again = post(&cluster, target, &body);
    assert_eq!(
        (again.status, message(&again).as_str()),
        (409, "templates.template.openshift.io \"t\" already exists")
    );
    let list = get(&cluster, target).json();
    assert_eq!(list["kind"], "TemplateList");
    assert!(list["items"][0].get("kind").is_none());
    for (parameter, status) in
        [(json!({"name": "A", "value": 5}), 400), (json!({"name": "A-B"}), 422)]
    {
        let body = json!({"metadata": {"name": "u"}, "parameters": [parameter]});
        assert_eq!(post(&cluster, target, &body).status, status);
    }
    let unnamed = post(&cluster, target, &json!({"metadata": {}}));
    assert_eq!(unnamed.status, 422);
    assert!(
        message(&unnamed)
            .contains("metadata.name: Required value: name or generateName is required")
    );
    let deleted = send(&cluster, User::Admin, "DELETE", &format!("{target}/t"), "", "");
    assert_eq!((deleted.status, deleted.json()["kind"].as_str()), (200, Some("Template")));
}
