// The line above a change: accept, reject, edit, diff, and which change of how many it is.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo } from '../protocol.ts';
import { madeBy } from '../store/words.ts';
import type { Places } from './places.ts';

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
    private readonly emitter = new vscode.EventEmitter<void>();
    readonly onDidChangeCodeLenses = this.emitter.event;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub, private readonly places: Places) {
        const schemes = ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme }));
        this.disposables = [
            this.emitter,
            places.onChange(() => this.emitter.fire()),
            hub.onHead((parts) => {
                if (parts.has('published')) this.emitter.fire();
            }),
            vscode.languages.registerCodeLensProvider(schemes, this),
        ];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
        const total = this.hub.store.head.hunks.length;
        const proposed = this.places.of(document).flatMap(({ hunk, range, index }) => {
            const at = new vscode.Range(range.start, range.start);
            const lens = (title: string, command: string, tooltip: string) =>
                new vscode.CodeLens(at, { title, command: `ropewalk.ui.${command}`, tooltip, arguments: [hunk.id] });
            return [
                lens(`$(check) ${accept(hunk)}`, 'accept', 'Put the proposed lines into your text'),
                lens('$(x) Reject', 'reject', 'Drop this change; a reason can be given'),
                ...(hunk.kind === 'text' || hunk.kind === 'create'
                    ? [lens('$(edit) Edit', 'edit', 'Change the proposed lines first; saving takes them')]
                    : []),
                lens('$(diff) Diff', 'diff', 'Show both texts beside each other'),
                lens([summary(hunk), madeBy(hunk), `change ${index}/${total}`].filter(Boolean).join(' · '), 'open', 'Show the change below its lines'),
            ];
        });
        return [...proposed, ...this.published(document)];
    }

    private published(document: vscode.TextDocument): vscode.CodeLens[] {
        const { head } = this.hub.store;
        if (head.mode !== 'auto') return [];
        const spelled = this.hub.client.spell(document.uri);
        return head.published
            .filter(({ uri, range }) => uri === spelled && range)
            .map(({ hunk, range }) => new vscode.CodeLens(new vscode.Range(range.start.line, 0, range.start.line, 0), {
                title: '$(discard) Undo this change',
                command: 'ropewalk.ui.undo',
                arguments: [hunk],
            }));
    }
}

function accept(hunk: HunkInfo): string {
    switch (hunk.kind) {
        case 'create':
            return 'Accept new file';
        case 'delete':
            return 'Accept: delete this file';
        case 'rename':
            return 'Accept: move this file';
        default:
            return 'Accept';
    }
}

/** `−1 +2`, as counted from the texts; words where they say more. */
export function summary(hunk: HunkInfo): string {
    const lines = (text: string | null) => (text ? text.split('\n').length - (text.endsWith('\n') ? 1 : 0) : 0);
    if (hunk.kind === 'text' || hunk.kind === 'create') {
        return hunk.new === null ? 'a long change' : `−${hunk.lines} +${lines(hunk.new)}`;
    }
    const words: Partial<Record<HunkInfo['kind'], string>> = {
        delete: 'deletes the file',
        rename: 'moves the file',
        binary: 'not a text',
        mode: 'changes permissions',
        link: 'changes a link',
    };
    return words[hunk.kind] ?? hunk.kind;
}
