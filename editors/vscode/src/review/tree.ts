// The list of all changes that wait, of every kind, by file.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { HunkInfo } from '../protocol.ts';
import { changesInFiles, madeBy, plain } from '../store/words.ts';
import { summary } from './lens.ts';

export interface FileRow {
    uri: string;
    hunks: HunkInfo[];
}
export interface ChangeRow {
    hunk: HunkInfo;
}
export type Row = FileRow | ChangeRow;

const ICONS: Record<HunkInfo['kind'], string> = {
    text: 'edit',
    create: 'diff-added',
    delete: 'diff-removed',
    rename: 'diff-renamed',
    binary: 'file-binary',
    mode: 'lock',
    link: 'link',
};

export class ChangesTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
    private readonly emitter = new vscode.EventEmitter<void>();
    readonly onDidChangeTreeData = this.emitter.event;
    private readonly view: vscode.TreeView<Row>;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub) {
        this.view = vscode.window.createTreeView('ropewalk.changes', { treeDataProvider: this, showCollapseAll: true });
        this.disposables = [
            this.emitter,
            this.view,
            hub.onHead((parts) => {
                if (parts.has('hunks')) this.refresh();
            }),
        ];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    getChildren(row?: Row): Row[] {
        const { hunks } = this.hub.store.head;
        if (!row) {
            const uris = [...new Set(hunks.map(({ uri }) => uri))];
            return uris.map((uri) => ({ uri, hunks: hunks.filter((hunk) => hunk.uri === uri) }));
        }
        return 'hunks' in row && row.hunks.length > 1 ? row.hunks.map((hunk) => ({ hunk })) : [];
    }

    getTreeItem(row: Row): vscode.TreeItem {
        return 'hunks' in row ? this.fileItem(row) : this.changeItem(row.hunk);
    }

    private fileItem({ uri, hunks }: FileRow): vscode.TreeItem {
        const [first] = hunks;
        const isOne = hunks.length === 1 && first;
        const state = isOne ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Expanded;
        const item = new vscode.TreeItem(plain(first?.file ?? uri), state);
        item.resourceUri = vscode.Uri.parse(uri, true);
        item.iconPath = isOne ? new vscode.ThemeIcon(ICONS[first.kind]) : vscode.ThemeIcon.File;
        item.contextValue = 'file';
        item.description = isOne ? facts(first) : `${hunks.length} changes`;
        if (first) item.command = { title: 'Show', command: 'ropewalk.ui.open', arguments: [first.id] };
        item.accessibilityInformation = { label: `${first?.file}, ${item.description}` };
        return item;
    }

    private changeItem(hunk: HunkInfo): vscode.TreeItem {
        const item = new vscode.TreeItem(`Line ${hunk.line + 1}`);
        item.description = `${facts(hunk)}  ${plain((hunk.new ?? '').trim().split('\n')[0] ?? '').slice(0, 80)}`;
        item.iconPath = new vscode.ThemeIcon(ICONS[hunk.kind]);
        item.contextValue = 'change';
        item.command = { title: 'Show', command: 'ropewalk.ui.open', arguments: [hunk.id] };
        return item;
    }

    private refresh(): void {
        const { hunks } = this.hub.store.head;
        this.emitter.fire();
        const tooltip = `${changesInFiles(hunks.map(({ file }) => file))} wait for review`;
        this.view.badge = hunks.length > 0 ? { value: hunks.length, tooltip } : undefined;
        void vscode.commands.executeCommand('setContext', 'ropewalk.hasChanges', hunks.length > 0);
    }
}

/** How much a change is, and whose: `−1 +2 · task #3, alice`. */
function facts(hunk: HunkInfo): string {
    return [summary(hunk), plain(madeBy(hunk))].filter(Boolean).join(' · ');
}
