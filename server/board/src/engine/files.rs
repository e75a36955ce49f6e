//! The folder of a SQLite board: made where it is missing, and refused where locks don't hold.

use crate::error::{BoardError, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// File systems whose locks or shared memory are not those of one machine.
const OVER_A_NETWORK: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "lustre",
    "glusterfs",
    "ocfs2",
    "gfs2",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.s3fs",
    "fuse.rclone",
    "fuse.gcsfuse",
    "fuse.davfs",
    "beegfs",
    "orangefs",
    "coda",
];

/// Makes the folder of `file`, readable for its owner alone, and looks at what it lies on.
pub(super) fn prepare(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    make(folder).map_err(|error| match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            BoardError::ReadOnly(folder.display().to_string())
        }
        ErrorKind::StorageFull => BoardError::DiskFull(folder.display().to_string()),
        _ => BoardError::Database(format!("{}: {error}", folder.display())),
    })?;
    // Systems without this table are not looked at.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    match network(&mounts, &real) {
        Some(kind) => {
            Err(BoardError::NetworkFileSystem { kind, path: folder.display().to_string() })
        }
        None => Ok(()),
    }
}

fn make(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Name of the network file system under `folder`, by the kernel's table of mounts.
fn network(mounts: &str, folder: &Path) -> Option<String> {
    let mut deepest: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        // Fields: id, parent, device, root, mount point, options, optional ones, `-`, kind.
        let point = line.split(' ').nth(4).map(unescaped)?;
        let kind = line.split(" - ").nth(1).and_then(|rest| rest.split(' ').next())?;
        let depth = point.components().count();
        // A later mount hides an earlier one at the same place.
        if folder.starts_with(&point) && deepest.is_none_or(|(found, _)| depth >= found) {
            deepest = Some((depth, kind));
        }
    }
    deepest.filter(|(_, kind)| OVER_A_NETWORK.contains(kind)).map(|(_, kind)| kind.to_owned())
}

/// The kernel spells spaces, tabs, line ends and backslashes as three octal digits.
fn unescaped(field: &str) -> PathBuf {
    let plain = field.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n");
    PathBuf::from(plain.replace("\\134", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
31 22 0:40 / /home rw,relatime shared:2 - nfs4 server:/home rw
32 31 259:2 / /home/ann/my\\040disk rw,relatime - ext4 /dev/vdb rw
33 22 0:41 / /mnt/far rw,relatime - fuse.sshfs host: rw
34 22 0:42 / /mnt rw,relatime - tmpfs tmpfs rw
";

    #[test]
    fn the_mount_that_holds_a_folder_decides() {
        let cases = [
            ("/var/lib", None),
            ("/home/bob/.local/state", Some("nfs4")),
            ("/home/ann/my disk/state", None),
            ("/homely", None),
            ("/mnt/far/state", Some("fuse.sshfs")),
            ("/mnt/near", None),
        ];
        for (folder, kind) in cases {
            assert_eq!(network(MOUNTS, Path::new(folder)).as_deref(), kind, "{folder}");
        }
    }
}
