use crate::request::Verb;
use crate::{Manifest, Namespace, Result, Selection};

pub(crate) fn get(namespace: &Namespace, selection: Selection<'_>) -> Result<Vec<Manifest>> {
    super::targets(namespace, selection, Verb::Get)?
        .iter()
        .map(|target| {
            let request = target.request(Verb::Get)?;
            let object = namespace.object(&request)?;
            super::check_answer(&request, target, &object)?;
            Ok(object.into())
        })
        .collect()
}
