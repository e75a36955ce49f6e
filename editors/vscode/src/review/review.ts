// What the user does about changes: go to the next, accept, reject with a reason, edit, compare, undo.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo, SessionEvent } from '../protocol.ts';
import { count } from '../store/words.ts';
import { PROPOSED, type ReadOnlyTexts, fileOf, proposedUri } from './documents.ts';
import type { Places } from './places.ts';
import type { ChangeThread } from './thread.ts';

/** What a command is called with: an id, a row of the tree, the thread, a reply in it, or nothing. */
export type Target = number | { hunk?: HunkInfo; uri?: unknown } | vscode.CommentThread | vscode.CommentReply | undefined;

export class Review implements vscode.Disposable {
    private readonly toSave = new Set<string>();
    /** The change whose diff was opened last: what its editor is about. */
    private compared: number | undefined;
    private readonly heard: vscode.Disposable;

    constructor(
        private readonly hub: Hub,
        private readonly places: Places,
        private readonly thread: ChangeThread,
        private readonly texts: ReadOnlyTexts,
    ) {
        this.heard = hub.onEvent((event) => {
            void this.savePublished(event);
            if (event.type === 'hunks') void this.closeDone();
        });
    }

    dispose(): void {
        this.heard.dispose();
    }

    /** Leads to the next change from where the user is, or to the one before. */
    async step(forward: boolean): Promise<void> {
        const { hunks } = this.hub.store.head;
        if (hunks.length === 0) return this.say('No change waits for review.');
        const at = this.here();
        const exact = at !== undefined && this.thread.current?.id === hunks[at.index]?.id;
        const step = forward ? 1 : -1;
        let index = forward ? 0 : hunks.length - 1;
        // One at the cursor that is not shown yet is the next, whichever way.
        if (at?.isAt) index = exact ? at.index + step : at.index;
        else if (at) index = at.isBehind === forward ? at.index : at.index + step;
        const hunk = hunks[(index + hunks.length) % hunks.length];
        if (hunk) await this.show(hunk);
    }

    /** Opens the file at a change, with the thread below it; the focus goes to the text. */
    async show(hunk: HunkInfo): Promise<void> {
        const file = vscode.Uri.parse(hunk.uri, true);
        if (hunk.kind === 'create') {
            await this.diff(hunk);
            const editor = vscode.window.activeTextEditor;
            if (editor?.document.uri.scheme === PROPOSED) await this.thread.open(hunk, editor.document);
            return;
        }
        if (!(await isText(file, hunk))) return this.diff(hunk);
        const editor = await vscode.window.showTextDocument(file, { preview: false });
        const { start } = this.places.find(hunk, editor.document);
        editor.selection = new vscode.Selection(start, start);
        editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
        await this.thread.open(hunk, editor.document);
    }

    async accept(target: Target): Promise<void> {
        const hunk = this.of(target);
        if (!hunk) return this.say('No change waits here.');
        this.saveLater([hunk]);
        this.leave(hunk);
        await this.hub.run('accept', this.named(hunk));
    }

    async acceptAll(choice: { uri: string } | { all: true }): Promise<void> {
        const { hunks } = this.hub.store.head;
        const meant = 'uri' in choice ? hunks.filter(({ uri }) => uri === choice.uri) : hunks;
        if (meant.length === 0) return this.say('No change waits.');
        this.saveLater(meant);
        await this.hub.run('accept', choice);
    }

    /** Rejects; by keyboard it asks for a reason first, of which none is fine too. */
    async reject(target: Target, reason?: string): Promise<void> {
        const hunk = this.of(target);
        if (!hunk) return this.say('No change waits here.');
        this.leave(hunk);
        await this.hub.run('reject', { ...this.named(hunk), ...(reason ? { reason } : {}) });
    }

    async rejectWithReason(target: Target): Promise<void> {
        if (target && typeof target === 'object' && 'text' in target && 'thread' in target) {
            return await this.reject(target, target.text.trim());
        }
        const hunk = this.of(target);
        if (!hunk) return this.say('No change waits here.');
        const reason = await vscode.window.showInputBox({
            title: `Reject the change of ${hunk.file}`,
            prompt: 'Why not? The model reads it with your next message. Enter alone rejects without a reason.',
        });
        if (reason !== undefined) await this.reject(hunk.id, reason.trim());
    }

    async rejectAll(choice: { uri: string } | { all: true }): Promise<void> {
        const number = this.hub.store.head.hunks.length;
        if (number === 0) return this.say('No change waits.');
        if ('all' in choice && number > 1) {
            const yes = `Reject ${count(number, 'Change')}`;
            const answer = await vscode.window.showWarningMessage(`Reject all ${number} changes?`, { modal: true }, yes);
            if (answer !== yes) return;
        }
        await this.hub.run('reject', choice);
    }

    /** Opens the diff with the cursor in the proposed lines, which can be typed into. */
    async edit(target: Target): Promise<void> {
        const hunk = this.of(target);
        if (!hunk) return this.say('No change waits here.');
        this.thread.close();
        await this.diff(hunk);
        this.say('Edit the lines on the right, then save.');
    }

    /** Shows the file as it is and as it would be beside each other. */
    async diff(target: Target | HunkInfo): Promise<void> {
        const hunk = isHunk(target) ? target : this.of(target);
        if (!hunk) return this.say('No change waits here.');
        this.compared = hunk.id;
        const file = vscode.Uri.parse(hunk.uri, true);
        const left = hunk.kind === 'create' ? this.texts.hold(`${hunk.file} (not there yet)`, '') : file;
        const right = proposedUri(file);
        const selection = new vscode.Range(hunk.line, 0, hunk.line, 0);
        await vscode.commands.executeCommand('vscode.diff', left, right, `${hunk.file} ↔ proposed`, {
            preview: true,
            selection,
        } satisfies vscode.TextDocumentShowOptions);
    }

