//! Hosts of a test on one machine: network namespaces on one bridge, each behind a link that can be taken down.
//!
//! All lie in a network and a table of mounts that this process alone has, so nothing of them outlives it.

use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Variable with the network that this program was in before it moved.
const LEFT: &str = "ROPEWALK_TEST_NETWORK";
const BRIDGE: &str = "ropewalk";
/// Address of the bridge, on which a server for all hosts listens. Its range is kept for benches and routed nowhere.
pub const BRIDGE_ADDRESS: &str = "198.18.0.1";

/// Starts this program anew, with the same arguments, in a network and a table of mounts of its own. Returns once it is
/// there. To be called at the beginning of `main`, before anything is done twice.
///
/// # Errors
///
/// A sentence, where such a network can't be had. The program is then where it was.
pub fn move_in() -> Result<(), String> {
    let here = network()?;
    if let Some(left) = env::var_os(LEFT) {
        return match left == *here {
            true => Err("This program was started in the network that it had left.".to_owned()),
            false => run("ip", &["link", "set", "lo", "up"]),
        };
    }
    let apart = ["--net", "--mount", "--"];
    run("unshare", &[&apart[..], &["ip", "link", "set", "lo", "up"]].concat()).map_err(
        |error| {
            format!(
                "A network of its own can't be had here, which needs root and iproute2: {error}"
            )
        },
    )?;
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut again = Command::new("unshare");
    again.args(apart).arg(program).args(env::args_os().skip(1)).env(LEFT, here);
    Err(again.exec().to_string())
}

/// Name of the network that this process is in.
fn network() -> Result<String, String> {
    let link = fs::read_link("/proc/self/ns/net").map_err(|error| error.to_string())?;
    Ok(link.display().to_string())
}

/// Hosts on one bridge. This process is at the bridge itself.
#[derive(Debug)]
pub struct Namespaces {
    names: Vec<String>,
}

impl Namespaces {
    /// Makes a host for each name, once in a process that has moved in.
    ///
    /// # Errors
    ///
    /// A sentence, where the process is in the machine's network, or the system refuses.
    pub fn new(names: &[&str]) -> Result<Self, String> {
        // Mounts and bridges of the machine itself are never touched.
        if env::var_os(LEFT).is_none_or(|left| network().is_ok_and(|here| left == *here)) {
            return Err("Hosts are made only in a network of this program's own.".to_owned());
        }
        fs::create_dir_all("/run/netns").map_err(|error| error.to_string())?;
        run("mount", &["-t", "tmpfs", "tmpfs", "/run/netns"])?;
        let address = format!("{BRIDGE_ADDRESS}/24");
        ip(&["link", "add", BRIDGE, "type", "bridge"])?;
        ip(&["address", "add", &address, "dev", BRIDGE])?;
        ip(&["link", "set", BRIDGE, "up"])?;
        for (at, name) in names.iter().enumerate() {
            let (port, address) = (port(name), format!("198.18.0.{}/24", at + 2));
            ip(&["netns", "add", name])?;
            ip(&["link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns", name])?;
            ip(&["link", "set", &port, "master", BRIDGE, "up"])?;
            ip(&["-n", name, "address", "add", &address, "dev", "eth0"])?;
            ip(&["-n", name, "link", "set", "eth0", "up"])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        Ok(Self { names: names.iter().map(|name| (*name).to_owned()).collect() })
    }

    /// Names of the hosts.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Takes the link between a host and the bridge down. What is sent is lost, and nobody is told.
    ///
    /// # Errors
    ///
    /// A sentence, where there is no such host.
    pub fn cut(&self, name: &str) -> Result<(), String> {
        ip(&["link", "set", &port(name), "down"])
    }

    /// Brings the link back.
    ///
    /// # Errors
    ///
    /// As [`Namespaces::cut`].
    pub fn mend(&self, name: &str) -> Result<(), String> {
        ip(&["link", "set", &port(name), "up"])
    }
}

/// `program` as a process of the host `name`. Its process id is the program's own.
pub fn on_host(name: &str, program: &Path) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name]).arg(program);
    command
}

fn port(name: &str) -> String {
    format!("to-{name}")
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    run("ip", arguments)
}

/// Runs a program, and gives its words if it fails.
fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}
