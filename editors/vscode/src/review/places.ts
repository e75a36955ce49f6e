// Where each proposed change stands in the open documents: as the server told for the document's version, moved with typing since.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo } from '../protocol.ts';
import { type LineRange, movedBy } from './marks.ts';

export interface Placed {
    hunk: HunkInfo;
    range: vscode.Range;
    /** Which of all changes it is, from one. */
    index: number;
}

export class Places implements vscode.Disposable {
    private marks = new Map<number, LineRange>();
    private readonly disposables: vscode.Disposable[] = [];
    private readonly emitter = new vscode.EventEmitter<void>();
    /** Changes have come, gone or moved. */
    readonly onChange = this.emitter.event;

    constructor(private readonly hub: Hub) {
        this.disposables.push(
            this.emitter,
            hub.onHead((parts) => {
                if (parts.has('hunks')) this.take();
            }),
            vscode.workspace.onDidChangeTextDocument((event) => this.follow(event)),
        );
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    /** All changes of a document that stand at lines, in order. */
    of(document: vscode.TextDocument): Placed[] {
        const spelled = this.hub.client.spell(document.uri);
        return this.hub.store.head.hunks.flatMap((hunk, at) => {
            const mark = this.marks.get(hunk.id);
            if (!mark || hunk.uri !== spelled) return [];
            return [{ hunk, range: rangeOf(mark, document), index: at + 1 }];
        });
    }

    /** Where a change stands in its document. */
    find(hunk: HunkInfo, document: vscode.TextDocument): vscode.Range {
        const mark = this.marks.get(hunk.id) ?? { line: hunk.line, lines: hunk.lines };
        return rangeOf(mark, document);
    }

    private take(): void {
        const before = this.marks;
        this.marks = new Map();
        for (const hunk of this.hub.store.head.hunks) {
            const told = { line: hunk.range?.start.line ?? hunk.line, lines: hunk.lines };
            const document = vscode.workspace.textDocuments.find((one) => this.hub.client.spell(one.uri) === hunk.uri);
            const isStale = document && typeof hunk.version === 'number' && hunk.version !== document.version;
            // What is told for another version is late: the next word is under way, and marks are right until then.
            this.marks.set(hunk.id, (isStale && before.get(hunk.id)) || told);
        }
        this.emitter.fire();
    }

    private follow({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
        if (contentChanges.length === 0) return;
        const spelled = this.hub.client.spell(document.uri);
        let isHit = false;
        for (const hunk of this.hub.store.head.hunks) {
            const mark = this.marks.get(hunk.id);
            if (!mark || hunk.uri !== spelled) continue;
            this.marks.set(hunk.id, movedBy(mark, contentChanges));
            isHit = true;
        }
        if (isHit) this.emitter.fire();
    }
}

function rangeOf({ line, lines }: LineRange, document: vscode.TextDocument): vscode.Range {
    const first = Math.min(line, document.lineCount - 1);
    if (lines === 0) return new vscode.Range(first, 0, first, 0);
    const last = Math.min(line + lines, document.lineCount) - 1;
    return new vscode.Range(first, 0, last, document.lineAt(last).text.length);
}
