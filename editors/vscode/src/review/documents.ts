// Documents that are in no file: a file with all proposed changes (`ropewalk:`, which can be edited), and texts that are only read.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo, HunkTexts, ProposedDocument } from '../protocol.ts';
import { editedTexts, regions } from './edited.ts';

export const PROPOSED = 'ropewalk';
export const READ_ONLY = 'ropewalk-text';

/** The proposed text of a file. Its path is the file's, which is what several diffs at once need. */
export function proposedUri(file: vscode.Uri): vscode.Uri {
    return vscode.Uri.from({ scheme: PROPOSED, path: file.path, query: file.scheme === 'file' ? '' : file.toString() });
}

/** The file that a proposed text is of. */
export function fileOf(proposed: vscode.Uri): vscode.Uri {
    return proposed.query ? vscode.Uri.parse(proposed.query) : vscode.Uri.file(proposed.path);
}

export class ProposedFiles implements vscode.FileSystemProvider, vscode.Disposable {
    private readonly emitter = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
    readonly onDidChangeFile = this.emitter.event;
    private readonly read = new Map<string, { text: string; moment: number }>();
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub) {
        const options = { isCaseSensitive: true, isReadonly: false };
        this.disposables = [
            this.emitter,
            vscode.workspace.registerFileSystemProvider(PROPOSED, this, options),
            hub.onHead((parts) => {
                if (parts.has('hunks')) this.tellChanged();
            }),
            vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.read.delete(uri.toString())),
        ];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    watch(): vscode.Disposable {
        return new vscode.Disposable(() => {});
    }

    async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
        const { text, moment } = this.read.get(uri.toString()) ?? (await this.fetch(uri));
        return { type: vscode.FileType.File, ctime: 0, mtime: moment, size: Buffer.byteLength(text) };
    }

    async readFile(uri: vscode.Uri): Promise<Uint8Array> {
        return Buffer.from((await this.fetch(uri)).text);
    }

    /** Saving sends the user's own lines in the place of the proposed ones. */
    async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
        const saved = Buffer.from(content).toString('utf8');
        const known = this.read.get(uri.toString());
        const hunks = await this.hunksOf(uri);
        const texts = known && editedTexts(known.text, regions(hunks), saved);
        if (!texts) {
            throw vscode.FileSystemError.NoPermissions(
                'Only the proposed lines can be edited here. Edit the rest in the file itself.',
            );
        }
        for (const [hunk, text] of texts) await this.hub.client.execute('edit', { hunk, text });
        this.read.set(uri.toString(), { text: saved, moment: Date.now() });
    }

    readDirectory(): never {
        throw vscode.FileSystemError.NoPermissions();
    }
    createDirectory(): never {
        throw vscode.FileSystemError.NoPermissions();
    }
    delete(): never {
        throw vscode.FileSystemError.NoPermissions();
    }
    rename(): never {
        throw vscode.FileSystemError.NoPermissions();
    }

    private async fetch(uri: vscode.Uri): Promise<{ text: string; moment: number }> {
        const asked = { uri: this.hub.client.spell(fileOf(uri)) };
        const answer = await this.hub.ask<ProposedDocument>('document', asked);
        const before = this.read.get(uri.toString());
        const text = answer?.text ?? '';
        const now = before?.text === text ? before : { text, moment: Date.now() };
        this.read.set(uri.toString(), now);
        return now;
    }

    private async hunksOf(uri: vscode.Uri) {
        const file = this.hub.client.spell(fileOf(uri));
        const hunks = this.hub.store.head.hunks.filter((hunk) => hunk.uri === file);
        return await Promise.all(hunks.map(async (hunk) => {
            const { new: text } = await textsOf(this.hub, hunk);
            const newLines = text.split('\n').length - (text.endsWith('\n') || text === '' ? 1 : 0);
            return { id: hunk.id, line: hunk.line, lines: hunk.lines, newLines };
        }));
    }

    private tellChanged(): void {
        const type = vscode.FileChangeType.Changed;
        const open = vscode.workspace.textDocuments.filter(({ uri, isDirty }) => uri.scheme === PROPOSED && !isDirty);
        for (const { uri } of open) this.read.delete(uri.toString());
        if (open.length > 0) this.emitter.fire(open.map(({ uri }) => ({ type, uri })));
    }
}

/** Texts of a change; of a long one they are asked for. */
export async function textsOf(hub: Hub, hunk: HunkInfo): Promise<HunkTexts> {
    const { old, new: text, diff } = hunk;
    if (typeof old === 'string' && typeof text === 'string' && typeof diff === 'string') return { old, new: text, diff };
    const whole = await hub.ask<HunkTexts>('hunk', { hunk: hunk.id });
    return whole ?? { old: '', new: '', diff: '' };
}

/** Texts to read: whole outputs of calls, both texts of a change that was set aside, nothing. */
export class ReadOnlyTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
    private readonly texts = new Map<string, string>();
    private readonly disposables: vscode.Disposable[];

    constructor() {
        this.disposables = [
            vscode.workspace.registerTextDocumentContentProvider(READ_ONLY, this),
            vscode.workspace.onDidCloseTextDocument(({ uri }) => void this.texts.delete(uri.toString())),
        ];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    /** The URI of this text, under a name that the tab shows. */
    hold(name: string, text: string): vscode.Uri {
        const query = `${this.texts.size}-${Date.now()}`;
        // A slash in a name would be a folder.
        const uri = vscode.Uri.from({ scheme: READ_ONLY, path: `/${name.replace(/[/\\]+/g, ' ').slice(0, 80)}`, query });
        this.texts.set(uri.toString(), text);
        return uri;
    }

    provideTextDocumentContent(uri: vscode.Uri): string {
        return this.texts.get(uri.toString()) ?? '';
    }
}
