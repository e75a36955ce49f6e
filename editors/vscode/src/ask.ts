// Asking in place: a comment in editing mode at the selection, with what was typed kept as a draft. Where no text is open, a box at the top.

import * as vscode from 'vscode';
import type { Hub } from './hub.ts';
import type { Memory } from './memory.ts';
import type { Completions, PromptTurn } from './protocol.ts';

const CONTROLLER = 'ropewalk-ask';
const EARLIER_KEPT = 50;

/** A place in a text that is asked about, as it was then. */
interface Place {
    document: vscode.TextDocument;
    version: number;
    range: vscode.Range;
}

export class Ask implements vscode.Disposable {
    private readonly controller: vscode.CommentController;
    private open: (Place & { thread: vscode.CommentThread; isSent: boolean }) | undefined;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub, private readonly memory: Memory) {
        this.controller = vscode.comments.createCommentController(CONTROLLER, 'Ask Ropewalk');
        this.disposables = [
            this.controller,
            vscode.workspace.onDidChangeTextDocument(({ document }) => this.keepDraft(document)),
            vscode.languages.registerCompletionItemProvider({ scheme: 'comment' }, new PromptCompletion(hub), '@', '/'),
        ];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    /** Opens the place to type in. */
    async start(): Promise<void> {
        const editor = vscode.window.activeTextEditor;
        if (!editor || !/^(file|untitled|vscode-notebook-cell)$/.test(editor.document.uri.scheme)) return await this.pick();
        this.close();
        const { document, selection } = editor;
        const range = new vscode.Range(selection.start, selection.end);
        // Keys that are typed before the box has the focus would replace the selected lines.
        if (!selection.isEmpty) await vscode.commands.executeCommand('cancelSelection');
        const line = range.end.character === 0 && range.end.line > range.start.line ? range.end.line - 1 : range.end.line;
        const comment: vscode.Comment = {
            author: { name: 'You' },
            body: this.memory.get('askDraft') ?? '',
            mode: vscode.CommentMode.Editing,
            contextValue: 'ask',
        };
        const thread = this.controller.createCommentThread(document.uri, new vscode.Range(range.start.line, 0, line, 0), [comment]);
        thread.canReply = false;
        thread.label = selection.isEmpty ? 'Ask Ropewalk · @ names a file, / a command' : `Ask about ${selected(range)}`;
        thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
        thread.contextValue = 'ask';
        this.open = { thread, isSent: false, document, version: document.version, range };
    }

    /** Sends what was typed; `comment` is what VS Code hands over with the key. */
    async send(comment?: vscode.Comment): Promise<void> {
        const { open } = this;
        const said = typeof comment?.body === 'string' ? comment.body : (comment?.body.value ?? '');
        if (!open || open.isSent || !said.trim()) return;
        open.isSent = true;
        this.memory.put('askDraft', said);
        // The box goes at once: keys typed into one that waits for the server would go with it. What fails is the draft of the next.
        await this.leave();
        const sent = await this.prompt(said.trim(), open);
        const draft = this.memory.get('askDraft') ?? '';
        // Keys that were faster than the box are the draft of the next too.
        if (sent && draft.startsWith(said)) this.memory.put('askDraft', draft.slice(said.length) || undefined);
    }

    /** Goes back to the text; the draft stays. */
    async leave(): Promise<void> {
        const { open } = this;
        // The focus goes first: with the box it would go nowhere, and keys with it.
        await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
        if (this.open === open) this.close();
    }

    /** A quick pick: earlier prompts, and what is typed as the first row. */
    async pick(): Promise<void> {
        const earlier = this.earlier();
        const picker = vscode.window.createQuickPick();
        const rows = (typed: string) => [
            ...(typed.trim() ? [{ label: typed, alwaysShow: true, detail: 'Ask this' }] : []),
            ...earlier.filter((prompt) => prompt !== typed).map((label) => ({ label, description: 'earlier' })),
        ];
        picker.title = 'Ask Ropewalk';
        picker.placeholder = 'What should be done? @ names a file';
        picker.value = this.memory.get('askDraft') ?? '';
        picker.items = rows(picker.value);
        picker.onDidChangeValue((typed) => {
            picker.items = rows(typed);
            this.memory.put('askDraft', typed);
        });
        const chosen = await new Promise<string | undefined>((done) => {
            picker.onDidAccept(() => done(picker.activeItems[0]?.label ?? picker.value));
            picker.onDidHide(() => done(undefined));
            picker.show();
        });
        picker.dispose();
        if (!chosen?.trim()) return;
        if (await this.prompt(chosen.trim())) this.memory.put('askDraft', undefined);
    }

    /** Sends a prompt about a place, if there is one, or to a teammate; true if the server has it. */
    async prompt(prompt: string, at?: Place, member?: string): Promise<boolean> {
        const place = at && {
            textDocument: { uri: this.hub.client.spell(at.document.uri), version: at.version },
            // A range of VS Code's is written as an array of two.
            range: { start: at.range.start, end: at.range.end },
        };
        const answer = await this.hub.run<PromptTurn>('prompt', { prompt, ...place, ...(member ? { member } : {}) });
        if (answer === undefined) return false;
        const earlier = this.earlier().filter((one) => one !== prompt);
        this.memory.put('prompts', [prompt, ...earlier].slice(0, EARLIER_KEPT));
        return true;
    }

    /** Prompts sent before, the last one first. */
    earlier(): string[] {
        return this.memory.get('prompts') ?? [];
    }

    private close(): void {
        this.open?.thread.dispose();
        this.open = undefined;
    }

    private keepDraft(document: vscode.TextDocument): void {
        if (this.open && document.uri.scheme === 'comment') this.memory.put('askDraft', document.getText());
    }
}

function selected({ start, end }: vscode.Range): string {
    const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
    return last === start.line + 1 ? `line ${last}` : `lines ${start.line + 1}–${last}`;
}

/** Files after `@`, commands and skills after `/`, in the box where a prompt is typed. */
class PromptCompletion implements vscode.CompletionItemProvider {
    constructor(private readonly hub: Hub) {}

    async provideCompletionItems(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.CompletionList> {
        const offset = document.offsetAt(position);
        const found = await this.hub.ask<Completions>('complete', { text: document.getText(), offset });
        const kinds = vscode.CompletionItemKind;
        const items = (found?.items ?? []).map(({ text, kind, detail }, index) => {
            const item = new vscode.CompletionItem(text, kind === 'file' ? kinds.File : kinds.Function);
            item.detail = detail;
            item.range = new vscode.Range(document.positionAt(found?.start ?? offset), position);
            item.filterText = text;
            item.sortText = String(index).padStart(4, '0');
            return item;
        });
        return new vscode.CompletionList(items, true);
    }
}
