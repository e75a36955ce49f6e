// The view of the team: who works on what, and the tasks of its board. A row leads to the conversation of the teammate whose it is.

import * as vscode from 'vscode';
import type { Hub } from '../hub.ts';
import type { BoardTask, TeamMember } from '../protocol.ts';
import { does, inOrder, isOver, isTeammate, LEAD, plain, short, taskState } from '../store/words.ts';

export interface MemberRow {
    member: TeamMember;
}
interface TaskRow {
    task: BoardTask;
}
export type TeamRow = MemberRow | TaskRow | 'tasks';

const STATES: Record<TeamMember['state'], { icon: string; words: string }> = {
    working: { icon: 'circle-filled', words: 'at work' },
    idle: { icon: 'circle-outline', words: 'waiting' },
    shutdown: { icon: 'circle-slash', words: 'ended' },
    gone: { icon: 'debug-disconnect', words: 'gone' },
};
const STATUSES: Record<BoardTask['status'], { icon: string; words: string }> = {
    pending: { icon: 'circle-large-outline', words: 'open' },
    in_progress: { icon: 'arrow-right', words: 'under way' },
    completed: { icon: 'check', words: 'done' },
    failed: { icon: 'error', words: 'failed' },
    cancelled: { icon: 'circle-slash', words: 'cancelled' },
};

export class TeamTree implements vscode.TreeDataProvider<TeamRow>, vscode.Disposable {
    private readonly emitter = new vscode.EventEmitter<void>();
    readonly onDidChangeTreeData = this.emitter.event;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub) {
        this.disposables = [
            this.emitter,
            vscode.window.createTreeView('ropewalk.team', { treeDataProvider: this }),
            hub.onHead((parts) => {
                if (parts.has('team')) void vscode.commands.executeCommand('setContext', 'ropewalk.hasTeam', hub.store.head.team.length > 1);
                if (parts.has('team') || parts.has('board') || parts.has('approvals')) this.emitter.fire();
            }),
        ];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    getChildren(row?: TeamRow): TeamRow[] {
        const { team, board } = this.hub.store.head;
        if (row === 'tasks') return inOrder(board).map((task) => ({ task }));
        if (row) return [];
        return [...team.map((member) => ({ member })), ...(board.length > 0 ? ['tasks' as const] : [])];
    }

    getTreeItem(row: TeamRow): vscode.TreeItem {
        if (row === 'tasks') return this.tasksItem();
        return 'member' in row ? this.memberItem(row) : this.taskItem(row.task);
    }

    private memberItem(row: MemberRow): vscode.TreeItem {
        const { member } = row;
        const { board, approvals } = this.hub.store.head;
        const isLead = member.name === LEAD;
        const asks = !isLead && approvals.some(({ session }) => session === member.session);
        const { icon, words } = STATES[member.state];
        const item = new vscode.TreeItem(isLead ? 'You and the lead' : plain(member.name));
        const used = member.tokens > 0 ? `${short(member.tokens)} tokens` : '';
        const facts = [asks && 'asks you', plain(member.role), does(member, board), used].filter(Boolean);
        item.id = `member ${member.name}`;
        item.description = facts.join(' · ');
        item.iconPath = new vscode.ThemeIcon(asks ? 'shield' : isLead ? 'account' : icon);
        item.accessibilityInformation = { label: [item.label, words, ...facts].join(', ') };
        if (isTeammate(member)) item.contextValue = 'teammate';
        this.leadTo(item, member);
        return item;
    }

    private tasksItem(): vscode.TreeItem {
        const { board } = this.hub.store.head;
        const item = new vscode.TreeItem('Tasks', vscode.TreeItemCollapsibleState.Expanded);
        item.id = 'tasks';
        item.description = `${board.filter(isOver).length} of ${board.length} done`;
        return item;
    }

    private taskItem(task: BoardTask): vscode.TreeItem {
        const { icon, words } = STATUSES[task.status];
        const item = new vscode.TreeItem(`#${task.number} ${plain(task.subject)}`);
        item.id = `task ${task.number}`;
        item.description = taskState(task);
        item.iconPath = new vscode.ThemeIcon(icon);
        item.accessibilityInformation = { label: `${item.label}, ${words}, ${item.description}` };
        const owner = this.hub.store.head.team.find(({ name }) => name === task.owner);
        if (owner) this.leadTo(item, owner);
        return item;
    }

    /** Lets a row lead to the conversation of a member, if that is here. */
    private leadTo(item: vscode.TreeItem, member: TeamMember): void {
        const isHere = member.name === LEAD || this.hub.sessionOf(member) !== undefined;
        if (isHere) item.command = { title: 'Show the Conversation', command: 'ropewalk.ui.teammate', arguments: [{ member }] };
        item.tooltip = [item.label, item.description, isHere ? 'Click: the conversation' : ''].filter(Boolean).join('\n');
    }
}
