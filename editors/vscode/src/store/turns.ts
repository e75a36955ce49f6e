// The events of turns → items of the conversation: prompts, words, thoughts, calls with their output, subagents, ends.

import type { SessionEvent } from '../protocol.ts';
import type { CallItem, Item, TranscriptChange } from './items.ts';
import { freshId } from './notices.ts';
import { emptyHead, type SessionHead } from './state.ts';
import { ended, place } from './words.ts';

/** The store as a writer of turns reads and changes it. */
export interface StoreAccess {
    change(change: TranscriptChange): void;
    item(id: string): Item | undefined;
    items(): Iterable<Item>;
    head(): SessionHead;
    set(part: Partial<SessionHead>): void;
    now(): number;
    /** The teammate whose conversation it is; undefined for the user's own. */
    member: string | undefined;
}

type Event<T extends SessionEvent['type']> = Extract<SessionEvent, { type: T }>;

export class TurnWriter {
    /** The open text or thought of each thread: what the next delta goes to. */
    private readonly open = new Map<string, string>();
    /** What each turn has used so far, its subagents included once they have ended. */
    private readonly spent = new Map<number, { input: number; output: number; cost: number | null }>();
    /** Turns that have put something into the files. */
    private readonly published = new Set<number>();

    private readonly store: StoreAccess;
    private readonly isLive: boolean;

    constructor(store: StoreAccess, isLive = true) {
        this.store = store;
        this.isLive = isLive;
    }

    /** A writer of finished turns: nothing runs or waits that they could change or count, and no time is known. */
    apart(): TurnWriter {
        return new TurnWriter({ ...this.store, head: emptyHead, set: () => {}, now: () => 0 }, false);
    }

    /** Another session begins, or the same one anew: what is known of turns by their numbers is of the one before. */
    forget(): void {
        this.open.clear();
        this.spent.clear();
        this.published.clear();
    }

    /** The server has died: the running turn goes no further. */
    cut(turn: number): void {
        this.end({ type: 'turn_ended', turn, stopReason: 'interrupted', message: null });
    }

    /** A call waits for the user's answer, or has it. */
    asks(question: Event<'approval_requested'>, isAsking: boolean): void {
        const item = this.store.item(callId(question));
        if (item?.kind !== 'call') return;
        if (isAsking && item.state === 'running') this.put({ ...item, state: 'asks' });
        if (!isAsking && item.state === 'asks') this.put({ ...item, state: 'running' });
    }

    /** True if the event was one of a turn's. */
    apply(event: SessionEvent): boolean {
        return this.ofTurn(event) || this.ofCall(event) || this.ofWords(event);
    }

    private ofTurn(event: SessionEvent): boolean {
        switch (event.type) {
            case 'turn_started':
                this.begin(event);
                return true;
            case 'turn_ended':
                this.end(event);
                return true;
            case 'rewound':
                this.rewind(event.turn);
                return true;
            case 'thread':
                this.agent(event);
                return true;
            case 'published':
                this.publish(event);
                return true;
            case 'usage':
                // A subagent's are its own totals; the session's are told again when it has ended.
                if (!event.thread) this.usage(event);
                return true;
            case 'compacting':
                if (!event.thread) this.doing('summing up');
                return true;
            case 'waiting':
                if (!event.thread) this.doing(event.isQueued ? 'in line' : 'waiting for the model');
                return true;
            default:
                return false;
        }
    }

    private ofWords(event: SessionEvent): boolean {
        switch (event.type) {
            case 'step_started':
                this.settle(event.thread);
                if (!event.thread) this.doing('thinking', event.turn);
                return true;
            case 'text_delta':
                this.delta(event, 'text');
                return true;
            case 'thinking_delta':
                this.delta(event, 'thinking');
                return true;
            case 'retrying':
                this.retry(event);
                return true;
            case 'steered': {
                const item = { id: freshId('steer'), turn: event.turn, kind: 'prompt', text: event.text, how: 'joined' } as const;
                this.put({ ...item, ...threadOf(event), ...this.to() });
                return true;
            }
            default:
                return false;
        }
    }

    private ofCall(event: SessionEvent): boolean {
        switch (event.type) {
            case 'tool_call':
                this.call(event);
                return true;
            case 'tool_output':
                this.store.change({ op: 'append', id: callId(event), text: event.text });
                return true;
            case 'tool_result':
                this.result(event);
                return true;
            default:
                return false;
        }
    }

    private begin(event: Event<'turn_started'>): void {
        const { waiting } = this.store.head();
        this.store.set({
            running: { turn: event.turn, began: this.store.now(), doing: 'thinking' },
            waiting: waiting.filter(({ turn }) => turn !== event.turn),
            published: [],
        });
        this.put({ id: `prompt-${event.turn}`, turn: event.turn, kind: 'prompt', text: event.prompt, how: 'sent', ...this.to() });
    }

    private end(event: Event<'turn_ended'>): void {
        this.settleAll();
        if (this.store.head().running?.turn === event.turn) this.store.set({ running: null });
        for (const item of this.store.items()) {
            if (item.turn !== event.turn) continue;
            if (item.kind === 'call' && (item.state === 'running' || item.state === 'asks')) this.put({ ...item, state: 'stopped' });
            if (item.kind === 'agent' && item.running) this.put({ ...item, running: false });
        }
        const text = ended(event.stopReason, event.message, this.spent.get(event.turn) ?? null);
        const reason = event.stopReason;
        this.put({ id: `end-${event.turn}`, turn: event.turn, kind: 'end', reason, text, canUndo: this.published.has(event.turn) });
    }

