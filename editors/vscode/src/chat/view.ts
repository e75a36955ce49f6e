// The chat's side in the extension host. The host owns all state: the webview may go at any time, and gets the last items when it is back.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { Ask } from '../ask.ts';
import type { Hub } from '../hub.ts';
import type { Memory } from '../memory.ts';
import type { CallResult, Completions, UnqueuedPrompt } from '../protocol.ts';
import type { ReadOnlyTexts } from '../review/documents.ts';
import { joined, type TranscriptChange } from '../store/items.ts';
import type { Store } from '../store/store.ts';
import { chatHead } from './head.ts';
import type { FromWebview, Posted, ToWebview } from './messages.ts';

const SHOWN = 200;
/** How long changes are gathered before they go to the webview, in milliseconds. */
const GATHERED = 15;

export class ChatView implements vscode.WebviewViewProvider, vscode.Disposable {
    private view: vscode.WebviewView | undefined;
    private isReady = false;
    /** True from the user's wish to type in the chat until its page is there. */
    private wantsFocus = false;
    private pending: TranscriptChange[] = [];
    private timer: NodeJS.Timeout | undefined;
    private shown = SHOWN;
    private readonly disposables: vscode.Disposable[];

    constructor(
        private readonly hub: Hub,
        private readonly ask: Ask,
        private readonly texts: ReadOnlyTexts,
        private readonly extension: vscode.Uri,
        private readonly memory: Memory,
    ) {
        this.disposables = [
            vscode.window.registerWebviewViewProvider('ropewalk.chat', this),
            hub.onChanges((changes) => this.gather(changes)),
            hub.onHead(() => this.sendHead()),
            hub.onShown(() => this.reset()),
            hub.onHealth(() => this.sendHead()),
        ];
    }

    get isVisible(): boolean {
        return this.view?.visible ?? false;
    }

    dispose(): void {
        clearTimeout(this.timer);
        for (const one of this.disposables) one.dispose();
    }

    resolveWebviewView(view: vscode.WebviewView): void {
        this.view = view;
        this.isReady = false;
        const { webview } = view;
        const dist = vscode.Uri.joinPath(this.extension, 'dist');
        webview.options = { enableScripts: true, localResourceRoots: [dist] };
        webview.onDidReceiveMessage((message: Posted) => void this.receive(message));
        view.onDidDispose(() => {
            if (this.view === view) this.view = undefined;
        });
        webview.html = page(webview, dist);
        this.badge();
    }

    /** Shows the chat with the focus where the user types. */
    async focus(): Promise<void> {
        this.wantsFocus = true;
        await vscode.commands.executeCommand('ropewalk.chat.focus');
        this.giveFocus();
    }

    /** Shows the chat; the focus stays where it is if the chat's page is there. */
    async reveal(): Promise<void> {
        if (this.view) this.view.show(true);
        else await vscode.commands.executeCommand('ropewalk.chat.focus');
    }

    /** A number on the view's icon while something waits for the user. */
    badge(): void {
        if (!this.view) return;
        const number = this.hub.store.head.approvals.length + this.hub.store.head.trust.length;
        this.view.badge = number > 0 ? { value: number, tooltip: 'Ropewalk asks for your answer' } : undefined;
    }

    /** Puts words before those that the user types in a conversation, without sending them. */
    offer(text: string, store = this.hub.store): void {
        const of = store.member ? store.head.session : null;
        const typed = this.draft(of);
        this.keepDraft(of, typed ? `${text}\n${typed}` : text);
        if (store === this.hub.current) this.post({ type: 'draft', text });
    }

    /** Words typed in a conversation and not sent: a teammate's by its session, or the user's own. */
    private draft(of: string | null): string {
        return (of === null ? this.memory.get('chatDraft') : this.memory.get('teammateDrafts')?.[of]) ?? '';
    }

    private keepDraft(of: string | null, text: string): void {
        if (of === null) return this.memory.put('chatDraft', text || undefined);
        const { [of]: before = '', ...others } = this.memory.get('teammateDrafts') ?? {};
        if (text !== before) this.memory.put('teammateDrafts', text ? { ...others, [of]: text } : others);
    }

    private post(message: ToWebview): void {
        if (this.isReady) void this.view?.webview.postMessage(message);
    }

    private giveFocus(): void {
        if (!this.wantsFocus || !this.isReady || !this.view?.visible) return;
        this.wantsFocus = false;
        this.post({ type: 'focus' });
    }

    private gather(changes: TranscriptChange[]): void {
        this.pending.push(...changes);
        this.timer ??= setTimeout(() => this.flush(), GATHERED);
    }

    private flush(): void {
        this.timer = undefined;
        const changes = joined(this.pending);
        this.pending = [];
        if (changes.length > 0) this.post({ type: 'changes', changes });
    }

    private sendHead(): void {
        this.badge();
        this.post({ type: 'head', head: chatHead(this.hub) });
    }

    private reset(): void {
        // What waits to be sent is in the items already.
        this.pending = [];
        const { current } = this.hub;
        const { transcript } = current;
        this.shown = SHOWN;
        this.post({
            type: 'reset',
            items: transcript.last(SHOWN),
            hasEarlier: transcript.items.size > SHOWN,
            head: chatHead(this.hub),
            draft: this.draft(current.member ? current.head.session : null),
            earlier: this.ask.earlier(),
        });
    }

