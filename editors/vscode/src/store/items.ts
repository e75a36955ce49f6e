// What the conversation consists of on the screen, and the few operations that change it. Host and webview apply the same
// operations by the same function, so neither can show what the other doesn't have.

import type { Level, StopReason } from '../protocol.ts';

/** How many characters of a running command's output are kept; the server has the whole. */
export const OUTPUT_KEPT = 64_000;
/** How many items are kept before the oldest go; the server's history has them. */
export const ITEMS_KEPT = 2_000;

/** Where every item stands: its turn, and the subagent it is of. */
interface Placed {
    id: string;
    turn: number;
    thread?: string;
}

export type Item = Placed &
    (
        | { kind: 'prompt'; text: string; how: 'sent' | 'queued' | 'joined'; to?: string }
        | { kind: 'text' | 'thinking'; message: string; text: string; settled: boolean }
        | CallParts
        | { kind: 'agent'; call: string; agent: string; description: string; running: boolean; steps: number; tokens: number; note: string }
        | { kind: 'notice'; level: Level; text: string }
        | { kind: 'check'; passed: boolean; text: string }
        | { kind: 'compacted'; text: string }
        | { kind: 'displaced'; uri: string; file: string; old: string; proposed: string; now: string }
        | { kind: 'end'; reason: StopReason; text: string; canUndo: boolean }
    );

export interface CallParts {
    kind: 'call';
    call: string;
    tool: string;
    title: string;
    state: 'running' | 'asks' | 'done' | 'failed' | 'stopped';
    /** Where it ran, in words for the user; empty where that says nothing. */
    place: string;
    /** What it has said while it ran. */
    output: string;
    /** The start of what the model got. */
    preview: string;
    /** True if the start of the output was left out. */
    cut: boolean;
    secret: string | null;
    /** When it began, in milliseconds since 1970; 0 where that is not known. */
    began: number;
}

/** A call in its place. */
export type CallItem = Extract<Item, { kind: 'call' }>;

export type TranscriptChange =
    | { op: 'put'; item: Item }
    | { op: 'append'; id: string; text: string }
    | { op: 'drop'; ids: string[] }
    | { op: 'clear' };

/** The conversation in order, with each item found by its id. */
export class Transcript {
    readonly items = new Map<string, Item>();

    /** Makes a change; an append to what isn't there is left out. */
    apply(change: TranscriptChange): void {
        switch (change.op) {
            case 'clear':
                return this.items.clear();
            case 'drop':
                for (const id of change.ids) this.items.delete(id);
                return;
            case 'put':
                this.items.set(change.item.id, change.item);
                return this.forgetOldest();
            case 'append': {
                const item = this.items.get(change.id);
                if (item) this.items.set(item.id, appended(item, change.text));
            }
        }
    }

    /** The last items, oldest first. */
    last(count: number): Item[] {
        return [...this.items.values()].slice(-count);
    }

    private forgetOldest(): void {
        if (this.items.size <= ITEMS_KEPT) return;
        const oldest = this.items.keys().next();
        if (!oldest.done) this.items.delete(oldest.value);
    }
}

function appended(item: Item, text: string): Item {
    if (item.kind === 'text' || item.kind === 'thinking') return { ...item, text: item.text + text };
    if (item.kind !== 'call') return item;
    const whole = item.output + text;
    if (whole.length <= OUTPUT_KEPT) return { ...item, output: whole };
    // A cut in mid-line would show a line that was never said.
    const from = whole.indexOf('\n', whole.length - OUTPUT_KEPT / 2);
    return { ...item, output: whole.slice(from + 1), cut: true };
}

/** Changes as few as say the same: neighbouring appends to one item become one. */
export function joined(changes: readonly TranscriptChange[]): TranscriptChange[] {
    const all: TranscriptChange[] = [];
    for (const change of changes) {
        const before = all.at(-1);
        if (change.op === 'append' && before?.op === 'append' && before.id === change.id) {
            all[all.length - 1] = { ...before, text: before.text + change.text };
        } else {
            all.push(change);
        }
    }
    return all;
}
