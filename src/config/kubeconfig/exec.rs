use std::path::Path;

use super::beside;
use super::cluster;
use super::document::Entry;
use crate::config::Config;
use crate::config::environment::Environment;
use crate::config::exec::{Info, Plugin, Runs, Stdin, Version};
use crate::error::{ConfigError, ConfigProblem};

/// What has to be right even where the plugin is not used.
pub(super) fn check(exec: &Entry<'_>) -> Result<(), ConfigError> {
    exec.string("command")?.ok_or_else(|| exec.needed("command"))?;
    let version = exec.string("apiVersion")?.ok_or_else(|| exec.needed("apiVersion"))?;
    let mode = exec.string("interactiveMode")?;
    if mode.is_none() && Version::parse(&version) == Some(Version::V1) {
        return Err(exec.needed("interactiveMode"));
    }
    if !matches!(mode.as_deref(), None | Some("Never" | "IfAvailable" | "Always")) {
        let supported = "Never, IfAvailable or Always";
        return Err(exec.invalid("interactiveMode", ConfigProblem::NotOneOf { supported }));
    }
    for variable in exec.mappings("env")? {
        variable.string("name")?.ok_or_else(|| variable.needed("name"))?;
    }
    Ok(())
}

pub(super) fn plugin(
    user: &Entry<'_>,
    exec: &Entry<'_>,
    cluster: &Entry<'_>,
    environment: &Environment,
    config: &Config,
) -> Result<Plugin, ConfigError> {
    let version = exec.string("apiVersion")?.and_then(|version| Version::parse(&version));
    let version = version.ok_or_else(|| {
        exec.invalid("apiVersion", ConfigProblem::NotOneOf { supported: Version::SUPPORTED })
    })?;
    let command = exec.string("command")?.ok_or_else(|| exec.needed("command"))?;
    let mut env = Vec::new();
    for variable in exec.mappings("env")? {
        let name = variable.string("name")?.unwrap_or_default();
        env.push((name, variable.string("value")?.unwrap_or_default()));
    }
    let stdin = match exec.string("interactiveMode")?.as_deref() {
        Some("Never") => Stdin::Nothing,
        Some("Always") if !environment.terminal => Stdin::Missing,
        _ if environment.terminal => Stdin::Terminal,
        _ => Stdin::Nothing,
    };
    let cluster = if exec.boolean("provideClusterInfo")? {
        Some(cluster::info(cluster, config)?)
    } else {
        None
    };
    let info = Info::new(version, cluster.as_ref(), stdin == Stdin::Terminal).to_json();
    Ok(Plugin {
        field: user.field("exec"),
        version,
        command: located(exec.file(), command),
        args: exec.strings("args")?,
        env,
        install_hint: exec.string("installHint")?,
        stdin,
        info,
        limit: stdin.limit(),
        runs: Runs::default(),
    })
}

/// A bare name is looked for on the `PATH`; anything with a separator is a path, and relative to
/// the file that it stands in.
fn located(file: &Path, command: String) -> String {
    if !command.contains(std::path::is_separator) {
        return command;
    }
    beside(file, &command).to_string_lossy().into_owned()
}
