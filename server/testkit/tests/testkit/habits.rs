//! Publishing against the habits of single clients: what is sent, how often, and what is said afterwards.

#![expect(clippy::panic, reason = "tests and their helpers may be blunt")]

use ropewalk_testkit::editor::{Client, Direct, EchoShape, Handling, Profile, ServerRequest};
use ropewalk_text::Text;
use ropewalk_workspace::entry::Maker;
use ropewalk_workspace::publish::{Failure, PublishBounds, PublishReport, publish};
use ropewalk_workspace::undo::undo;
use ropewalk_workspace::{DocId, Fork, HunkSelection, Proposal, ProposedChange, Roots, Workspace};
use std::cell::Cell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::{sync::Arc, time::Duration};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

struct Bench {
    dir: tempfile::TempDir,
    uri: String,
    workspace: Arc<Workspace>,
    editor: Direct,
    fork: Mutex<Fork>,
    runtime: tokio::runtime::Runtime,
    /// Edits that the client was asked for.
    edits: Cell<usize>,
}

impl Bench {
    /// A client with one open file.
    fn new(profile: Profile) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("a.txt"), TEXT).unwrap();
        let workspace = Arc::new(Workspace::new(Roots::new(vec![("w".to_owned(), root.clone())])));
        let editor = Direct::new(workspace.clone(), profile);
        let uri = DocId::from_path(&root.join("a.txt")).to_uri();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        let fork = Mutex::new(Fork::new("s".into()));
        let bench = Self { dir, uri, workspace, editor, fork, runtime, edits: Cell::new(0) };
        bench.open();
        bench
    }

    fn open(&self) {
        let text = self.disk();
        self.editor.with(|client| client.open(&self.uri, &text));
        self.editor.deliver_all();
        self.workspace.look_at_disks();
    }

    fn disk(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("a.txt")).unwrap()
    }

    fn write_disk(&self, text: &str) {
        std::fs::write(self.dir.path().join("a.txt"), text).unwrap();
    }

    fn text(&self) -> String {
        self.editor.with(|client| client.buffer(&self.uri).unwrap().text())
    }

    fn replace(&self, old: &str, new: &str) {
        let at = self.text().find(old).unwrap();
        self.editor.with(|client| client.replace(&self.uri, at..at + old.len(), new));
    }

    fn tell(&self) {
        self.editor.with(|client| client.flush_all());
        self.editor.deliver_all();
    }

    /// A call that replaces `old` in what it sees.
    fn propose(&self, old: &str, new: &str) {
        let mut fork = self.fork.lock().unwrap();
        self.workspace.look_at_disks();
        fork.sync_now(&self.workspace);
        let view = fork.view(self.workspace.snapshot());
        let place = view.contain("a.txt").unwrap();
        let ropewalk_workspace::FileState::Text { text, .. } = view.read(&place).unwrap() else {
            panic!("no text")
        };
        let change =
            ProposedChange::Write(Text::from(text.to_string().replacen(old, new, 1).as_str()));
        let maker = Maker::Call("c".into());
        fork.merge(&self.workspace, &view, 1, &maker, vec![Proposal { place, change }]);
    }

    fn hunks(&self) -> usize {
        let mut fork = self.fork.lock().unwrap();
        fork.sync_now(&self.workspace);
        fork.hunks().len()
    }

    fn publish(&self) -> impl Future<Output = PublishReport> + '_ {
        let bounds = PublishBounds { echo: Duration::from_secs(10) };
        publish(&self.workspace, &self.editor, &self.fork, &HunkSelection::All, bounds)
    }

    fn undo(&self) -> impl Future<Output = PublishReport> + '_ {
        let bounds = PublishBounds { echo: Duration::from_secs(10) };
        undo(&self.workspace, &self.editor, &self.fork, &HunkSelection::All, bounds)
    }

    fn poll<T>(&self, future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let _guard = self.runtime.enter();
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(out) => Some(out),
            Poll::Pending => None,
        }
    }

    /// Drives a future; the client does all it is asked, and `between` happens before each request, every 50 ms.
    fn drive(
        &self,
        future: impl Future<Output = PublishReport>,
        mut between: impl FnMut(),
    ) -> PublishReport {
        let mut future = pin!(future);
        for _ in 0..1_000 {
            if let Some(report) = self.poll(future.as_mut()) {
                return report;
            }
            between();
            let is_edit = self.editor.with(|client| {
                let is_edit = matches!(client.oldest(), Some(ServerRequest::Apply(_)));
                client.handle(Handling::Usual);
                is_edit
            });
            self.edits.set(self.edits.get() + usize::from(is_edit));
            self.tell();
            self.runtime.block_on(tokio::time::advance(Duration::from_millis(50)));
        }
        panic!("it never ends")
    }
}

