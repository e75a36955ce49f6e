// Going to the conversation of a teammate, and ending a teammate: from a row of the team's view, or by a quick pick.

import * as vscode from 'vscode';
import type { ChatView } from '../chat/view.ts';
import type { Hub } from '../hub.ts';
import type { TeamMember } from '../protocol.ts';
import { does, isTeammate, LEAD, plain } from '../store/words.ts';
import type { MemberRow } from './tree.ts';

export class TeamTalk {
    constructor(private readonly hub: Hub, private readonly chat: ChatView) {}

    /** Shows the view of the team. */
    async open(): Promise<void> {
        if (this.hub.store.head.team.length > 1) await vscode.commands.executeCommand('ropewalk.team.focus');
        else this.none();
    }

    /** Shows the conversation of a row's member with the focus left where it is, or of a chosen one with the focus in it. */
    async show(row?: MemberRow): Promise<void> {
        if (!row) return await this.speak();
        if (this.lead(row.member)) await this.chat.reveal();
    }

    /** Shows the conversation of a member, with the focus where words to it are typed. */
    async speak(row?: MemberRow): Promise<void> {
        const { team } = this.hub.store.head;
        const member = row?.member ?? (await this.choose('Conversation', team.filter((one) => one.name === LEAD || this.hub.sessionOf(one))));
        if (member && this.lead(member)) await this.chat.focus();
    }

    /** Ends a teammate, once the user has said so again. */
    async end(row?: MemberRow): Promise<void> {
        const member = row?.member ?? (await this.choose('End a Teammate', this.hub.store.head.team.filter(isTeammate)));
        if (!member) return;
        const name = plain(member.name);
        const end = `End ${name}`;
        const detail = member.task === null ? '' : `Task #${member.task} goes back to the board, for another to do.`;
        const answer = await vscode.window.showWarningMessage(`End ${name}?`, { modal: true, detail }, end);
        if (answer !== end) return;
        if ((await this.hub.run('team', { stop: member.name })) !== undefined) vscode.window.setStatusBarMessage(`${name} was asked to end.`, 4000);
    }

    /** Lets the chat show the conversation of a member; false if that is not here. */
    private lead(member: TeamMember): boolean {
        if (member.name === LEAD) {
            this.hub.show(null);
            return true;
        }
        const session = this.hub.sessionOf(member);
        if (session) this.hub.show({ session, name: member.name });
        else void vscode.window.showInformationMessage(`The conversation of ${plain(member.name)} is not here.`);
        return session !== undefined;
    }

    private async choose(title: string, members: TeamMember[]): Promise<TeamMember | undefined> {
        const { board } = this.hub.store.head;
        if (!members.some(({ name }) => name !== LEAD)) {
            this.none();
            return undefined;
        }
        const rows = members.map((member) => ({
            member,
            label: member.name === LEAD ? 'You and the lead' : plain(member.name),
            description: [plain(member.role), does(member, board)].filter(Boolean).join(' · '),
        }));
        return (await vscode.window.showQuickPick(rows, { title, placeHolder: 'Of the team', matchOnDescription: true }))?.member;
    }

    private none(): void {
        const words = 'No teammate works here. Ask for some: “Create 3 tasks on the board, then spawn alice and bob.”';
        void vscode.window.showInformationMessage(words);
    }
}
