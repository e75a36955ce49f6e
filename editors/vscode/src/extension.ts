// Start and end. Commands are registered before anything can fail, so that each of them works or says why it doesn't.

import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { Ask } from './ask.ts';
import { ChatView } from './chat/view.ts';
import { registerCommands } from './commands.ts';
import { configuration } from './client.ts';
import { Hub } from './hub.ts';
import { Keys } from './keys.ts';
import { Memory } from './memory.ts';
import { Notifier } from './notify.ts';
import { Pickers } from './pickers.ts';
import { ProposedFiles, ReadOnlyTexts } from './review/documents.ts';
import { Lenses } from './review/lens.ts';
import { Places } from './review/places.ts';
import { Review } from './review/review.ts';
import { ChangeThread } from './review/thread.ts';
import { Tint } from './review/tint.ts';
import { ChangesTree } from './review/tree.ts';
import { find } from './server.ts';
import { WindowSession } from './sessions.ts';
import { StatusBar } from './status.ts';
import { TeamTalk } from './team/talk.ts';
import { TeamTree } from './team/tree.ts';

let hub: Hub | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<{ hub: Hub; thread: ChangeThread }> {
    const own = new Hub();
    hub = own;
    const keys = new Keys(context.secrets);
    const memory = new Memory(vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, 'memory.json').fsPath);
    const texts = new ReadOnlyTexts();
    const places = new Places(own);
    const thread = new ChangeThread(own, places);
    const ask = new Ask(own, memory);
    const chat = new ChatView(own, ask, texts, context.extensionUri, memory);
    const review = new Review(own, places, thread, texts);
    const pickers = new Pickers(own);
    const session = new WindowSession(own, memory);
    own.restart = async () => {
        await start(own, keys, context);
        if (own.client.isRunning) await session.resume();
    };
    const team = new TeamTalk(own, chat);
    registerCommands(context, { hub: own, keys, ask, chat, review, thread, pickers, team });
    context.subscriptions.push(
        own, session, texts, places, thread, ask, chat, review,
        new ProposedFiles(own),
        new Tint(own, places, context.extensionUri),
        new Lenses(own, places),
        new ChangesTree(own),
        new TeamTree(own),
        new StatusBar(own),
        new Notifier(own, chat),
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration('ropewalk.server.path')) void own.restart();
            else if (event.affectsConfiguration('ropewalk')) own.client.configure();
        }),
        own.onShown(() => void vscode.commands.executeCommand('setContext', 'ropewalk.showsTeammate', own.shown !== null)),
        own.onHead((parts) => {
            if (parts.has('running')) void vscode.commands.executeCommand('setContext', 'ropewalk.isRunning', own.store.head.running !== null);
            if (parts.has('approvals')) void vscode.commands.executeCommand('setContext', 'ropewalk.asks', own.store.head.approvals.length > 0);
        }),
    );
    await own.restart();
    return { hub: own, thread };
}

export async function deactivate(): Promise<void> {
    await hub?.client.stop();
}

/** Finds the server and starts it; what is wrong stands in the chat, in the status bar, and behind every command. */
async function start(own: Hub, keys: Keys, context: vscode.ExtensionContext): Promise<void> {
    own.setHealth({ state: 'starting' });
    const found = await find({
        setting: vscode.workspace.getConfiguration('ropewalk').get<string>('server.path', '').trim(),
        extension: context.extensionPath,
        path: process.env.PATH ?? '',
        version: String(context.extension.packageJSON.version),
        home: homedir(),
    });
    if ('problem' in found) {
        own.log.error(found.problem);
        return own.setHealth({ state: 'problem', words: found.problem, mend: found.mend });
    }
    own.log.info(`server ${found.version} at ${found.path}`, configuration());
    try {
        await own.client.start(found.path, await keys.environment());
    } catch (error) {
        own.log.error(String(error));
        const words = 'The Ropewalk server could not be started. Its log says why.';
        return own.setHealth({ state: 'problem', words, mend: 'restart' });
    }
    if (found.warning) void vscode.window.showWarningMessage(found.warning);
}
