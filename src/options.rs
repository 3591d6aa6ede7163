mod create;
mod delete;

pub use create::CreateOptions;
pub use delete::{DeleteOptions, PropagationPolicy};