    private rewind(from: number): void {
        const ids = [...this.store.items()].filter(({ turn }) => turn >= from).map(({ id }) => id);
        this.store.change({ op: 'drop', ids });
        this.open.clear();
    }

    /** Changes are in the files: the end of their turn, which may have come before, offers to take them back. */
    private publish(event: Event<'published'>): void {
        // Changes of a teammate are reviewed and undone in the user's own conversation.
        if (this.store.member) return;
        this.published.add(event.turn);
        this.store.set({ published: [...this.store.head().published, ...event.changes] });
        const end = this.store.item(`end-${event.turn}`);
        if (end?.kind === 'end' && !end.canUndo) this.put({ ...end, canUndo: true });
    }

    private usage(event: Event<'usage'>): void {
        const { inTurn, total } = event;
        this.spent.set(event.turn, { input: inTurn.input + inTurn.cacheRead + inTurn.cacheWrite, output: inTurn.output, cost: inTurn.cost ?? null });
        const part: Partial<SessionHead> = { cost: total.cost ?? null };
        if (event.context) part.context = { used: event.context.used, size: event.context.size ?? null };
        this.store.set(part);
    }

    /** Says what is being done; `turn` is the one that surely runs by that. */
    private doing(doing: string, turn?: number): void {
        const { running } = this.store.head();
        if (running && running.doing !== doing) this.store.set({ running: { ...running, doing } });
        // The beginning of a teammate's turn was not told if another session was the current one then.
        if (!running && turn && this.store.member) this.store.set({ running: { turn, began: this.store.now(), doing } });
    }

    private delta(event: Event<'text_delta'> | Event<'thinking_delta'>, kind: 'text' | 'thinking'): void {
        const key = event.thread ?? '';
        const item = this.store.item(this.open.get(key) ?? '');
        if (item?.kind === kind && item.message === event.message && !item.settled) {
            return this.store.change({ op: 'append', id: item.id, text: event.text });
        }
        this.settle(event.thread);
        const id = freshId(kind);
        this.open.set(key, id);
        this.put({ id, turn: event.turn, kind, message: event.message, text: event.text, settled: false, ...threadOf(event) });
        if (!event.thread) this.doing(kind === 'text' ? 'writing' : 'thinking', event.turn);
    }

    /** What a step has said so far is void: the model is asked for it again. */
    private retry(event: Event<'retrying'>): void {
        const key = event.thread ?? '';
        const open = this.store.item(this.open.get(key) ?? '');
        this.open.delete(key);
        if (open?.kind === 'text' || open?.kind === 'thinking') {
            const { message } = open;
            const said = (item: Item) => 'message' in item && item.message === message && item.thread === open.thread;
            this.store.change({ op: 'drop', ids: [...this.store.items()].filter(said).map(({ id }) => id) });
        }
        const wait = event.waitMs >= 1000 ? ` in ${Math.ceil(event.waitMs / 1000)} s` : '';
        if (!event.thread) this.doing(`try ${event.attempt}${wait}: ${event.reason}`);
    }

    private call(event: Event<'tool_call'>): void {
        this.settle(event.thread);
        if (!event.thread) this.doing(event.tool, event.turn);
        this.put({
            id: callId(event),
            turn: event.turn,
            kind: 'call',
            call: event.call,
            tool: event.tool,
            title: event.title,
            state: 'running',
            place: '',
            output: '',
            preview: '',
            cut: false,
            secret: null,
            began: this.isLive ? this.store.now() : 0,
            ...threadOf(event),
        });
    }

    private result(event: Event<'tool_result'>): void {
        const item = this.store.item(callId(event));
        if (item?.kind !== 'call') return;
        const changes = this.store.head().hunks.length;
        const state = event.isError ? 'failed' : 'done';
        const done: CallItem = { ...item, state, place: place(event.ran, changes), preview: event.preview, secret: event.secret ?? null };
        this.put(done);
    }

    private agent(event: Event<'thread'>): void {
        const id = `agent-${event.thread ?? event.call}`;
        const { agent, description, steps, usage, changed, conflicts } = event;
        const running = event.state === 'started';
        const notes = [...(changed?.length ? [`changed ${changed.join(', ')}`] : []), ...(conflicts ?? [])];
        const tokens = usage ? usage.input + usage.cacheRead + usage.cacheWrite + usage.output : 0;
        if (!running) this.settle(event.thread);
        this.put({ id, turn: event.turn, kind: 'agent', call: event.call, agent, description, running, steps: steps ?? 0, tokens, note: notes.join('\n') });
    }

    /** The teammate that words are for. */
    private to(): { to?: string } {
        return this.store.member ? { to: this.store.member } : {};
    }

    private put(item: Item): void {
        this.store.change({ op: 'put', item });
    }

    private settle(thread: string | null | undefined): void {
        const key = thread ?? '';
        const item = this.store.item(this.open.get(key) ?? '');
        this.open.delete(key);
        if (item?.kind === 'text' || item?.kind === 'thinking') this.put({ ...item, settled: true });
    }

    private settleAll(): void {
        for (const thread of [...this.open.keys()]) this.settle(thread);
    }
}

/** The item of a call. The server gives no two calls of a session one id; with the thread none is mistaken if it should. */
function callId(event: { call: string; thread?: string | null }): string {
    return `call-${event.thread ?? ''}-${event.call}`;
}

function threadOf(event: { thread?: string | null }): { thread?: string } {
    return event.thread ? { thread: event.thread } : {};
}
