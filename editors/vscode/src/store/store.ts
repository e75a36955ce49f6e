// Events of the server → what is shown. Pure: no editor, no clock but the one that is handed in, no diffing. Everything the
// plugin draws is read from here, so that the same events always lead to the same screen.

import type { HistoryTurn, SessionEvent } from '../protocol.ts';
import { Transcript, type TranscriptChange } from './items.ts';
import { emptyHead, type SessionHead } from './state.ts';
import { TurnWriter } from './turns.ts';
import { noticed } from './notices.ts';

/** What an event has changed, for those who draw. */
export interface Outcome {
    changes: TranscriptChange[];
    /** Parts of the head that are another now. */
    head: Set<keyof SessionHead>;
    /** What is another in the conversations of teammates, by their sessions. */
    teammates: Map<string, Outcome>;
}

function nothing(): Outcome {
    return { changes: [], head: new Set(), teammates: new Map() };
}

export class Store {
    head: SessionHead = emptyHead();
    readonly transcript = new Transcript();
    /** The conversations of teammates, by their sessions. */
    readonly teammates = new Map<string, Store>();
    /** The name of the teammate whose conversation this is; undefined for the user's own. */
    readonly member: string | undefined;
    /** True if all that was said is known here, from the first turn on. */
    isWhole = false;
    private isNew = true;
    private readonly writer: TurnWriter;
    private readonly now: () => number;
    private outcome: Outcome = nothing();

    /** `now` gives milliseconds since 1970; `teammate` is the one whose conversation it is to be. */
    constructor(now: () => number = Date.now, teammate?: { session: string; name: string }) {
        this.now = now;
        this.member = teammate?.name;
        if (teammate) this.head.session = teammate.session;
        this.writer = new TurnWriter({
            change: (change) => this.change(change),
            item: (id) => this.transcript.items.get(id),
            items: () => this.transcript.items.values(),
            head: () => this.head,
            set: (part) => this.set(part),
            now: () => this.now(),
            member: this.member,
        });
    }

    /** Takes one event; what has changed by it. */
    apply(event: SessionEvent): Outcome {
        this.outcome = nothing();
        if (event.member) {
            this.ofTeammate(event);
            return this.outcome;
        }
        if (event.session && this.head.session && event.session !== this.head.session && event.type !== 'session_started') {
            // Of the session before: nothing of it is shown any more.
            return this.outcome;
        }
        this.ofSession(event) || this.ofReview(event) || this.writer.apply(event) || this.ofSettings(event);
        this.isNew = false;
        return this.outcome;
    }

    /** The server has died: what waited for it waits no more. The conversation stays. */
    forget(): Outcome {
        this.outcome = nothing();
        const { session, title, mode, model, running } = this.head;
        if (running) this.writer.cut(running.turn);
        this.writer.forget();
        this.set({ ...emptyHead(), session, title, mode, model });
        this.forgetTeammates();
        return this.outcome;
    }

    /** The conversation of a teammate, begun where nothing of it is known yet. */
    teammate(session: string, name: string): Store {
        const known = this.teammates.get(session);
        if (known) return known;
        const begun = new Store(this.now, { session, name });
        this.teammates.set(session, begun);
        return begun;
    }

    /** The first turn of which something is known; undefined where nothing is. */
    get firstTurn(): number | undefined {
        for (const { turn, kind } of this.transcript.items.values()) if (turn > 0 && kind !== 'compacted') return turn;
        return undefined;
    }

    /** A waiting prompt was taken back. */
    unqueued(turn: number): Outcome {
        this.outcome = nothing();
        this.set({ waiting: this.head.waiting.filter((one) => one.turn !== turn) });
        return this.outcome;
    }

    /** A question of trust was answered. */
    trusted(root: string): Outcome {
        this.outcome = nothing();
        this.set({ trust: this.head.trust.filter((one) => one.root !== root) });
        return this.outcome;
    }

    /** Finished turns from the server's history, in front of what is shown. One that was heard of since is not told twice. */
    restore(turns: readonly HistoryTurn[]): Outcome {
        this.outcome = nothing();
        const later = [...this.transcript.items.values()];
        const first = this.firstTurn ?? Infinity;
        this.change({ op: 'clear' });
        const writer = this.writer.apart();
        for (const { turn, prompt, stopReason, events } of turns.filter(({ turn }) => turn < first)) {
            const has = (type: SessionEvent['type']) => events.some((event) => event.type === type);
            if (!has('turn_started')) writer.apply({ type: 'turn_started', turn, prompt });
            for (const event of events) writer.apply(event) || noticed(event, (change) => this.change(change), turn);
            if (!has('turn_ended')) writer.apply({ type: 'turn_ended', turn, stopReason, message: null });
        }
        for (const item of later) this.change({ op: 'put', item });
        this.isWhole = true;
        return this.outcome;
    }

