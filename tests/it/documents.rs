//! What the documents promise.

use std::path::Path;

const SECURITY: &str = include_str!("../../SECURITY.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a source has a test of this name, written out or as a property.
fn has_test(source: &str, name: &str) -> bool {
    let dense: String = source.split_whitespace().collect();
    dense.contains(&format!("#[test]fn{name}("))
}

fn sources_of(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources_of(&path, all);
        } else {
            all.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// The names in backticks that are spelled as those of tests: `module::test`, or a unit test's.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| {
        name.contains(['_', ':'])
            && name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == ':')
    };
    text.split('`').skip(1).step_by(2).filter(is_name)
}

#[test]
fn each_promise_of_security_names_a_test_that_exists() {
    let mut units = String::new();
    sources_of(&root().join("src"), &mut units);
    let exists = |name: &str| match name.rsplit_once("::") {
        Some((module, test)) => {
            let file = module.replace("::", "/") + ".rs";
            let read = |folder| std::fs::read_to_string(root().join(folder).join(&file));
            let source = read("tests/it").or_else(|_| read("tests"));
            has_test(&source.unwrap_or_else(|_| panic!("{file} is missing")), test)
        }
        None => has_test(&units, name),
    };
    let promises: Vec<&str> = SECURITY.split("\n- ").skip(1).collect();
    assert!(promises.len() >= 20, "only {} promises", promises.len());
    for promise in promises {
        let promise = promise.split("\n\n").next().unwrap();
        let tests = names(promise).filter(|name| exists(name)).count();
        assert!(tests > 0, "no test shows: {promise}");
        let missing = names(promise).find(|name| name.contains("::") && !exists(name));
        assert_eq!(missing, None, "{promise}");
    }
}
