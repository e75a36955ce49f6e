// What the parts of the extension share: the store with its news, the client, and commands of the server in the user's words when they fail.

import * as vscode from 'vscode';
import { Client } from './client.ts';
import type { HunkInfo, SessionEvent, SessionHistory, SessionInfo, TeamMember } from './protocol.ts';
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
    /** The session of the teammate whose conversation the chat shows; null for the user's own. */
    shown: string | null = null;
    /** Looks for the server again and starts it; set by the extension. */
    restart: () => Promise<void> = async () => {};

    private readonly headEmitter = new vscode.EventEmitter<ReadonlySet<keyof SessionHead>>();
    private readonly changeEmitter = new vscode.EventEmitter<TranscriptChange[]>();
    private readonly eventEmitter = new vscode.EventEmitter<SessionEvent>();
    private readonly healthEmitter = new vscode.EventEmitter<Health>();
    private readonly shownEmitter = new vscode.EventEmitter<void>();
    /** Teammates whose earlier turns were asked for. */
    private readonly restored = new WeakSet<Store>();
    /** Parts of the head are another now; none of them where it is something that is drawn with it. */
    readonly onHead = this.headEmitter.event;
    /** Another conversation is shown. */
    readonly onShown = this.shownEmitter.event;
    /** The conversation that is shown has changed. */
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

    /** A waiting prompt of a conversation was taken back. */
    unqueued(store: Store, turn: number): void {
        this.publish(store.unqueued(turn), store);
    }

    /** A conversation: of a teammate by its session, else the user's own. */
    conversation(session: string | null): Store | undefined {
        return session === null ? this.store : this.store.teammates.get(session);
    }

    /** The conversation that is shown. */
    get current(): Store {
        return this.conversation(this.shown) ?? this.store;
    }

    /** The session of a member's conversation, if that can be shown: of one that has ended too, as long as it is known here. */
    sessionOf({ name, session }: Pick<TeamMember, 'name' | 'session'>): string | undefined {
        return session ?? [...this.store.teammates].reverse().find(([, { member }]) => member === name)?.[0];
    }

    /** Lets the chat show the conversation of a teammate, or the user's own. */
    show(teammate: { session: string; name: string } | null): void {
        const store = teammate && this.store.teammate(teammate.session, teammate.name);
        this.shown = teammate?.session ?? null;
        this.shownEmitter.fire();
        if (!store || store.isWhole || this.restored.has(store)) return;
        this.restored.add(store);
        void this.restoreHistory(store);
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
        for (const emitter of [this.headEmitter, this.shownEmitter, this.changeEmitter, this.eventEmitter, this.healthEmitter]) emitter.dispose();
    }

    private take(event: SessionEvent): void {
        const { session } = this.store.head;
        const isOwn = !event.member;
        if (isOwn && event.type === 'session_started') this.offer = undefined;
        this.publish(this.store.apply(event));
        // Of a teammate only questions are news; the rest stands in its conversation.
        if (isOwn || event.type === 'approval_requested') this.eventEmitter.fire(event);
        if (!isOwn || event.type !== 'session_started') return;
        if (this.shown !== null && !this.store.teammates.has(this.shown)) this.show(null);
        if (event.turns > 0 && event.session !== session) void this.restoreHistory(this.store);
    }

    /** What was said before in a conversation that goes on. */
    private async restoreHistory(store: Store): Promise<void> {
        const { session } = store.head;
        const before = store.firstTurn;
        const history = await this.ask<SessionHistory>('history', { session, turns: 20, ...(before ? { before } : {}) });
        if (!history) this.restored.delete(store);
        else if (store.head.session === session) this.publish(store.restore(history.turns), store);
    }

    /** Tells those who draw what has changed in a conversation. */
    private publish({ changes, head, teammates }: Outcome, store = this.store): void {
        if (changes.length > 0 && store === this.current) this.changeEmitter.fire(changes);
        if (head.size > 0 && store === this.store) this.headEmitter.fire(head);
        else if (head.size > 0 && store === this.current) this.headEmitter.fire(new Set());
        for (const [session, outcome] of teammates) {
            const own = this.store.teammates.get(session);
            if (own) this.publish(outcome, own);
        }
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
