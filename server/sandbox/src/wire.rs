//! Messages of server and holder, over a Unix socket that keeps them apart.
//!
//! A message is a small JSON text, or, where it would not fit a packet, the word `memfd` with a memory file
//! that holds it as the first of its file descriptors. Both ends are the same executable, so there are no
//! versions; sizes are bounded all the same.

use crate::plan::{End, Limits, Plan, Spec};
use crate::wire_text::WireText;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

/// The longest message that goes in a packet.
const PACKET: usize = 8 << 10;
/// The longest message at all.
const LONGEST: u64 = 32 << 20;
/// The most file descriptors of a message.
const MOST_FDS: usize = 4;
/// Says that the message is in the first file descriptor.
const ELSEWHERE: &[u8] = b"memfd";

/// From the server to the holder.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToHolder {
    /// The first message: what to set up.
    Setup(WirePlan),
    /// Instead of `Setup`: try what this machine can do, with a folder on a disk.
    Probe(WireText),
    /// Start a command; its output is the message's file descriptor.
    Run(WireSpec),
    /// End a command and all its processes.
    Kill(u64),
}

/// From the holder to the server.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromHolder {
    /// The sandbox stands. The message's file descriptors are the temporary folder and, in memory, the layer folder.
    Ready {
        /// True if layers are in memory.
        in_memory: bool,
    },
    /// The sandbox could not be set up, or nothing could be tried.
    Failed(StepFailure),
    /// Abilities of the machine.
    Probed(crate::support::Abilities),
    /// The command runs.
    Started(u64),
    /// The command could not be started.
    NotStarted(u64, StepFailure),
    /// The command ran and ended.
    Ended(u64, End),
}

/// A step that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StepFailure {
    /// The step and what the system said.
    pub(crate) words: String,
    /// The system's error number.
    pub(crate) errno: Option<i32>,
}

/// A [`Plan`] as bytes: a path need not be UTF-8.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WirePlan {
    roots: Vec<WireText>,
    links: Vec<(WireText, WireText)>,
    shown: Vec<WireText>,
    hidden: Vec<WireText>,
    caches: Vec<WireText>,
    home: Option<WireText>,
    environment: Vec<(WireText, WireText)>,
    upper: crate::Upper,
    disk_layers: WireText,
    limits: Limits,
}

/// A [`Spec`] as bytes, without its output.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WireSpec {
    pub(crate) id: u64,
    pub(crate) argv: Vec<WireText>,
    pub(crate) cwd: WireText,
    pub(crate) env: Vec<(WireText, WireText)>,
    pub(crate) layer: String,
    pub(crate) network: bool,
    pub(crate) shown: Vec<WireText>,
    pub(crate) hidden: Vec<WireText>,
    pub(crate) unhidden: Vec<WireText>,
    pub(crate) laid: Vec<(WireText, WireText)>,
    pub(crate) replaced: Vec<(WireText, WireText)>,
}

/// Values from one form to the other.
fn all<From: Into<To>, To>(values: Vec<From>) -> Vec<To> {
    values.into_iter().map(Into::into).collect()
}

/// Pairs from one form to the other.
fn pairs<A: Into<To>, B: Into<To>, To>(pairs: Vec<(A, B)>) -> Vec<(To, To)> {
    pairs.into_iter().map(|(one, other)| (one.into(), other.into())).collect()
}

impl WirePlan {
    /// The plan, with those variables alone by which toolchains are found.
    pub(crate) fn new(plan: &Plan) -> WirePlan {
        let mut environment = plan.environment.clone();
        environment.retain(|(name, _)| crate::toolchains::names_a_toolchain(name));
        WirePlan {
            roots: all(plan.roots.clone()),
            links: pairs(plan.links.clone()),
            shown: all(plan.shown.clone()),
            hidden: all(plan.hidden.clone()),
            caches: all(plan.caches.clone()),
            home: plan.home.clone().map(WireText::from),
            environment: pairs(environment),
            upper: plan.upper,
            disk_layers: plan.disk_layers.clone().into(),
            limits: plan.limits,
        }
    }
}

impl From<WirePlan> for Plan {
    fn from(wire: WirePlan) -> Plan {
        Plan {
            roots: all(wire.roots),
            links: pairs(wire.links),
            shown: all(wire.shown),
            hidden: all(wire.hidden),
            caches: all(wire.caches),
            home: wire.home.map(PathBuf::from),
            environment: pairs(wire.environment),
            upper: wire.upper,
            disk_layers: PathBuf::from(wire.disk_layers),
            limits: wire.limits,
        }
    }
}

impl WireSpec {
    /// The command, and where its output goes.
    pub(crate) fn new(id: u64, spec: Spec) -> (WireSpec, OwnedFd) {
        let wire = WireSpec {
            id,
            argv: all(spec.argv),
            cwd: spec.cwd.into(),
            env: pairs(spec.env),
            layer: spec.layer,
            network: spec.network,
            shown: all(spec.shown),
            hidden: all(spec.hidden),
            unhidden: all(spec.unhidden),
            laid: pairs(spec.laid),
            replaced: pairs(spec.replaced),
        };
        (wire, spec.output)
    }
}

/// Sends a message with file descriptors. Where the socket's buffer is full it waits or fails as the socket
/// is set to.
pub(crate) fn send<T: Serialize>(
    socket: BorrowedFd<'_>,
    message: &T,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    if body.len() <= PACKET {
        return send_packet(socket, &body, fds);
    }
    if body.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"));
    }
    let mut file = File::from(memfd_create("message", MemfdFlags::CLOEXEC)?);
    file.write_all(&body)?;
    file.rewind()?;
    let all: Vec<BorrowedFd<'_>> = [file.as_fd()].into_iter().chain(fds.iter().copied()).collect();
    send_packet(socket, ELSEWHERE, &all)
}

fn send_packet(socket: BorrowedFd<'_>, body: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many file descriptors"));
    }
    loop {
        match sendmsg(socket, &[IoSlice::new(body)], &mut control, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            other => return other.map(|_| ()).map_err(io::Error::from),
        }
    }
}

/// Takes the next message and its file descriptors; `None` when the other end is gone.
pub(crate) fn receive<T: DeserializeOwned>(
    socket: BorrowedFd<'_>,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut body = vec![0; PACKET];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut body)];
        match recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) => return Ok(None),
            other => break other?,
        }
    };
    let mut fds: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            fds.extend(sent);
        }
    }
    if received.bytes == 0 {
        return Ok(None);
    }
    body.truncate(received.bytes);
    if body == ELSEWHERE {
        if fds.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a message without its body"));
        }
        let file = File::from(fds.remove(0));
        body.clear();
        file.take(LONGEST).read_to_end(&mut body)?;
    }
    Ok(Some((serde_json::from_slice(&body)?, fds)))
}
