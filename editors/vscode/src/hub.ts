// What the parts of the extension share: the store with its news, the client, and commands of the server in the user's words when they fail.

import * as vscode from 'vscode';
import { Client } from './client.ts';
import type { HunkInfo, SessionEvent, SessionHistory, SessionInfo } from './protocol.ts';
import type { TranscriptChange } from './store/items.ts';
import type { SessionHead } from './store/state.ts';
import { type Outcome, Store } from './store/store.ts';

/** How the server is, and what the user can do about it. */
export type Health =
    | { state: 'starting' | 'running' }
    | { state: 'problem'; words: string; mend: 'settings' | 'install' | 'restart' };

/** A conversation that could be gone on with. */
export interface Offer {
    session: string;
    title: string;
    /** When it was last used, in milliseconds since 1970. */
    at: number;
}

export class Hub implements vscode.Disposable {
    readonly store = new Store();
    readonly client: Client;
    readonly log: vscode.LogOutputChannel;
    health: Health = { state: 'starting' };
    offer: Offer | undefined;
    /** Looks for the server again and starts it; set by the extension. */
    restart: () => Promise<void> = async () => {};

    private readonly headEmitter = new vscode.EventEmitter<ReadonlySet<keyof SessionHead>>();
    private readonly changeEmitter = new vscode.EventEmitter<TranscriptChange[]>();
    private readonly eventEmitter = new vscode.EventEmitter<SessionEvent>();
    private readonly healthEmitter = new vscode.EventEmitter<Health>();
    /** Parts of the head are another now. */
    readonly onHead = this.headEmitter.event;
    /** The conversation has changed. */
    readonly onChanges = this.changeEmitter.event;
    /** An event has come, and the store has it. */
    readonly onEvent = this.eventEmitter.event;
    readonly onHealth = this.healthEmitter.event;

    constructor() {
        this.log = vscode.window.createOutputChannel('Ropewalk', { log: true });
        this.client = new Client({
            event: (event) => this.take(event),
            state: (state) => this.serverIs(state),
            log: this.log,
        });
    }

    /** Runs a command of the server's; a failure is shown to the user, and gives undefined. */
    async run<T = unknown>(command: string, argument?: unknown): Promise<T | undefined> {
        try {
            return await this.client.execute<T>(command, argument);
        } catch (error) {
            this.complain(error);
            return undefined;
        }
    }

    /** As `run`, for requests beside commands. */
    async ask<T>(method: string, params: unknown): Promise<T | undefined> {
        try {
            return await this.client.request<T>(`ropewalk/${method}`, params);
        } catch (error) {
            this.log.warn(`${method}: ${String(error)}`);
            return undefined;
        }
    }

    /** Other conversations of the open folders. */
    async sessions(): Promise<SessionInfo[]> {
        return await this.client.execute<SessionInfo[]>('sessions');
    }

    complain(error: unknown): void {
        const words = error instanceof Error ? error.message : String(error);
        void vscode.window.showErrorMessage(words);
    }

    setHealth(health: Health): void {
        this.health = health;
        this.healthEmitter.fire(health);
    }

    setOffer(offer: Offer | undefined): void {
        this.offer = offer;
        this.headEmitter.fire(new Set());
    }

    /** A waiting prompt was taken back. */
    unqueued(turn: number): void {
        this.publish(this.store.unqueued(turn));
    }

    trusted(root: string): void {
        this.publish(this.store.trusted(root));
    }

    /** The change with this id, if it still waits. */
    hunk(id: number): HunkInfo | undefined {
        return this.store.head.hunks.find((hunk) => hunk.id === id);
    }

    dispose(): void {
        void this.client.stop();
        this.log.dispose();
        for (const emitter of [this.headEmitter, this.changeEmitter, this.eventEmitter, this.healthEmitter]) emitter.dispose();
    }

    private take(event: SessionEvent): void {
        if (event.member) return this.takeOfTeammate(event);
        const { session } = this.store.head;
        if (event.type === 'session_started') this.offer = undefined;
        this.publish(this.store.apply(event));
        this.eventEmitter.fire(event);
        if (event.type === 'session_started' && event.turns > 0 && event.session !== session) void this.restoreHistory();
    }

    /** Of a teammate only questions are news. */
    private takeOfTeammate(event: SessionEvent): void {
        this.publish(this.store.apply(event));
        if (event.type === 'approval_requested') this.eventEmitter.fire(event);
    }

    /** What was said in a session that goes on. */
    private async restoreHistory(): Promise<void> {
        const { session } = this.store.head;
        const history = await this.ask<SessionHistory>('history', { turns: 20 });
        if (!history || this.store.head.session !== session) return;
        this.publish(this.store.restore(history.turns));
    }

    private publish({ changes, head }: Outcome): void {
        if (changes.length > 0) this.changeEmitter.fire(changes);
        if (head.size > 0) this.headEmitter.fire(head);
    }

    private serverIs(state: 'starting' | 'running' | 'stopped'): void {
        if (state === 'stopped') {
            this.publish(this.store.forget());
            const words = 'The Ropewalk server has stopped. Its log says why.';
            this.setHealth({ state: 'problem', words, mend: 'restart' });
        } else {
            this.setHealth({ state });
        }
    }
}
