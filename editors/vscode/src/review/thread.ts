// The one comment thread below a change: its diff, buttons, and a reply that is the reason of a rejection. It opens on the user's
// action alone, takes no focus, and goes with its change.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo } from '../protocol.ts';
import { PROPOSED, textsOf } from './documents.ts';
import { fenced } from './fence.ts';
import type { Places } from './places.ts';
import { madeBy } from '../store/words.ts';

/** The most lines of a diff in the thread; the diff editor has the rest. */
const LINES_SHOWN = 200;

export class ChangeThread implements vscode.Disposable {
    private readonly controller: vscode.CommentController;
    private thread: vscode.CommentThread | undefined;
    private shown: HunkInfo | undefined;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub, private readonly places: Places) {
        this.controller = vscode.comments.createCommentController('ropewalk-review', 'Ropewalk');
        this.controller.options = { prompt: 'Reject with a reason…', placeHolder: 'Why not? The model reads this.' };
        this.disposables = [this.controller, places.onChange(() => this.follow())];
    }

    dispose(): void {
        this.close();
        for (const one of this.disposables) one.dispose();
    }

    /** The change that is shown. */
    get current(): HunkInfo | undefined {
        return this.shown;
    }

    /** Shows a change below its lines in this document. */
    async open(hunk: HunkInfo, document: vscode.TextDocument): Promise<void> {
        const { diff } = await textsOf(this.hub, hunk);
        this.close();
        const range = this.places.find(hunk, document);
        const last = new vscode.Range(range.end.line, 0, range.end.line, 0);
        const { head } = this.hub.store;
        const index = head.hunks.findIndex(({ id }) => id === hunk.id) + 1;
        const comment: vscode.Comment = {
            author: { name: `Change ${index} of ${head.hunks.length}` },
            body: body(diff),
            mode: vscode.CommentMode.Preview,
        };
        const thread = this.controller.createCommentThread(document.uri, last, [comment]);
        const by = madeBy(hunk);
        thread.label = `Proposed${by ? ` by ${by}` : ''} · not in your file yet`;
        thread.contextValue = 'change';
        thread.canReply = true;
        thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
        this.thread = thread;
        this.shown = hunk;
    }

    close(): void {
        this.thread?.dispose();
        this.thread = undefined;
        this.shown = undefined;
    }

    /** Closes the thread as the user wishes, who may be in its reply and goes back to the text. */
    async leave(): Promise<void> {
        const { thread } = this;
        this.thread = undefined;
        this.shown = undefined;
        // The focus goes first: with the thread it would go nowhere, and keys with it.
        await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
        thread?.dispose();
    }

    /** The change went without the user's doing here. Where they are is not known, so the focus stays, and so does what they write. */
    private gone(thread: vscode.CommentThread): void {
        if (!isWriting()) return this.close();
        thread.label = 'This change no longer waits';
        thread.contextValue = 'gone';
        this.shown = undefined;
    }

    private follow(): void {
        const { thread, shown } = this;
        if (!thread || !shown) return;
        const hunk = this.hub.hunk(shown.id);
        if (!hunk) return this.gone(thread);
        const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === thread.uri.toString());
        if (!document || document.uri.scheme === PROPOSED) return;
        const { end } = this.places.find(hunk, document);
        if (thread.range?.start.line !== end.line) thread.range = new vscode.Range(end.line, 0, end.line, 0);
    }
}

/** True if the user is writing in a box of the comments. */
function isWriting(): boolean {
    return vscode.workspace.textDocuments.some((document) => document.uri.scheme === 'comment' && document.getText().length > 0);
}

function body(diff: string): vscode.MarkdownString {
    const lines = diff.split('\n').filter((line) => !/^(---|\+\+\+|@@) /.test(line));
    const shown = lines.slice(0, LINES_SHOWN).join('\n').trimEnd();
    const more = lines.length > LINES_SHOWN ? `\n${lines.length - LINES_SHOWN} more lines: see the diff.` : '';
    return new vscode.MarkdownString(fenced(shown, 'diff') + more);
}