#[test]
fn neovim_is_moved_off_version_0_and_loses_no_line() {
    let bench = Bench::new(Profile::NEOVIM);
    bench.propose("five", "FIVE");
    let mut typed = false;
    let report = bench.drive(bench.publish(), || {
        if !typed {
            // A line above, inside the debounce.
            bench.replace("one\n", "zero\none\n");
            typed = true;
        }
    });
    assert_eq!(report.failed, []);
    assert_eq!(bench.text(), format!("zero\n{}", TEXT.replace("five", "FIVE")));
}

#[test]
fn an_edit_whose_places_are_told_one_by_one_is_made_once() {
    let bench = Bench::new(Profile::NEOVIM_AT_ONCE);
    bench.propose("one\n", "ONE\nand one\n");
    bench.propose("three\n", "");
    bench.propose("five", "FIVE");
    let report = bench.drive(bench.publish(), || {});
    assert_eq!(report.failed, []);
    let expected = TEXT.replace("one\n", "ONE\nand one\n").replace("three\n", "");
    assert_eq!(bench.text(), expected.replace("five", "FIVE"));
}

#[test]
fn a_skipped_edit_is_sent_eight_times_at_most_where_the_typing_never_pauses() {
    for profile in [Profile::NEOVIM_PLUGIN, Profile::VSCODE, Profile::EMACS, Profile::HELIX] {
        let bench = Bench::new(profile);
        bench.propose("five", "FIVE");
        let report = bench.drive(bench.publish(), || bench.replace("one", "xone"));
        assert!(matches!(&report.failed[..], [(_, Failure::Refused(_))]), "{report:?}");
        assert_eq!(bench.edits.get(), 8, "{}", profile.name);
        assert!(!bench.text().contains("FIVE"), "{}", profile.name);
        assert_eq!(bench.drive(bench.publish(), || {}).failed, [], "the user may try again");
        assert!(bench.text().contains("FIVE"));
    }
}

#[test]
fn an_edit_without_an_echo_is_never_sent_again() {
    let bench = Bench::new(Profile::UNKNOWN);
    bench.propose("five", "FIVE");
    {
        let mut publish = pin!(bench.publish());
        assert!(bench.poll(publish.as_mut()).is_none());
        bench.editor.with(|client| client.handle(Handling::MadeInSilence));
        assert_eq!(bench.editor.time_out(), 1);
        assert!(bench.poll(publish.as_mut()).is_none());
        bench.runtime.block_on(tokio::time::advance(Duration::from_secs(11)));
        let report = bench.poll(publish.as_mut()).unwrap();
        assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Unconfirmed)]);
    }
    let again = bench.drive(bench.publish(), || panic!("nothing may be asked"));
    assert_eq!(again.failed, [("a.txt".to_owned(), Failure::Unconfirmed)]);
    // The echo comes at last.
    bench.tell();
    assert_eq!(bench.hunks(), 0);
    assert_eq!(bench.drive(bench.undo(), || {}).failed, []);
    assert_eq!(bench.text(), TEXT);
}

