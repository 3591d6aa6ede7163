//! What the documents promise.

#[test]
fn each_test_that_security_names_exists() {
    let promises = include_str!("../../SECURITY.md");
    let mut named = 0;
    for word in promises.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        let Some((module, test)) = word.split_once("::") else { continue };
        // A type's method, as in `Config::answer_limit`.
        if module.starts_with(char::is_uppercase) {
            continue;
        }
        let path = format!("{}/tests/it/{module}.rs", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{path} is missing"));
        assert!(source.contains(&format!("#[test]\nfn {test}()")), "{word} does not exist");
        named += 1;
    }
    assert!(named >= 10, "only {named} tests are named");
}
