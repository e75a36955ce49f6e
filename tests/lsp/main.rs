//! The server through its protocol: the real binary, the model scripted, fake editors in front.

#[cfg(test)]
mod clients;
#[cfg(all(test, target_os = "linux"))]
mod commands;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod conversation_bad_days;
#[cfg(test)]
mod desync;
#[cfg(test)]
mod extensions;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod go_to;
#[cfg(test)]
#[cfg(unix)]
mod hostile;
#[cfg(test)]
#[cfg(unix)]
mod locked;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod ordinary_user;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod over_fork;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod over_fork_out_of_reach;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod over_fork_words;
#[cfg(test)]
mod plugin;
#[cfg(test)]
mod renames;
#[cfg(test)]
mod review;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sizes;
mod subagents;
#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod team;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod turns;
#[cfg(test)]
#[cfg(unix)]
mod two_names;
