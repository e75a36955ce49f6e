// The one comment thread below a change: its diff, buttons, and a reply that is the reason of a rejection. It opens on the user's
// action alone, takes no focus, and goes with its change.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo } from '../protocol.ts';
import { PROPOSED, textsOf } from './documents.ts';
import { fenced } from './fence.ts';
import type { Places } from './places.ts';

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

    /** True if this is the thread of the change that is shown. */
    isOf(thread: vscode.CommentThread): boolean {
        return this.thread === thread;
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
        thread.label = 'Proposed · not in your file yet';
        thread.contextValue = 'change';
        thread.canReply = true;
        thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
        this.thread = thread;
        this.shown = hunk;
    }

    /** Closes the thread. `hadFocus`: the user was in its reply, and goes back to the text. */
    close(hadFocus = false): void {
        this.thread?.dispose();
        this.thread = undefined;
        this.shown = undefined;
        if (hadFocus) void vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
    }

    private follow(): void {
        const { thread, shown } = this;
        if (!thread || !shown) return;
        const hunk = this.hub.hunk(shown.id);
        if (!hunk) return this.close(true);
        const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === thread.uri.toString());
        if (!document || document.uri.scheme === PROPOSED) return;
        const { end } = this.places.find(hunk, document);
        if (thread.range?.start.line !== end.line) thread.range = new vscode.Range(end.line, 0, end.line, 0);
    }
}

function body(diff: string): vscode.MarkdownString {
    const lines = diff.split('\n').filter((line) => !/^(---|\+\+\+|@@) /.test(line));
    const shown = lines.slice(0, LINES_SHOWN).join('\n').trimEnd();
    const more = lines.length > LINES_SHOWN ? `\n${lines.length - LINES_SHOWN} more lines: see the diff.` : '';
    return new vscode.MarkdownString(fenced(shown, 'diff') + more);
}