    private async receive({ of, ...message }: Posted): Promise<void> {
        // Kept whether or not the conversation is still open: that of a team comes back with its session.
        if (message.type === 'draft') return this.keepDraft(of, message.text);
        const store = this.hub.conversation(of);
        if (!store) return this.missed(message);
        switch (message.type) {
            case 'ready':
                this.isReady = true;
                this.reset();
                return this.giveFocus();
            case 'send':
                return await this.send(store, message.text, message.queue);
            case 'show':
                this.wantsFocus = true;
                this.hub.show(message.teammate);
                return this.giveFocus();
            case 'earlier':
                return this.sendEarlier();
            case 'complete':
                return await this.complete(store, message);
            case 'command':
                return void vscode.commands.executeCommand(`ropewalk.ui.${message.command}`);
            case 'copy':
                return await vscode.env.clipboard.writeText(message.text);
            default:
                return await this.act(store, message);
        }
    }

    /** What was done in the conversation of a team that has gone with its session: words to it are the user's all the same. */
    private missed(message: FromWebview): void {
        if (message.type !== 'send') return;
        this.offer(message.text);
        void vscode.window.showWarningMessage('Not sent: that conversation is not open any more. Your words are in the box of this one.');
    }

    private async act(store: Store, message: FromWebview): Promise<void> {
        switch (message.type) {
            case 'stop':
                return void (await this.hub.run('interrupt', { ...to(store), ...(message.thread ? { thread: message.thread } : {}) }));
            case 'unqueue':
                return await this.unqueue(store, message.turn);
            case 'approve': {
                const { approval, answer, words } = message;
                const session = this.hub.store.head.approvals.find((one) => one.approval === approval)?.session;
                const of = session ? { session } : {};
                return void (await this.hub.run('approve', { approval, answer, ...of, ...(words ? { words } : {}) }));
            }
            case 'trust': {
                const { root, hash, answer } = message;
                if ((await this.hub.run('trust', { root, hash, answer })) !== undefined) this.hub.trusted(root);
                return;
            }
            case 'resume':
                return void (await this.hub.run('resume', { session: message.session }));
            case 'whole':
                return await this.showWhole(store, message.call, message.title);
            case 'displaced':
                return await this.displaced(store, message.id, message.action);
            case 'undoTurn':
                return void vscode.commands.executeCommand('ropewalk.ui.undoTurn', message.turn);
        }
    }

    private async send(store: Store, text: string, queue: boolean): Promise<void> {
        // A teammate takes no commands.
        const isCommand = !store.member && /^\/\w/.test(text);
        const place = store.member ? undefined : placeOf(vscode.window.activeTextEditor);
        const isSent = store.head.running && !queue && !isCommand
            ? (await this.hub.run('steer', { text, ...to(store) })) !== undefined
            : await this.ask.prompt(text, place, store.member);
        // Words that could not be sent stay in the box.
        if (!isSent) return this.offer(text, store);
        this.post({ type: 'sent', earlier: this.ask.earlier() });
    }

    private async unqueue(store: Store, turn: number): Promise<void> {
        const answer = await this.hub.run<UnqueuedPrompt>('unqueue', { turn, ...to(store) });
        if (!answer) return;
        this.hub.unqueued(store, turn);
        this.offer(answer.prompt, store);
    }

    private sendEarlier(): void {
        const { transcript } = this.hub.current;
        this.shown += SHOWN;
        this.post({ type: 'earlier', items: transcript.last(this.shown), hasEarlier: transcript.items.size > this.shown });
    }

    private async complete(store: Store, { request, text, offset }: Extract<FromWebview, { type: 'complete' }>): Promise<void> {
        const found = await this.hub.ask<Completions>('complete', { text, offset });
        const items = (found?.items ?? []).filter(({ kind }) => !store.member || kind !== 'command');
        this.post({ type: 'completions', request, start: found?.start ?? offset, items });
    }

    private async showWhole({ head }: Store, call: string, title: string): Promise<void> {
        const whole = await this.hub.ask<CallResult>('result', { call, session: head.session });
        if (!whole) return void vscode.window.showInformationMessage('The whole output is not there yet.');
        const document = await vscode.workspace.openTextDocument(this.texts.hold(title, whole.text));
        await vscode.window.showTextDocument(document, { preview: true });
    }

    private async displaced(store: Store, id: string, action: 'both' | 'again'): Promise<void> {
        const item = store.transcript.items.get(id);
        if (item?.kind !== 'displaced') return;
        if (action === 'again') {
            await this.ask.prompt(`I typed into the change you proposed in ${item.file}. Look at the text as it is now, and propose it again.`, undefined, store.member);
            return;
        }
        const mine = this.texts.hold(`yours in ${item.file}`, item.now);
        const proposed = this.texts.hold(`proposed for ${item.file}`, item.proposed);
        await vscode.commands.executeCommand('vscode.diff', mine, proposed, `${item.file}: yours ↔ proposed`);
    }
}

/** The part of a command that says whose conversation it is for. */
function to({ member }: Store): { member?: string } {
    return member ? { member } : {};
}

/** The selection that a message is about; a place without a selection says only which line the user is at. */
function placeOf(editor: vscode.TextEditor | undefined) {
    if (!editor || !/^(file|untitled|vscode-notebook-cell)$/.test(editor.document.uri.scheme)) return undefined;
    const { document, selection } = editor;
    return { document, version: document.version, range: new vscode.Range(selection.start, selection.end) };
}

function page(webview: vscode.Webview, dist: vscode.Uri): string {
    const nonce = randomBytes(16).toString('base64');
    const uri = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
    const policy = [
        "default-src 'none'",
        "img-src 'none'",
        `style-src ${webview.cspSource}`,
        `font-src ${webview.cspSource}`,
        `script-src 'nonce-${nonce}'`,
    ].join('; ');
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1.0">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Ropewalk</title>
<link rel="stylesheet" href="${uri('webview.css')}">
</head>
<body>
<main id="root"></main>
<script nonce="${nonce}" src="${uri('webview.js')}"></script>
</body>
</html>`;
}
