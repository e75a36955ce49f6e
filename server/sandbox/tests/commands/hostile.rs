//! What a hostile command may try, as data. Each row runs for real; what it may say is in the row, and that
//! nothing outside changes or is read is checked after every one of them.
//!
//! `$HOST` is the home outside, `$PORT` a TCP port of the machine, `$SERVER` the server's process, `$SOCK` a
//! socket outside, `$ABSTRACT` the name of one. Below the home lie secrets that hold the word SECRET.

/// One command and what becomes of it.
pub(crate) struct Row {
    /// What it is, in a few words.
    pub(crate) name: &'static str,
    /// What the shell is given.
    pub(crate) script: &'static str,
    /// What its output must have in it.
    pub(crate) says: &'static [&'static str],
    /// How it must end.
    pub(crate) ends: Ends,
}

/// How a row's command ends.
pub(crate) enum Ends {
    /// With this exit code, nothing left running.
    Code(i32),
    /// However it likes, but it ends.
    Somehow,
    /// For its use of memory.
    Memory,
    /// With its children left running, which are ended.
    Leaving,
}

use Ends::{Code, Leaving, Memory, Somehow};

const fn row(
    name: &'static str,
    script: &'static str,
    says: &'static [&'static str],
    ends: Ends,
) -> Row {
    Row { name, script, says, ends }
}