#[test]
fn a_refusal_that_comes_after_its_bound_is_heard_and_the_next_yes_sends_the_edit_again() {
    for profile in [Profile::VSCODE, Profile::HELIX, Profile::EMACS, Profile::UNKNOWN] {
        let bench = Bench::new(profile);
        bench.propose("five", "FIVE");
        {
            let mut publish = pin!(bench.publish());
            let is_asked =
                |client: &mut Client| matches!(client.oldest(), Some(ServerRequest::Apply(_)));
            for _ in 0..2 {
                assert!(bench.poll(publish.as_mut()).is_none());
                if !bench.editor.with(is_asked) {
                    bench.editor.with(|client| client.handle(Handling::Usual));
                    bench.tell();
                }
            }
            bench.editor.time_out();
            assert!(bench.poll(publish.as_mut()).is_none());
            bench.runtime.block_on(tokio::time::advance(Duration::from_secs(11)));
            let report = bench.poll(publish.as_mut()).expect(profile.name);
            assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Unconfirmed)]);
        }
        bench.editor.with(|client| client.handle(Handling::Refused));
        bench.editor.deliver_all();
        assert_eq!(bench.drive(bench.publish(), || {}).failed, [], "{}", profile.name);
        assert!(bench.text().contains("FIVE"), "{}", profile.name);
    }
}

#[test]
fn a_document_closed_meanwhile_is_written_at_the_next_yes() {
    let bench = Bench::new(Profile::VSCODE);
    bench.propose("five", "FIVE");
    {
        let mut publish = pin!(bench.publish());
        assert!(bench.poll(publish.as_mut()).is_none());
        bench.editor.with(|client| {
            client.close(&bench.uri);
            client.handle(Handling::Refused)
        });
        bench.editor.deliver_all();
        let report = bench.poll(publish.as_mut()).unwrap();
        assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Closed)]);
    }
    assert_eq!(bench.drive(bench.publish(), || {}).failed, []);
    assert_eq!(bench.disk(), TEXT.replace("five", "FIVE"));
}

#[test]
fn pending_hunks_survive_a_format_on_save() {
    for shape in [EchoShape::Whole, EchoShape::InsertAllDeleteAll] {
        let bench = Bench::new(Profile::NEOVIM);
        bench.propose("five", "FIVE");
        bench.editor.with(|client| {
            client.replace_all(&bench.uri, vec![(0..0, "  ".into()), (4..4, "  ".into())], shape);
        });
        bench.tell();
        assert_eq!(bench.hunks(), 1);
        assert_eq!(bench.drive(bench.publish(), || {}).failed, []);
        assert_eq!(bench.text(), "  one\n  two\nthree\nfour\nFIVE\nsix\nseven\neight\n");
    }
}

#[test]
fn a_disk_that_moved_melts_when_read_and_is_carried_along_when_not() {
    for reloads in [true, false] {
        let bench = Bench::new(Profile::VSCODE);
        bench.write_disk(&TEXT.replace("two\n", "two\nnew\n"));
        bench.propose("five", "FIVE");
        assert_eq!(bench.hunks(), 2);
        if reloads {
            let disk = bench.disk();
            bench.editor.with(|client| client.reload(&bench.uri, &disk, EchoShape::AsMade));
            bench.tell();
            assert_eq!(bench.hunks(), 1);
        }
        assert_eq!(bench.drive(bench.publish(), || {}).failed, []);
        assert_eq!(bench.text(), TEXT.replace("two\n", "two\nnew\n").replace("five", "FIVE"));
    }
}

#[test]
fn a_hunk_altered_while_it_is_sent_stays_pending_on_top() {
    let bench = Bench::new(Profile::VSCODE);
    bench.propose("five", "FIVE");
    {
        let mut publish = pin!(bench.publish());
        assert!(bench.poll(publish.as_mut()).is_none());
        bench.propose("FIVE", "FIVE and a half");
        bench.editor.with(|client| client.handle(Handling::Usual));
        bench.editor.deliver_all();
        assert_eq!(bench.poll(publish.as_mut()).unwrap().failed, []);
    }
    assert_eq!(bench.text(), TEXT.replace("five", "FIVE"));
    assert_eq!(bench.hunks(), 1);
    assert_eq!(bench.drive(bench.publish(), || {}).failed, []);
    assert_eq!(bench.text(), TEXT.replace("five", "FIVE and a half"));
}

