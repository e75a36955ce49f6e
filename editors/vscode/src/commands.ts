// Every command of the palette. Their names differ from the server's, which VS Code registers for everybody.

import * as vscode from 'vscode';
import type { Ask } from './ask.ts';
import type { ChatView } from './chat/view.ts';
import type { Hub } from './hub.ts';
import type { Keys } from './keys.ts';
import type { RewoundTurn } from './protocol.ts';
import type { Pickers } from './pickers.ts';
import type { Review, Target } from './review/review.ts';
import type { ChangeThread } from './review/thread.ts';
import type { FileRow } from './review/tree.ts';
import type { TeamTalk } from './team/talk.ts';
import type { MemberRow } from './team/tree.ts';

export interface Parts {
    hub: Hub;
    keys: Keys;
    ask: Ask;
    chat: ChatView;
    review: Review;
    thread: ChangeThread;
    pickers: Pickers;
    team: TeamTalk;
}

/** Commands that work without a server. */
const WITHOUT_SERVER = new Set(['chat', 'setKey', 'mend', 'menu', 'log', 'restart', 'askCancel', 'closeThread']);

export function registerCommands(context: vscode.ExtensionContext, parts: Parts): void {
    const { hub } = parts;
    for (const [name, run] of Object.entries({ ...ofReview(parts), ...ofConversation(parts), ...ofTeam(parts), ...ofServer(parts) })) {
        const guarded = async (...given: never[]) => {
            if (hub.health.state === 'problem' && !WITHOUT_SERVER.has(name)) return await mend(hub);
            try {
                await run(...given);
            } catch (error) {
                hub.complain(error);
            }
        };
        context.subscriptions.push(vscode.commands.registerCommand(`ropewalk.ui.${name}`, guarded));
    }
}

type Commands = Record<string, (...given: never[]) => unknown>;

function ofReview({ hub, review, thread }: Parts): Commands {
    const open = async (id: number) => {
        const hunk = hub.hunk(id);
        if (hunk) await review.show(hunk);
    };
    const fileOf = (row: FileRow | undefined) => {
        const { activeTextEditor } = vscode.window;
        const uri = row?.uri ?? (activeTextEditor && hub.client.spell(activeTextEditor.document.uri));
        return { uri: uri ?? '' };
    };
    return {
        next: () => review.step(true),
        previous: () => review.step(false),
        open,
        accept: (target: Target) => review.accept(target),
        reject: (target: Target) => review.reject(target),
        rejectWithReason: (target: Target) => review.rejectWithReason(target),
        edit: (target: Target) => review.edit(target),
        diff: (target: Target) => review.diff(target),
        diffAll: () => review.diffAll(),
        review: () => review.step(true),
        acceptFile: (row?: FileRow) => review.acceptAll(fileOf(row)),
        rejectFile: (row?: FileRow) => review.rejectAll(fileOf(row)),
        acceptAll: () => review.acceptAll({ all: true }),
        rejectAll: () => review.rejectAll({ all: true }),
        undo: (hunk: number) => review.undo(hunk),
        closeThread: () => thread.leave(),
    };
}

function ofConversation({ hub, ask, chat, pickers }: Parts): Commands {
    return {
        ask: () => ask.start(),
        askSend: (comment: vscode.Comment) => ask.send(comment),
        askCancel: () => ask.leave(),
        chat: () => chat.focus(),
        stop: () => hub.run('interrupt', {}),
        new: async () => {
            await hub.run('new');
            await chat.focus();
        },
        sessions: () => pickers.sessions(),
        mode: () => pickers.mode(),
        model: () => pickers.model(),
        answer: () => pickers.answer(),
        undoTurn: (turn?: number) => pickers.undoTurn(typeof turn === 'number' ? turn : undefined),
        compact: () => hub.run('compact', {}),
        export: () => hub.run('export', hub.current.member ? { member: hub.current.member } : {}),
        rewind: async () => {
            const answer = await hub.run<RewoundTurn>('rewind', {});
            if (answer) chat.offer(answer.prompt);
        },
    };
}

function ofTeam({ team }: Parts): Commands {
    return {
        team: () => team.open(),
        teammate: (row?: MemberRow) => team.show(row),
        speak: (row?: MemberRow) => team.speak(row),
        endTeammate: (row?: MemberRow) => team.end(row),
    };
}

function ofServer({ hub, keys, pickers }: Parts): Commands {
    return {
        menu: () => pickers.menu(),
        setKey: async () => {
            if (await keys.ask()) await hub.restart();
        },
        restart: () => hub.restart(),
        log: () => hub.log.show(),
        rules: () => hub.run('rules'),
        mend: () => mend(hub),
    };
}

/** Says what is wrong with the server and offers what mends it. */
async function mend(hub: Hub): Promise<void> {
    const { health } = hub;
    if (health.state !== 'problem') return;
    const again = 'Try Again';
    const log = 'Show the Log';
    const first = { settings: 'Open Settings', install: 'Set the Path', restart: log }[health.mend];
    const chosen = await vscode.window.showErrorMessage(health.words, first, again);
    if (chosen === again) await hub.restart();
    else if (chosen === log) hub.log.show();
    else if (chosen) await vscode.commands.executeCommand('workbench.action.openSettings', 'ropewalk.server.path');
}
