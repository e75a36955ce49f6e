// The language client: one for all folders. Starts the server, takes its events, sends it commands, and starts it again when it dies.

import * as vscode from 'vscode';
import {
    CloseAction,
    ErrorAction,
    LanguageClient,
    type LanguageClientOptions,
    RevealOutputChannelOn,
    State,
    TransportKind,
} from 'vscode-languageclient/node';
import { answerServer } from './answers.ts';
import type { SessionEvent } from './protocol.ts';

/** What this client can do, which the server needs to know. */
const ABILITIES = {
    events: true,
    drawsHunks: true,
    approvals: true,
    threads: true,
    messages: true,
    plugin: true,
    checkedEdits: true,
    knowledge: true,
    team: true,
};

const SELECTOR = ['file', 'untitled', 'vscode-notebook-cell'].map((scheme) => ({ scheme }));

/** The settings that the server takes. All are machine-scoped: a repository can't set them. */
export function configuration(): Record<string, unknown> {
    const settings = vscode.workspace.getConfiguration('ropewalk');
    const all: Record<string, unknown> = {};
    for (const name of ['model', 'mode']) {
        const value = settings.get<string>(name);
        if (value) all[name] = value;
    }
    return all;
}

export interface Listeners {
    event(event: SessionEvent): void;
    state(state: 'starting' | 'running' | 'stopped'): void;
    log: vscode.LogOutputChannel;
}

export class Client {
    private client: LanguageClient | undefined;
    private crashes: number[] = [];

    constructor(private readonly listeners: Listeners) {}

    get isRunning(): boolean {
        return this.client?.state === State.Running;
    }

    /** The server's process, by which it is found among others. */
    get pid(): number | undefined {
        return this.client?.serverProcess?.pid;
    }

    /** Starts the server; the one before is stopped first. */
    async start(program: string, environment: Record<string, string>): Promise<void> {
        await this.stop();
        this.listeners.state('starting');
        const options = { env: { ...process.env, ...environment } };
        const server = { command: program, args: ['lsp'], transport: TransportKind.stdio, options };
        const client = new LanguageClient('ropewalk', 'Ropewalk', server, this.options());
        this.client = client;
        client.onNotification('ropewalk/event', (event: SessionEvent) => this.listeners.event(event));
        answerServer(client);
        client.onDidChangeState(({ newState }) => {
            if (this.client !== client) return;
            this.listeners.state(newState === State.Running ? 'running' : newState === State.Starting ? 'starting' : 'stopped');
        });
        await client.start();
    }

    async stop(): Promise<void> {
        const { client } = this;
        this.client = undefined;
        // One that is just starting, or has died, has nothing to be told.
        if (client) await client.dispose(2000).catch(() => {});
    }

    /** Runs a command of the server's; its answer. Fails in the server's words. */
    async execute<T = unknown>(command: string, argument?: unknown): Promise<T> {
        return await this.request<T>('workspace/executeCommand', {
            command: `ropewalk.${command}`,
            arguments: argument === undefined ? [] : [argument],
        });
    }

    async request<T>(method: string, params: unknown): Promise<T> {
        if (!this.client) throw new Error('Ropewalk is not running.');
        return await this.client.sendRequest<T>(method, params);
    }

    /** The document's URI as the server spells it. */
    spell(uri: vscode.Uri): string {
        return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
    }

    configure(): void {
        void this.client?.sendNotification('workspace/didChangeConfiguration', { settings: configuration() });
    }

    private options(): LanguageClientOptions {
        return {
            documentSelector: SELECTOR,
            outputChannel: this.listeners.log,
            revealOutputChannelOn: RevealOutputChannelOn.Never,
            initializationOptions: { ...configuration(), ...ABILITIES },
            // Progress is drawn in the status bar from the events.
            middleware: { handleWorkDoneProgress: () => {} },
            errorHandler: {
                error: () => ({ action: ErrorAction.Continue, handled: true }),
                closed: () => this.closed(),
            },
        };
    }

    /** Starts a dead server again, but not one that dies over and over. */
    private closed() {
        const now = Date.now();
        this.crashes = [...this.crashes.filter((moment) => now - moment < 180_000), now];
        if (this.crashes.length <= 4) return { action: CloseAction.Restart, handled: true };
        this.listeners.state('stopped');
        return { action: CloseAction.DoNotRestart, handled: true };
    }
}