#[test]
fn a_call_whose_changes_were_published_meanwhile_does_not_make_them_twice() {
    let bench = Bench::new(Profile::VSCODE);
    bench.propose("two\n", "two\nnew\n");
    let view = {
        let mut fork = bench.fork.lock().unwrap();
        fork.sync_now(&bench.workspace);
        fork.view(bench.workspace.snapshot())
    };
    assert_eq!(bench.drive(bench.publish(), || {}).failed, []);
    let text = TEXT.replace("two\n", "two\nnew\n").replace("five", "FIVE");
    let place = view.contain("a.txt").unwrap();
    let change = ProposedChange::Write(Text::from(text.as_str()));
    let maker = Maker::Call("c".into());
    let proposals = vec![Proposal { place, change }];
    bench.fork.lock().unwrap().merge(&bench.workspace, &view, 1, &maker, proposals);
    assert_eq!(bench.drive(bench.publish(), || {}).failed, []);
    assert_eq!(bench.text(), text);
}

#[test]
fn a_hunk_is_undone_after_typing_after_reopening_and_after_a_checkout() {
    let typed = Bench::new(Profile::EMACS);
    typed.propose("five", "FIVE");
    typed.drive(typed.publish(), || {});
    typed.replace("\nsix", "!\nsix");
    typed.tell();
    assert_eq!(typed.drive(typed.undo(), || {}).failed, []);
    assert_eq!(typed.text(), TEXT.replace("five", "five!"));

    let reopened = Bench::new(Profile::VSCODE);
    reopened.propose("five", "FIVE");
    reopened.drive(reopened.publish(), || {});
    let text = reopened.editor.with(|client| client.save(&reopened.uri)).unwrap();
    reopened.write_disk(&text);
    reopened.editor.with(|client| client.close(&reopened.uri));
    reopened.editor.deliver_all();
    reopened.open();
    assert_eq!(reopened.drive(reopened.undo(), || {}).failed, []);
    assert_eq!(reopened.text(), TEXT);

    let checked_out = Bench::new(Profile::VSCODE);
    checked_out.propose("five", "FIVE");
    checked_out.drive(checked_out.publish(), || {});
    let other = format!("a\nb\nc\n{}", TEXT.replace("five", "FIVE"));
    checked_out.editor.with(|client| client.reload(&checked_out.uri, &other, EchoShape::Whole));
    checked_out.tell();
    assert_eq!(checked_out.drive(checked_out.undo(), || {}).failed, []);
    assert_eq!(checked_out.text(), format!("a\nb\nc\n{TEXT}"));
}

#[test]
fn an_edit_that_was_made_right_before_the_document_was_closed_is_published() {
    let bench = Bench::new(Profile::EMACS);
    bench.propose("five\n", "five\nnew");
    let mut publish = pin!(bench.publish());
    assert_eq!(bench.poll(publish.as_mut()), None);
    bench.editor.with(|client| client.handle(Handling::Usual));
    // The user types where the new text begins, saves and closes; all of it is read before the publish goes on.
    bench.replace("newsix", "brand newsix");
    let text = bench.editor.with(|client| client.save(&bench.uri)).unwrap();
    bench.write_disk(&text);
    bench.editor.with(|client| client.close(&bench.uri));
    bench.editor.deliver_all();
    assert_eq!(bench.poll(publish.as_mut()).unwrap().failed, []);
    assert_eq!(bench.hunks(), 0, "it is in the text already");
    assert_eq!(bench.drive(bench.publish(), || {}).done, []);
    assert_eq!(bench.disk(), text);
    assert_eq!(bench.workspace.ledger().texts.len(), 1);
}

#[test]
fn an_edit_that_typing_has_overtaken_is_made_once_in_the_file_opened_again_for_it() {
    let bench = Bench::new(Profile::VSCODE);
    bench.propose("two\n", "two\nnew\n");
    bench.propose("five", "FIVE");
    {
        let mut publish = pin!(bench.publish());
        assert!(bench.poll(publish.as_mut()).is_none());
        bench.replace("five", "fi!ve");
        bench.tell();
        assert!(bench.poll(publish.as_mut()).is_none());
        // Unsaved text is gone, and the edit is for the version that the file has when it is opened.
        bench.editor.with(|client| {
            client.close(&bench.uri);
            while client.handle(Handling::Usual) {}
        });
        bench.tell();
        let report = bench.poll(publish.as_mut()).unwrap();
        assert_eq!(report.failed, [("a.txt".to_owned(), Failure::Closed)]);
    }
    bench.drive(bench.publish(), || {});
    assert_eq!(bench.text(), TEXT.replace("two\n", "two\nnew\n").replace("five", "FIVE"));
}
