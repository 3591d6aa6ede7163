use crate::request::Verb;
use crate::scope::Scope;
use crate::{Manifest, Result, Selection};

pub(crate) fn get(scope: &Scope<'_>, selection: Selection<'_>) -> Result<Vec<Manifest>> {
    super::targets(scope, selection, Verb::Get)?
        .iter()
        .map(|target| {
            let request = target.request(Verb::Get)?;
            let object = scope.object(&request)?;
            super::check_answer(&request, target, &object)?;
            Ok(object.into())
        })
        .collect()
}