    /** All changes that wait, as one view of several diffs. */
    async diffAll(): Promise<void> {
        const files = new Map(this.hub.store.head.hunks.map((hunk) => [hunk.uri, hunk]));
        if (files.size === 0) return this.say('No change waits for review.');
        const rows = [...files.values()].map((hunk) => {
            const file = vscode.Uri.parse(hunk.uri, true);
            return [file, hunk.kind === 'create' ? undefined : file, hunk.kind === 'delete' ? undefined : proposedUri(file)];
        });
        await vscode.commands.executeCommand('vscode.changes', 'Proposed changes', rows);
    }

    /** Takes back one accepted change, by its id. */
    async undo(hunk: number): Promise<void> {
        await this.hub.run('undo', { hunk });
    }

    /** The change that a command is about. */
    private of(target: Target): HunkInfo | undefined {
        if (typeof target === 'number') return this.hub.hunk(target);
        if (target && 'hunk' in target && target.hunk) return this.hub.hunk(target.hunk.id);
        if (target && ('thread' in target || 'comments' in target)) return this.thread.current;
        const at = this.here();
        if (at?.isAt) return this.hub.store.head.hunks[at.index];
        return this.thread.current;
    }

    /** The change nearest before the cursor, or the thread's. */
    private here(): { index: number; isAt: boolean; isBehind: boolean } | undefined {
        const { hunks } = this.hub.store.head;
        const editor = vscode.window.activeTextEditor;
        const shown = hunks.findIndex(({ id }) => id === this.thread.current?.id);
        if (!editor) return shown < 0 ? undefined : { index: shown, isAt: true, isBehind: false };
        if (editor.document.uri.scheme === PROPOSED) {
            const file = this.hub.client.spell(fileOf(editor.document.uri));
            if (shown >= 0 && hunks[shown]?.uri === file) return { index: shown, isAt: true, isBehind: false };
            const compared = hunks.findIndex(({ id, uri }) => id === this.compared && uri === file);
            const index = compared >= 0 ? compared : hunks.findIndex(({ uri }) => uri === file);
            return index < 0 ? undefined : { index, isAt: true, isBehind: false };
        }
        const { line } = editor.selection.active;
        const placed = this.places.of(editor.document);
        const at = placed.find(({ range }) => range.start.line <= line && line <= range.end.line);
        if (at) return { index: at.index - 1, isAt: true, isBehind: false };
        if (shown >= 0) return { index: shown, isAt: true, isBehind: false };
        const behind = placed.find(({ range }) => range.start.line > line);
        if (behind) return { index: behind.index - 1, isAt: false, isBehind: true };
        const before = placed.at(-1);
        return before && { index: before.index - 1, isAt: false, isBehind: false };
    }

    private named(hunk: HunkInfo) {
        const { session } = this.hub.store.head;
        return { hunk: hunk.id, ...(session ? { session } : {}) };
    }

    /** Closes the thread of a change that the user has decided on: now, since they may be elsewhere when the server answers. */
    private leave(hunk: HunkInfo): void {
        if (this.thread.current?.id === hunk.id) void this.thread.leave();
    }

    /** Remembers files that were clean before a change, to save them once it is in them. */
    private saveLater(hunks: readonly HunkInfo[]): void {
        if (!vscode.workspace.getConfiguration('ropewalk').get<boolean>('saveAcceptedFiles')) return;
        const uris = new Set(hunks.map(({ uri }) => uri));
        for (const { isDirty, isUntitled, uri } of vscode.workspace.textDocuments) {
            const spelled = this.hub.client.spell(uri);
            if (!isDirty && !isUntitled && uris.has(spelled)) this.toSave.add(spelled);
        }
    }

    private async savePublished(event: SessionEvent): Promise<void> {
        // What was not accepted after all must not be saved with what is typed later.
        if (event.type === 'reviewed' && event.failed.length > 0) this.toSave.clear();
        if (event.type !== 'published') return;
        for (const { uri } of event.changes) {
            if (!this.toSave.delete(uri)) continue;
            const document = vscode.workspace.textDocuments.find((one) => this.hub.client.spell(one.uri) === uri);
            await document?.save();
        }
    }

    /** Closes diffs of files in which nothing waits any more: their right side shows what is in the file by now. */
    private async closeDone(): Promise<void> {
        const waiting = new Set(this.hub.store.head.hunks.map(({ uri }) => uri));
        const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input, isDirty }) => {
            if (!(input instanceof vscode.TabInputTextDiff) || isDirty || input.modified.scheme !== PROPOSED) return false;
            return !waiting.has(this.hub.client.spell(fileOf(input.modified)));
        });
        if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
    }

    private say(words: string): void {
        vscode.window.setStatusBarMessage(words, 4000);
    }
}

function isHunk(target: Target | HunkInfo): target is HunkInfo {
    return typeof target === 'object' && target !== null && 'kind' in target && 'id' in target;
}

/** True if the file can be shown as text. */
async function isText(file: vscode.Uri, hunk: HunkInfo): Promise<boolean> {
    if (hunk.kind === 'binary' || hunk.kind === 'link') return false;
    try {
        await vscode.workspace.openTextDocument(file);
        return true;
    } catch {
        return false;
    }
}