/// The table.
pub(crate) const ROWS: &[Row] = &[
    // Files outside.
    row("write /etc/passwd", "echo evil >> /etc/passwd", &["cannot create /etc/passwd"], Code(2)),
    row(
        "write into /usr",
        "touch /usr/bin/evil || touch /usr/evil",
        &["Read-only file system"],
        Code(1),
    ),
    row(
        "write into the root folder",
        "touch /evil; mkdir /evil",
        &["Read-only file system"],
        Code(1),
    ),
    row("read a private key", "cat $HOST/.ssh/id_rsa; cat ~/.ssh/*", &["No such file"], Code(1)),
    row("list the home", "ls -A $HOST | tr '\\n' ' '", &["project "], Code(0)),
    row(
        "read another project",
        "cat $HOST/other/notes.txt; ls $HOST/other",
        &["No such file"],
        Somehow,
    ),
    row(
        "climb out of the root",
        "cat ../other/notes.txt; cat ../../../../../../etc/shadow",
        &["No such file"],
        Somehow,
    ),
    row("read /etc/shadow", "head -c 20 /etc/shadow | wc -c", &["0"], Code(0)),
    row("follow a link that was made outside", "cat link-out", &["No such file"], Code(1)),
    row(
        "write through a link",
        "ln -s $HOST/other/notes.txt l; echo evil > l; cat l",
        &[],
        Somehow,
    ),
    row(
        "hard link to outside",
        "ln $HOST/other/notes.txt l || ln /etc/passwd p",
        &["ln:"],
        Code(1),
    ),
    row(
        "write to the home outside",
        "echo evil > $HOST/evil; mkdir -p $HOST/other; echo evil > $HOST/other/notes.txt",
        &[],
        Code(0),
    ),
    row(
        "rename over the root",
        "cd ..; mkdir evil; mv project gone; mv -T evil project",
        &["mv:"],
        Code(1),
    ),
    row(
        "delete the root",
        "cd ..; rm -rf project; ls project | tr '\\n' ' '",
        &["Device or resource busy", "private secret.env "],
        Code(0),
    ),
    row("delete everything", "rm -rf --no-preserve-root / 2>/dev/null", &[], Somehow),
    row(
        "chmod everything",
        "chmod -R 000 . ~ /tmp 2>/dev/null; chmod 777 /etc /usr",
        &["Read-only file system"],
        Somehow,
    ),
    row(
        "read what is hidden in the root",
        "cat secret.env; ls -A private; cat private/key",
        &[],
        Somehow,
    ),
    row(
        "move what is hidden away",
        "mv secret.env other.env; mv private p; cat other.env p/key",
        &[],
        Somehow,
    ),
    row("look at the layers", "ls -A /.ropewalk | wc -l; ls /.ropewalk/outside", &["0"], Somehow),
    row(
        "look at mount sources",
        "cat /.ropewalk/layers/main/0/up/*; find / -name id_rsa 2>/dev/null | wc -l",
        &["0"],
        Somehow,
    ),
    // Sockets.
    row(
        "docker's socket",
        "test -e /var/run/docker.sock || test -e /run/docker.sock",
        &[],
        Code(1),
    ),
    row(
        "agents' sockets",
        "echo \"$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS\"; ls -A /run | wc -l",
        &["0"],
        Code(0),
    ),
    row(
        "an editor's socket in a temporary folder",
        "python3 -c 'import socket,os; socket.socket(socket.AF_UNIX).connect(os.environ[\"SOCK\"])'",
        &["FileNotFoundError"],
        Code(1),
    ),
    row(
        "an editor's socket in the project",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"own.sock\")'",
        &["ConnectionRefusedError"],
        Code(1),
    ),
    row(
        "an abstract socket",
        "python3 -c 'import socket,os; socket.socket(socket.AF_UNIX).connect(chr(0)+os.environ[\"ABSTRACT\"])'",
        &["ConnectionRefusedError"],
        Code(1),
    ),
    row(
        "a port of the machine",
        "python3 -c 'import socket,os; socket.create_connection((\"127.0.0.1\", int(os.environ[\"PORT\"])), 3)'",
        &["ConnectionRefusedError"],
        Code(1),
    ),
    row(
        "a datagram to the machine",
        "python3 -c 'import socket,os; socket.socket(type=socket.SOCK_DGRAM).sendto(b\"evil\", (\"127.0.0.1\", int(os.environ[\"PORT\"])))'; true",
        &[],
        Code(0),
    ),
    row(
        "a datagram to the world",
        "python3 -c 'import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b\"evil\", (\"192.0.2.1\", 53))'",
        &["Network is unreachable"],
        Code(1),
    ),
    row(
        "a name of the world",
        "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)'",
        &["gaierror"],
        Code(1),
    ),
    row(
        "a raw socket",
        "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
        &["PermissionError"],
        Code(1),
    ),
    row(
        "a socket to the machine's host",
        "python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM)'",
        &["Address family not supported"],
        Code(1),
    ),
    row(
        "a ring of calls",
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.syscall(425, 8, bytes(256)), os.strerror(ctypes.get_errno()))'",
        &["-1 Function not implemented"],
        Code(0),
    ),
    row(
        "faults handled outside the kernel, its programs and counters",
        "python3 -c 'import ctypes,os\nl=ctypes.CDLL(None,use_errno=True)\nfor n in 323,321,298: print(l.syscall(n, 1), os.strerror(ctypes.get_errno()))'",
        &["-1 Operation not permitted\n-1 Operation not permitted\n-1 Operation not permitted\n"],
        Code(0),
    ),
    // Processes.
    row("end the server", "kill -9 $SERVER; ls /proc/$SERVER", &["No such"], Somehow),
    row("end everything", "kill -9 -1; echo still here", &[], Somehow),
    row(
        "end the first process",
        "kill -9 1; kill -STOP 1; echo still here",
        &["still here"],
        Code(0),
    ),
    row(
        "a fork bomb",
        "bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 0.5; exit 7",
        &[],
        Somehow,
    ),
    row(
        "a survivor",
        "setsid sh -c 'setsid sleep 1000 & sleep 1000' </dev/null >/dev/null 2>&1 & echo left",
        &["left"],
        Leaving,
    ),
    row(
        "trace the first process",
        "python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))'",
        &["-1"],
        Code(0),
    ),
    row(
        "read the first process",
        "cat /proc/1/environ; ls /proc/1/root /proc/1/fd; cat /proc/1/mem",
        &["denied"],
        Code(1),
    ),
    row(
        "the first process's root",
        "cat /proc/1/root/etc/shadow /proc/1/cwd/etc/shadow",
        &["denied"],
        Code(1),
    ),
    row(
        "enter the first process's namespaces",
        "nsenter -t 1 -m -p -n true",
        &["nsenter"],
        Code(1),
    ),
    row(
        "a terminal's input",
        "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'; python3 -c 'open(\"/dev/tty\")'",
        &["Error"],
        Code(1),
    ),
    row(
        "the user's keys",
        "python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(250, 11, -3, 0, 0))'; cat /proc/keys",
        &[],
        Somehow,
    ),
    // Mounts and namespaces.
    row(
        "uncover what is hidden",
        "umount private; umount -l secret.env; umount /etc/shadow; umount -l .",
        &["umount"],
        Somehow,
    ),
    row("mount something", "mount -t tmpfs none /etc; mount --bind / /tmp", &["mount"], Somehow),
    row(
        "another user namespace",
        "unshare -Ur sh -c 'umount -l private; mount -t tmpfs x /etc; cat private/key'",
        &[],
        Somehow,
    ),
    row(
        "rights in a namespace of its own",
        "unshare -Um --propagation unchanged sh -c 'umount -l private; umount /etc/shadow; mount -t tmpfs x /etc; chroot /tmp; cat private/key'",
        &["private: "],
        Somehow,
    ),
    row("another mount namespace", "unshare -m true", &["unshare"], Code(1)),
    row("another root", "chroot /tmp /bin/true; pivot_root . .", &["chroot"], Somehow),
    row("a device", "mknod d b 8 0; mknod /tmp/d c 1 1; cat d /tmp/d", &["mknod"], Somehow),
    row(
        "the machine's disks",
        "ls /dev/sda /dev/vda /dev/nvme0n1 /dev/mem /dev/kmsg",
        &["No such file"],
        Somehow,
    ),
    row(
        "the kernel's settings",
        "echo x > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger; echo 1 > /sys/kernel/profiling",
        &["Read-only file system"],
        Somehow,
    ),
    row(
        "write through /proc",
        "echo evil > /proc/self/root/etc/passwd; echo evil > /proc/self/cwd/../other.txt; echo 0 > /proc/self/oom_score_adj",
        &["Read-only file system"],
        Somehow,
    ),
    row(
        "write through a descriptor",
        "ls /proc/self/fd | tr '\\n' ' '; for f in 3 4 5 6 7 8 9; do echo evil >&$f; done",
        &["0 1 2 3 "],
        Somehow,
    ),
    row(
        "a handle to a file outside",
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(bytes([8,0,0,0,1,0,0,0])+bytes(8)); print(l.open_by_handle_at(-100,b,0), os.strerror(ctypes.get_errno()))'",
        &["-1"],
        Code(0),
    ),
    row(
        "setuid programs",
        "cp /bin/sh s; chmod 4755 s; ./s -c id; su root -c id; mount /x 2>&1; grep NoNewPrivs /proc/self/status",
        &["NoNewPrivs:\t1"],
        Somehow,
    ),
    row("a time machine", "date -s 2001-01-01; hostname evil", &["date"], Somehow),
    // Using things up.
    row("fill the layer", "head -c 300M /dev/zero > big", &["No space left on device"], Code(1)),
    row(
        "fill the temporary folder",
        "head -c 300M /dev/zero > /tmp/big",
        &["No space left on device"],
        Code(1),
    ),
    row(
        "fill the memory",
        "python3 -c 'x=[bytearray(1<<20) for _ in range(4000)]; import time; time.sleep(100)'",
        &[],
        Memory,
    ),
    row(
        "fill the memory by what is shared",
        "python3 -c 'import mmap,time\nm=mmap.mmap(-1, 4<<30)\nfor i in range(0, 4<<30, 4096): m[i]=1\ntime.sleep(100)'",
        &[],
        Memory,
    ),
    row(
        "one huge file",
        "python3 -c 'import os; os.truncate(os.open(\"f\", os.O_CREAT|os.O_RDWR), 1<<40)'",
        &[],
        Somehow,
    ),
    row(
        "very many files",
        "mkdir m; cd m; python3 -c 'import os\nfor i in range(400000): os.mknod(str(i))' 2>&1 | tail -1",
        &[],
        Somehow,
    ),
    // Tricks on the overlay.
    row(
        "marks of the overlay by hand",
        "mknod gone c 0 0; python3 -c 'import os; os.mkdir(\"d\"); os.setxattr(\"d\", \"user.overlay.opaque\", b\"y\")'; ls gone; touch gone",
        &[],
        Somehow,
    ),
    row(
        "a redirect by hand",
        "mkdir r; python3 -c 'import os; os.setxattr(\"r\", \"user.overlay.redirect\", b\"/../../other\")'; ls r | wc -l",
        &["0"],
        Somehow,
    ),
    row(
        "odd files",
        "mkfifo p; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; ln -s / l; ls | wc -l",
        &[],
        Code(0),
    ),
    row(
        "a deep tree",
        "python3 -c 'import os\nfor i in range(2000): os.mkdir(\"d\"); os.chdir(\"d\")'",
        &[],
        Code(0),
    ),
    row("endless output that nobody asked for", "head -c 20M /dev/zero", &[], Code(0)),
];
