// Quick picks: sessions, models, modes, turns to undo, answers to what waits.

import * as vscode from 'vscode';
import type { Hub } from './hub.ts';
import type { Mode, ModelInfo } from './protocol.ts';
import { answers } from './store/choices.ts';
import { asker, count, short } from './store/words.ts';

const MODES: { mode: Mode; label: string; detail: string }[] = [
    { mode: 'review', label: 'Review', detail: 'Changes wait until you accept them' },
    { mode: 'auto', label: 'Auto', detail: 'Changes go into your text as they are made; each can be undone' },
    { mode: 'plan', label: 'Plan', detail: 'Nothing is changed' },
];

export class Pickers {
    constructor(private readonly hub: Hub) {}

    async mode(): Promise<void> {
        const now = this.hub.store.head.mode;
        const rows = MODES.map((row) => ({ ...row, description: row.mode === now ? 'now' : '' }));
        const chosen = await vscode.window.showQuickPick(rows, { title: 'Mode', placeHolder: 'When changes reach your text' });
        if (chosen) await this.hub.run('mode', { mode: chosen.mode });
    }

    async model(): Promise<void> {
        const asked = this.hub.run<ModelInfo[]>('models');
        const rows = asked.then((models) => (models ?? []).map((model) => ({
            ...model,
            label: `${model.usable ? '$(circle-filled)' : '$(circle-slash)'} ${model.model}`,
            description: model.current ? 'now' : '',
            detail: model.usable ? facts(model) : (model.missing ?? 'not usable'),
        })));
        const chosen = await vscode.window.showQuickPick(rows, { title: 'Model', placeHolder: 'The model that answers', matchOnDetail: true });
        if (!chosen) return;
        if (!chosen.usable) {
            const set = 'Set API Key';
            const answer = await vscode.window.showWarningMessage(chosen.missing ?? 'This model is not usable.', set);
            if (answer === set) await vscode.commands.executeCommand('ropewalk.ui.setKey');
            return;
        }
        await this.hub.run('model', { model: chosen.model });
    }

    async sessions(): Promise<void> {
        const found = await this.hub.sessions();
        const rows = found.filter(({ current }) => !current).map((session) => ({
            ...session,
            label: session.title || 'without a name',
            description: [ago(session.at), count(session.turns, 'turn'), session.pending > 0 ? `${count(session.pending, 'change')} waiting` : ''].filter(Boolean).join(' · '),
            detail: session.inUse ? 'open in another window' : '',
        }));
        if (rows.length === 0) return void vscode.window.showInformationMessage('There is no other conversation in this folder.');
        const chosen = await vscode.window.showQuickPick(rows, { title: 'Conversations', placeHolder: 'Go on with…' });
        if (chosen) await this.hub.run('resume', { session: chosen.session });
    }

    /** Takes back the changes of a turn that were accepted. */
    async undoTurn(turn?: number): Promise<void> {
        const prompts = [...this.hub.store.transcript.items.values()].flatMap((item) =>
            item.kind === 'prompt' && item.how === 'sent' ? [{ turn: item.turn, label: item.text.split('\n')[0] ?? '' }] : []);
        const rows = prompts.reverse().map((row) => ({ ...row, description: `turn ${row.turn}` }));
        const meant = turn ?? (await vscode.window.showQuickPick(rows, { title: 'Undo Turn', placeHolder: 'Take back the accepted changes of…' }))?.turn;
        if (meant !== undefined) await this.hub.run('undo', { turn: meant });
    }

    /** Asks for the answer to the oldest thing that waits. */
    async answer(): Promise<void> {
        const [approval] = this.hub.store.head.approvals;
        if (!approval) {
            if (this.hub.store.head.trust.length > 0) return void vscode.commands.executeCommand('ropewalk.chat.focus');
            vscode.window.setStatusBarMessage('Nothing waits for your answer.', 4000);
            return;
        }
        const placeHolder = approval.detail.split('\n')[0]?.slice(0, 200) ?? '';
        const chosen = await vscode.window.showQuickPick(answers(approval), { title: `${asker(approval)} asks: ${approval.reason}`, placeHolder });
        if (!chosen) return;
        let words: string | undefined;
        if (chosen.answer === 'refuse') {
            words = await vscode.window.showInputBox({ title: 'Refuse', prompt: 'Words for the model. Enter alone refuses without any.' });
            if (words === undefined) return;
        }
        const of = approval.session ? { session: approval.session } : {};
        await this.hub.run('approve', { approval: approval.approval, answer: chosen.answer, ...of, ...(words ? { words } : {}) });
    }

    async menu(): Promise<void> {
        const { health, store: { head } } = this.hub;
        const row = (label: string, command: string, isThere = true) => (isThere ? [{ label, command }] : []);
        const rows = [
            ...row('$(warning) What is wrong', 'mend', health.state === 'problem'),
            ...row('$(shield) Answer…', 'answer', head.approvals.length > 0),
            ...row(`$(diff-multiple) Review ${count(head.hunks.length, 'change')}`, 'next', head.hunks.length > 0),
            ...row('$(debug-stop) Stop', 'stop', head.running !== null),
            ...row('$(comment-discussion) Open the Chat', 'chat'),
            ...row('$(organization) Show the Team', 'team', head.team.length > 1),
            ...row(`$(settings) Mode: ${head.mode ?? 'review'}`, 'mode'),
            ...row(`$(hubot) Model: ${head.model ?? 'none'}`, 'model'),
            ...row('$(history) Conversations…', 'sessions'),
            ...row('$(discard) Undo Turn…', 'undoTurn'),
            ...row('$(key) Set API Key…', 'setKey'),
            ...row('$(output) Show the Log', 'log'),
        ];
        const chosen = await vscode.window.showQuickPick(rows, { title: 'Ropewalk' });
        if (chosen) await vscode.commands.executeCommand(`ropewalk.ui.${chosen.command}`);
    }
}

function facts({ context, price }: ModelInfo): string {
    const size = context ? `${short(context)} tokens` : '';
    const cost = price ? `$${price.input} in, $${price.output} out per million` : '';
    return [size, cost].filter(Boolean).join(' · ');
}

function ago(at: number): string {
    const minutes = Math.max(0, Math.round((Date.now() - at) / 60_000));
    if (minutes < 1) return 'just now';
    if (minutes < 60) return `${minutes} min ago`;
    if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h ago`;
    return `${Math.round(minutes / 1440)} days ago`;
}
