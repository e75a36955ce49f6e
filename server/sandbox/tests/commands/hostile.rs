//! Attempts of hostile commands, as data. Each row runs for real; its output is in the row, and that
//! nothing outside changes or is read is checked after every one of them.
//!
//! `$HOST` is the home outside, `$PORT` a TCP port of the machine, `$SERVER` the server's process, `$SOCK` a
//! socket outside, `$SOCKETS` those in other folders for everybody, `$ABSTRACT` the name of one that is in no folder,
//! `$KEY` the name of a key of the user's and `$SERIAL` its number. Below the home lie secrets that hold the word
//! SECRET, and a descriptor of one of them is open when the sandbox is started. Each row says what it would not print
//! outside of a sandbox.

/// One command and what becomes of it.
pub(crate) struct Row {
    /// The attempt, in a few words.
    pub(crate) name: &'static str,
    /// Script for the shell.
    pub(crate) script: &'static str,
    /// Output that it must print, on both streams.
    pub(crate) says: Says,
    /// How it must end.
    pub(crate) ends: Ends,
}

/// Output of a row's command.
pub(crate) enum Says {
    /// This and nothing else.
    Exactly(&'static str),
    /// All of these, among other things.
    Has(&'static [&'static str]),
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
use Says::{Exactly, Has};

const fn row(name: &'static str, script: &'static str, says: Says, ends: Ends) -> Row {
    Row { name, script, says, ends }
}

/// The table.
pub(crate) const ROWS: &[Row] = &[
    // Files outside.
    row(
        "write /etc/passwd",
        "echo evil >> /etc/passwd",
        Has(&["cannot create /etc/passwd"]),
        Code(2),
    ),
    row(
        "write into /usr",
        "touch /usr/bin/evil || touch /usr/evil",
        Has(&["Read-only file system"]),
        Code(1),
    ),
    row(
        "write into the root folder",
        "touch /evil; mkdir /evil",
        Has(&["Read-only file system"]),
        Code(1),
    ),
    row(
        "read a private key",
        "cat $HOST/.ssh/id_rsa; cat ~/.ssh/*",
        Has(&["No such file"]),
        Code(1),
    ),
    row("list the home", "ls -A $HOST | tr '\\n' ' '", Exactly("project "), Code(0)),
    row(
        "read another project",
        "cat $HOST/other/notes.txt; ls $HOST/other",
        Has(&["No such file"]),
        Somehow,
    ),
    row(
        "climb out of the root",
        "cat ../other/notes.txt 2>&1; test ! -s ../../../../../../../etc/shadow && echo empty",
        Exactly("cat: ../other/notes.txt: No such file or directory\nempty\n"),
        Code(0),
    ),
    row(
        "read /etc/shadow",
        "for f in shadow shadow- gshadow gshadow-; do test ! -s /etc/$f || echo $f; done; cat /etc/shadow 2>/dev/null | wc -c",
        Exactly("0\n"),
        Code(0),
    ),
    row("follow a link that was made outside", "cat link-out", Has(&["No such file"]), Code(1)),
    row(
        "write through a link",
        "ln -s $HOST/other/notes.txt l; echo evil > l; cat l",
        Has(&["cannot create l"]),
        Somehow,
    ),
    row(
        "hard link to outside",
        "ln $HOST/other/notes.txt l || ln /etc/passwd p",
        Has(&["ln:"]),
        Code(1),
    ),
    row(
        "write to the home outside",
        "echo evil > $HOST/evil; mkdir -p $HOST/other; echo evil > $HOST/other/notes.txt",
        Has(&[]),
        Code(0),
    ),
    row(
        "rename over the root",
        "cd ..; mkdir evil; mv project gone; mv -T evil project",
        Has(&["mv:"]),
        Code(1),
    ),
    row(
        "delete the root",
        "cd ..; rm -rf project; ls project | tr '\\n' ' '",
        Has(&["Device or resource busy", "private secret.env "]),
        Code(0),
    ),
    row("delete everything", "rm -rf --no-preserve-root / 2>/dev/null", Has(&[]), Somehow),
    row(
        "chmod everything",
        "chmod -R 000 . ~ /tmp 2>/dev/null; chmod 777 /etc /usr",
        Has(&["Read-only file system"]),
        Somehow,
    ),
    row(
        "read what is hidden in the root",
        "cat secret.env; ls -A private; cat private/key",
        Has(&[]),
        Somehow,
    ),
    row(
        "move what is hidden away",
        "mv secret.env other.env; mv private p; cat other.env p/key",
        Has(&["cannot move 'secret.env'", "cannot move 'private'"]),
        Code(1),
    ),
    row(
        "look at the layers",
        "ls -A /.ropewalk | wc -l; ls /.ropewalk/outside",
        Exactly("0\nls: cannot access '/.ropewalk/outside': No such file or directory\n"),
        Code(2),
    ),
    row(
        "look at mount sources",
        "ls /.ropewalk/layers/main 2>/dev/null | wc -l; find / -name id_rsa 2>/dev/null | wc -l",
        Exactly("0\n0\n"),
        Code(0),
    ),
    // Sockets.
    row(
        "sockets in folders for everybody",
        "python3 -c 'import socket,os\nfor p in os.environ[\"SOCKETS\"].split(\":\"):\n try: socket.socket(socket.AF_UNIX).connect(p); print(\"reached\", p)\n except FileNotFoundError: print(\"gone\")' | sort -u; ls -A /run | wc -l",
        Exactly("gone\n0\n"),
        Code(0),
    ),
    row(
        "what the server was told of agents' sockets",
        "env | cut -d= -f1 | LC_ALL=C sort | tr '\\n' ' '",
        Exactly("ABSTRACT HOME HOST KEY LC_ALL PATH PORT PWD SERIAL SERVER SOCK SOCKETS "),
        Code(0),
    ),
    row(
        "an editor's socket in a temporary folder",
        "python3 -c 'import socket,os; socket.socket(socket.AF_UNIX).connect(os.environ[\"SOCK\"])'",
        Has(&["FileNotFoundError"]),
        Code(1),
    ),
    row(
        "an editor's socket in the project",
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"own.sock\")'",
        Has(&["ConnectionRefusedError"]),
        Code(1),
    ),
    row(
        "an abstract socket",
        "python3 -c 'import socket,os; socket.socket(socket.AF_UNIX).connect(chr(0)+os.environ[\"ABSTRACT\"])'",
        Has(&["ConnectionRefusedError"]),
        Code(1),
    ),
    row(
        "a port of the machine",
        "python3 -c 'import socket,os; socket.create_connection((\"127.0.0.1\", int(os.environ[\"PORT\"])), 3)'",
        Has(&["ConnectionRefusedError"]),
        Code(1),
    ),
    row(
        "a datagram to the machine",
        "python3 -c 'import socket,os; socket.socket(type=socket.SOCK_DGRAM).sendto(b\"evil\", (\"127.0.0.1\", int(os.environ[\"PORT\"])))'; true",
        Has(&[]),
        Code(0),
    ),
    row(
        "a datagram to the world",
        "python3 -c 'import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b\"evil\", (\"192.0.2.1\", 53))'",
        Has(&["Network is unreachable"]),
        Code(1),
    ),
    row(
        "a name of the world",
        "python3 -c 'import socket; socket.getaddrinfo(\"example.org\", 80)' 2>&1 | grep -c gaierror; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; tail -n +2 /proc/net/route",
        Exactly("1\nlo\n"),
        Code(0),
    ),
    row(
        "a raw socket",
        "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'",
        Has(&["PermissionError"]),
        Code(1),
    ),
    row(
        "a socket to the machine's host",
        "python3 -c 'import socket; socket.socket(40, socket.SOCK_STREAM)'",
        Has(&["Address family not supported"]),
        Code(1),
    ),
    row(
        "a ring of calls",
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.syscall(425, 8, bytes(256)), os.strerror(ctypes.get_errno()))'",
        Has(&["-1 Function not implemented"]),
        Code(0),
    ),
    row(
        "faults handled outside the kernel, its programs and counters",
        "python3 -c 'import ctypes,os\nl=ctypes.CDLL(None,use_errno=True)\nfor n in 323,321,298: print(l.syscall(n, 1), os.strerror(ctypes.get_errno()))'",
        Has(&[
            "-1 Operation not permitted\n-1 Operation not permitted\n-1 Operation not permitted\n",
        ]),
        Code(0),
    ),
    // A processor that does not know the older calls ends the program that makes one. The code: push rbx; mov ebx,
    // FIRST; xor ecx, ecx; xor edx, edx; mov eax, NUMBER; the call; pop rbx; ret.
    row(
        "calls of other sets",
        "cat > /tmp/c.py <<'END'
import ctypes,mmap,os,struct
def call(code, number, first):
  text = b'\\x53\\xbb' + struct.pack('<i', first) + b'\\x31\\xc9\\x31\\xd2\\xb8' + struct.pack('<I', number) + code + b'\\x5b\\xc3'
  page = mmap.mmap(-1, 4096, prot=7)
  page.write(text)
  at = ctypes.addressof(ctypes.c_char.from_buffer(page))
  child = os.fork()
  if child == 0: os._exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(at)() == -38 else 1)
  status = os.waitpid(child, 0)[1]
  return 'refused' if status == 0 or os.WIFSIGNALED(status) else 'made'
known = os.uname().machine == 'x86_64'
for number in 359, 366, 102, 425, 356, 447, 357, 336, 374:
  print(number, call(b'\\xcd\\x80', number, 1) if known else 'refused')
for number in 39, 41:
  print('third', number, call(b'\\x0f\\x05', 0x40000000 + number, 1) if known else 'refused')
END
python3 /tmp/c.py",
        Exactly(
            "359 refused\n366 refused\n102 refused\n425 refused\n356 refused\n447 refused\n357 refused\n336 refused\n374 refused\nthird 39 refused\nthird 41 refused\n",
        ),
        Code(0),
    ),
    // Processes.
    row("end the server", "kill -9 $SERVER; ls /proc/$SERVER", Has(&["No such"]), Somehow),
    row(
        "end everything",
        "kill -9 -1 2>/dev/null; echo still here",
        Exactly("still here\n"),
        Code(0),
    ),
    row(
        "end the first process",
        "kill -9 1; kill -STOP 1; echo still here",
        Has(&["still here"]),
        Code(0),
    ),
    row(
        "a fork bomb",
        "bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 0.5; exit 7",
        Has(&[]),
        Somehow,
    ),
    row(
        "a survivor",
        "setsid sh -c 'setsid sleep 1000 & sleep 1000' </dev/null >/dev/null 2>&1 & echo left",
        Has(&["left"]),
        Leaving,
    ),
    row(
        "trace the first process",
        "python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))'",
        Exactly("-1\n"),
        Code(0),
    ),
    row(
        "read the first process",
        "cat /proc/1/environ; ls /proc/1/root /proc/1/fd; cat /proc/1/mem",
        Has(&["denied"]),
        Code(1),
    ),
    row(
        "the first process's root",
        "cat /proc/1/root/etc/shadow /proc/1/cwd/etc/shadow",
        Has(&["denied"]),
        Code(1),
    ),
    row(
        "enter the first process's namespaces",
        "nsenter -t 1 -m -p -n true",
        Has(&["nsenter"]),
        Code(1),
    ),
    row(
        "a terminal's input",
        "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")' 2>&1 | tail -1; python3 -c 'open(\"/dev/tty\")' 2>&1 | tail -1; readlink /proc/self/fd/0; cut -d' ' -f7 /proc/$$/stat; test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo own",
        Has(&["No such device or address: '/dev/tty'
/dev/null
0
own
"]),
        Code(0),
    ),
    row(
        "the user's keys",
        "python3 -c 'import ctypes\nl=ctypes.CDLL(None)\nfor ring in -3,-4,-5: print(l.syscall(250, 10, ring, b\"user\", b\"'$KEY'\", 0))\nprint(l.syscall(250, 11, '$SERIAL', bytes(99), 99), l.syscall(250, 8, '$SERIAL', -3))'",
        Exactly("-1\n-1\n-1\n-1 -1\n"),
        Code(0),
    ),
    // Mounts and namespaces.
    row(
        "uncover what is hidden",
        "umount private; umount -l secret.env; umount /etc/shadow; umount -l .; cat private/key secret.env; test ! -s /etc/shadow && echo hidden",
        Has(&[
            "umount: ", "hidden
",
        ]),
        Code(0),
    ),
    row(
        "mount something",
        "mount -t tmpfs none /etc 2>/dev/null || echo no; mount --bind / /tmp 2>/dev/null || echo no",
        Exactly("no\nno\n"),
        Code(0),
    ),
    row(
        "another user namespace",
        "unshare -Ur sh -c 'umount -l private; mount -t tmpfs x /etc; cat private/key'",
        Has(&[]),
        Somehow,
    ),
    row(
        "rights in a namespace of its own",
        "unshare -Um --propagation unchanged sh -c 'umount -l private; umount /etc/shadow; mount -t tmpfs x /etc; chroot /tmp; cat private/key'",
        Has(&["private: "]),
        Somehow,
    ),
    row("another mount namespace", "unshare -m true", Has(&["unshare"]), Code(1)),
    row(
        "another root",
        "chroot / true 2>/dev/null || echo no; pivot_root . . 2>/dev/null || echo no",
        Exactly("no\nno\n"),
        Code(0),
    ),
    row(
        "a device",
        "mknod d b 8 0 2>/dev/null || echo no; mknod /tmp/d c 1 1 2>/dev/null || echo no",
        Exactly("no\nno\n"),
        Code(0),
    ),
    row(
        "the machine's disks",
        "ls /dev | tr '\\n' ' '",
        Exactly("fd full null ptmx pts random shm stderr stdin stdout tty urandom zero "),
        Code(0),
    ),
    row(
        "the kernel's settings",
        "for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/profiling /sys/kernel/mm/transparent_hugepage/enabled; do (echo x > $f) 2>/dev/null || echo no; done",
        Exactly("no\nno\nno\nno\n"),
        Code(0),
    ),
    row(
        "write through /proc",
        "(echo evil >> /proc/self/root/etc/passwd) 2>/dev/null || echo no; (echo 0 > /proc/self/oom_score_adj) 2>/dev/null || echo no; cat /proc/self/oom_score_adj; echo evil > /proc/self/cwd/../other.txt",
        Exactly("no\nno\n800\n"),
        Code(0),
    ),
    row(
        "write through a descriptor",
        "ls /proc/self/fd | tr '\\n' ' '; for f in 3 4 5 6 7 8 9; do (echo evil >&$f) 2>/dev/null && echo $f; done; true",
        Exactly("0 1 2 3 "),
        Code(0),
    ),
    row(
        "a handle to a file outside",
        "python3 -c 'import ctypes,os; l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(bytes([8,0,0,0,1,0,0,0])+bytes(8)); print(l.open_by_handle_at(-100,b,0), os.strerror(ctypes.get_errno()))'",
        Exactly("-1 Operation not permitted\n"),
        Code(0),
    ),
    row(
        "setuid programs",
        "cp /bin/sh s; chmod 4755 s; ./s -c id; su root -c id; mount /x 2>&1; grep NoNewPrivs /proc/self/status",
        Has(&["NoNewPrivs:\t1"]),
        Somehow,
    ),
    row(
        "root's rights",
        "test $(id -u) = 0 && k=1f || k=00; grep -c \"^Cap\\(Prm\\|Eff\\|Bnd\\):.*00000000000000$k$\" /proc/self/status; grep -c '^Cap\\(Inh\\|Amb\\):.*0000000000000000$' /proc/self/status",
        Exactly("3\n2\n"),
        Code(0),
    ),
    row(
        "a time machine",
        "date -s 2001-01-01 >/dev/null 2>&1 || echo no; python3 -c 'import socket; socket.sethostname(\"evil\")' 2>&1 | tail -1",
        Exactly("no\nPermissionError: [Errno 1] Operation not permitted\n"),
        Code(0),
    ),
    // Using things up.
    row(
        "fill the layer",
        "head -c 300M /dev/zero > big",
        Has(&["No space left on device"]),
        Code(1),
    ),
    row(
        "fill the temporary folder",
        "head -c 300M /dev/zero > /tmp/big",
        Has(&["No space left on device"]),
        Code(1),
    ),
    row(
        "fill the memory",
        "python3 -c 'x=[bytearray(1<<20) for _ in range(4000)]; import time; time.sleep(100)'",
        Has(&[]),
        Memory,
    ),
    row(
        "fill the memory by what is shared",
        "python3 -c 'import mmap,time\nm=mmap.mmap(-1, 4<<30)\nfor i in range(0, 4<<30, 4096): m[i]=1\ntime.sleep(100)'",
        Has(&[]),
        Memory,
    ),
    row(
        "fill the memory by what each shares with nobody",
        "python3 -c 'import mmap,os,time\nfor i in range(40):\n  if os.fork()==0:\n    m=mmap.mmap(-1, 24<<20)\n    for i in range(0, 24<<20, 4096): m[i]=1\n    time.sleep(100)\ntime.sleep(100)'",
        Has(&[]),
        Memory,
    ),
    row(
        "share memory that is counted once",
        "python3 -c 'import mmap,os,time\nm=mmap.mmap(-1, 150<<20)\nfor i in range(0, 150<<20, 4096): m[i]=1\nfor i in range(6):\n  if os.fork()==0:\n    sum(m[i] for i in range(0, 150<<20, 4096)); time.sleep(1); os._exit(0)\nfor i in range(6): os.wait()'",
        Exactly(""),
        Code(0),
    ),
    row(
        "fill the memory by files that have no name",
        "python3 -c 'import ctypes,os\nl=ctypes.CDLL(None,use_errno=True)\nfor n in 319,447: print(l.syscall(n, b\"x\", 0), os.strerror(ctypes.get_errno()))'",
        Exactly("-1 Function not implemented\n-1 Function not implemented\n"),
        Code(0),
    ),
    row(
        "fill the memory by segments that nobody maps",
        "python3 -c 'import ctypes,time\nl=ctypes.CDLL(None); l.shmat.restype=ctypes.c_void_p; l.shmdt.argtypes=[ctypes.c_void_p]\nfor i in range(40):\n  p=l.shmat(l.shmget(0, ctypes.c_size_t(24<<20), 0o1600), None, 0); ctypes.memset(p, 1, 24<<20); l.shmdt(p)\ntime.sleep(100)'",
        Has(&[]),
        Memory,
    ),
    row(
        "fill the memory by what sockets hold",
        "python3 -c 'import socket\na,b=socket.socketpair(); o=(socket.SOL_SOCKET,socket.SO_SNDBUF); was=a.getsockopt(*o)\na.setsockopt(*o,1<<30); a.setsockopt(socket.SOL_SOCKET,socket.SO_KEEPALIVE,1); print(a.getsockopt(*o)==was, a.getsockopt(socket.SOL_SOCKET,socket.SO_KEEPALIVE))'",
        Exactly("True 1\n"),
        Code(0),
    ),
    row(
        "one huge file",
        "python3 -c 'import os; os.truncate(os.open(\"f\", os.O_CREAT|os.O_RDWR), 1<<40)' 2>&1 | tail -1; test ! -s f && echo empty",
        Exactly("OSError: [Errno 27] File too large\nempty\n"),
        Code(0),
    ),
    row(
        "very many files",
        "mkdir m; cd m; python3 -c 'import os\nfor i in range(400000): os.mknod(str(i))' 2>&1 | tail -1",
        Has(&["OSError: [Errno 28] No space left on device"]),
        Code(0),
    ),
    // Tricks on the overlay.
    row(
        "marks of the overlay by hand",
        "mknod gone c 0 0; python3 -c 'import os; os.mkdir(\"d\"); os.setxattr(\"d\", \"user.overlay.opaque\", b\"y\")'; ls gone; touch gone",
        Has(&[]),
        Somehow,
    ),
    row(
        "a redirect by hand",
        "mkdir r; python3 -c 'import os; os.setxattr(\"r\", \"user.overlay.redirect\", b\"/../../other\")'; ls r | wc -l",
        Has(&["0"]),
        Somehow,
    ),
    row(
        "odd files",
        "mkfifo p; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'; ln -s / l; ls | wc -l",
        Exactly("8\n"),
        Code(0),
    ),
    row(
        "a deep tree",
        "python3 -c 'import os\nfor i in range(2000): os.mkdir(\"d\"); os.chdir(\"d\")'",
        Has(&[]),
        Code(0),
    ),
    row("endless output that nobody asked for", "head -c 20M /dev/zero", Has(&[]), Code(0)),
];