    private change(change: TranscriptChange): void {
        this.transcript.apply(change);
        this.outcome.changes.push(change);
    }

    private set(part: Partial<SessionHead>): void {
        this.head = { ...this.head, ...part };
        for (const name of Object.keys(part)) this.outcome.head.add(name as keyof SessionHead);
    }

    /** The server has died: the turns of teammates end as the user's own does. */
    private forgetTeammates(): void {
        for (const [session, own] of this.teammates) this.outcome.teammates.set(session, own.forget());
    }

    /** Takes an event into the teammate's own conversation. What it asks waits beside the session's own questions. */
    private ofTeammate({ member, ...event }: SessionEvent): void {
        if (!member || !event.session) return;
        this.outcome.teammates.set(event.session, this.teammate(event.session, member).apply(event));
        const { approvals } = this.head;
        const keep = (kept: typeof approvals) => kept.length < approvals.length && this.set({ approvals: kept });
        if (event.type === 'approval_requested') this.set({ approvals: [...approvals, { ...event, member }] });
        else if (event.type === 'approval_resolved') keep(approvals.filter(({ approval }) => approval !== event.approval));
        else if (event.type === 'turn_ended' && !event.thread) {
            keep(approvals.filter(({ member, session }) => !member || session !== event.session));
        }
    }

    private ofSession(event: SessionEvent): boolean {
        switch (event.type) {
            case 'session_started':
                this.begin(event);
                return true;
            case 'team':
                this.set({ team: event.members });
                return true;
            case 'board_task':
                this.board(event);
                return true;
            case 'session_renamed':
                this.set({ title: event.title });
                return true;
            case 'queued':
                this.set({ waiting: [...this.head.waiting, { turn: event.turn, prompt: event.prompt }] });
                return true;
            case 'trust_requested':
                this.set({ trust: [...this.head.trust.filter(({ root }) => root !== event.root), event] });
                return true;
            default:
                return false;
        }
    }

    private board({ number, subject, status, owner, blockedBy, attempt }: Extract<SessionEvent, { type: 'board_task' }>): void {
        const others = this.head.board.filter((one) => one.number !== number);
        const task = { number, subject, status, owner, blockedBy, attempt };
        this.set({ board: [...others, task].sort((one, other) => one.number - other.number) });
    }

    private begin(event: Extract<SessionEvent, { type: 'session_started' }>): void {
        const before = this.head;
        const session = event.session ?? null;
        if (before.session !== session || this.isNew) this.isWhole = event.turns === 0;
        if (before.session !== session) {
            this.change({ op: 'clear' });
            this.teammates.clear();
        } else if (before.running) {
            // The same one goes on after its server has died: its turn does not.
            this.writer.cut(before.running.turn);
        }
        this.writer.forget();
        this.forgetTeammates();
        const { title, mode, model, context } = event;
        const size = context ?? null;
        this.set({
            ...emptyHead(),
            trust: before.trust,
            // Teammates ask on, whichever conversation is shown; of a server that has died nobody does.
            approvals: before.session === session ? [] : before.approvals.filter(({ member }) => member),
            session,
            title,
            mode,
            model,
            published: before.session === session ? before.published : [],
            context: size === null ? null : { used: 0, size },
        });
    }

    private ofReview(event: SessionEvent): boolean {
        switch (event.type) {
            case 'hunks':
                this.set({ hunks: event.hunks });
                return true;
            case 'reviewed':
                if (event.action === 'undo' || event.action === 'rewind') this.set({ published: [] });
                noticed(event, (change) => this.change(change));
                return true;
            case 'approval_requested':
                this.set({ approvals: [...this.head.approvals, event] });
                this.writer.asks(event, true);
                return true;
            case 'approval_resolved': {
                const answered = this.head.approvals.find(({ approval }) => approval === event.approval);
                this.set({ approvals: this.head.approvals.filter((one) => one !== answered) });
                if (answered) this.writer.asks(answered, false);
                return true;
            }
            case 'todos':
                this.set({ todos: event.todos });
                return true;
            default:
                return noticed(event, (change) => this.change(change), this.head.running?.turn);
        }
    }

    private ofSettings(event: SessionEvent): boolean {
        switch (event.type) {
            case 'mode_changed':
                this.set({ mode: event.mode });
                return true;
            case 'model_changed':
                this.set({ model: event.model });
                return true;
            default:
                return false;
        }
    }
}
