// The tint of lines that a change would replace, and of lines that mode `auto` has just put in. Every tint has a border or an icon
// beside its colour, since high contrast shows no background.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import { fenced } from './fence.ts';
import type { Places } from './places.ts';

const OLD = 'diffEditor.removedLineBackground';
const NEW = 'diffEditor.insertedLineBackground';

export class Tint implements vscode.Disposable {
    private readonly replaced: vscode.TextEditorDecorationType;
    private readonly inserted: vscode.TextEditorDecorationType;
    private readonly published: vscode.TextEditorDecorationType;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub, private readonly places: Places, extension: vscode.Uri) {
        const icon = (name: string) => vscode.Uri.joinPath(extension, 'media', name);
        const ruler = vscode.OverviewRulerLane.Left;
        const common = { isWholeLine: true, overviewRulerLane: ruler, gutterIconSize: 'contain' };
        this.replaced = vscode.window.createTextEditorDecorationType({
            ...common,
            backgroundColor: new vscode.ThemeColor(OLD),
            borderStyle: 'dashed',
            borderWidth: '0 0 0 2px',
            borderColor: new vscode.ThemeColor('editorGutter.deletedBackground'),
            overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.deletedForeground'),
            gutterIconPath: icon('change.svg'),
        });
        this.inserted = vscode.window.createTextEditorDecorationType({
            ...common,
            borderStyle: 'dashed',
            borderWidth: '2px 0 0 0',
            borderColor: new vscode.ThemeColor('editorGutter.addedBackground'),
            overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.addedForeground'),
            gutterIconPath: icon('insert.svg'),
        });
        this.published = vscode.window.createTextEditorDecorationType({
            ...common,
            backgroundColor: new vscode.ThemeColor(NEW),
            borderStyle: 'solid',
            borderWidth: '0 0 0 2px',
            borderColor: new vscode.ThemeColor('editorGutter.addedBackground'),
        });
        this.disposables = [
            this.replaced,
            this.inserted,
            this.published,
            places.onChange(() => this.drawAll()),
            hub.onHead((parts) => {
                if (parts.has('published') || parts.has('mode')) this.drawAll();
            }),
            vscode.window.onDidChangeVisibleTextEditors(() => this.drawAll()),
        ];
        this.drawAll();
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    private drawAll(): void {
        for (const editor of vscode.window.visibleTextEditors) this.draw(editor);
    }

    private draw(editor: vscode.TextEditor): void {
        const { document } = editor;
        const placed = this.places.of(document);
        const of = (wanted: (lines: number, kind: string) => boolean) =>
            placed.filter(({ hunk }) => wanted(hunk.lines, hunk.kind)).map(({ hunk, range }) => ({
                range,
                hoverMessage: preview(hunk.new),
            }));
        editor.setDecorations(this.replaced, of((lines, kind) => lines > 0 && kind === 'text'));
        editor.setDecorations(this.inserted, of((lines, kind) => lines === 0 || kind !== 'text'));
        editor.setDecorations(this.published, this.publishedIn(document));
    }

    private publishedIn(document: vscode.TextDocument): vscode.Range[] {
        const { head } = this.hub.store;
        if (head.mode !== 'auto') return [];
        const spelled = this.hub.client.spell(document.uri);
        return head.published
            .filter(({ uri, range }) => uri === spelled && range && range.end.line < document.lineCount)
            .map(({ range }) => new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character));
    }
}

/** The new text for the pointer: in a fence longer than any inside, so that nothing in it is drawn. */
function preview(text: string | null): vscode.MarkdownString {
    const words = new vscode.MarkdownString('Proposed · not in your file yet\n');
    return words.appendMarkdown(fenced(text ?? '(long: open the diff)', ''));
}
