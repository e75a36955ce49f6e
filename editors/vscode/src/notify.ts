// Telling the user of what waits when they don't see the chat. Nothing here takes the focus, and no key typed elsewhere answers.

import * as vscode from 'vscode';
import type { ChatView } from './chat/view.ts';
import type { Hub } from './hub.ts';
import type { SessionEvent } from './protocol.ts';
import { asker, ended } from './store/words.ts';

/** A turn shorter than this needs no word at its end, in milliseconds. */
const LONG = 10_000;

export class Notifier implements vscode.Disposable {
    private began = 0;
    private readonly disposables: vscode.Disposable[];

    constructor(private readonly hub: Hub, private readonly chat: ChatView) {
        this.disposables = [hub.onEvent((event) => this.hear(event))];
    }

    dispose(): void {
        for (const one of this.disposables) one.dispose();
    }

    private hear(event: SessionEvent): void {
        switch (event.type) {
            case 'turn_started':
                this.began = Date.now();
                return;
            case 'approval_requested':
                return void this.asked(asker(event), event.tool, event.reason);
            case 'trust_requested':
                return void this.trustAsked(event.question);
            case 'turn_ended':
                return this.turnEnded(event);
            case 'notice':
                return this.notice(event);
            case 'reviewed':
                for (const failed of event.failed) void vscode.window.showWarningMessage(failed);
                return;
            case 'set_aside':
                return void this.displaced(event.file);
        }
    }

    private get isSeen(): boolean {
        return this.chat.isVisible && vscode.window.state.focused;
    }

    private async asked(who: string, tool: string, reason: string): Promise<void> {
        if (this.isSeen) return;
        const answer = 'Answer…';
        const chosen = await vscode.window.showWarningMessage(`${who} asks to run ${tool}: ${reason}`, answer);
        if (chosen === answer) await vscode.commands.executeCommand('ropewalk.ui.answer');
    }

    private async trustAsked(question: string): Promise<void> {
        if (this.isSeen) return;
        const answer = 'Answer…';
        if ((await vscode.window.showWarningMessage(question, answer)) === answer) await this.chat.focus();
    }

    private async displaced(file: string): Promise<void> {
        if (this.isSeen) return;
        const show = 'Show';
        const words = `You typed into a proposed change of ${file}: your text stays, the change no longer waits.`;
        if ((await vscode.window.showInformationMessage(words, show)) === show) await this.chat.focus();
    }

    private turnEnded(event: Extract<SessionEvent, { type: 'turn_ended' }>): void {
        const failed = event.stopReason === 'error';
        if (this.isSeen || (!failed && (vscode.window.state.focused || Date.now() - this.began < LONG))) return;
        const words = `Ropewalk: ${ended(event.stopReason, event.message, null)}`;
        if (failed) void vscode.window.showErrorMessage(words);
        else void vscode.window.showInformationMessage(words);
    }

    private notice({ level, message }: Extract<SessionEvent, { type: 'notice' }>): void {
        if (this.chat.isVisible) return;
        if (level === 'error') void vscode.window.showErrorMessage(message);
        else if (level === 'warning') void vscode.window.showWarningMessage(message);
        else vscode.window.setStatusBarMessage(message.split('\n')[0] ?? '', 6000);
        this.hub.log.info(message);
    }
}
