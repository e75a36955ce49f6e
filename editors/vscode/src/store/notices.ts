// Events that say something once and for all: notices, failed reviews, the check, compaction, changes set aside.

import type { SessionEvent } from '../protocol.ts';
import type { Item, TranscriptChange } from './items.ts';
import { count, short } from './words.ts';

let lastId = 0;

/** An id for what has none of its own. */
export function freshId(kind: string): string {
    lastId += 1;
    return `${kind}-${lastId}`;
}

/**
 * Adds the item that an event is, if it is one of these; false else. `turn` is the one that runs, to which a change set aside
 * belongs. Notices are of no turn: a rewind takes none away.
 */
export function noticed(event: SessionEvent, change: (change: TranscriptChange) => void, turn = 0): boolean {
    const thread = event.thread ? { thread: event.thread } : {};
    const put = (item: Item): true => {
        change({ op: 'put', item: { ...item, ...thread } });
        return true;
    };
    switch (event.type) {
        case 'notice':
            return put({ id: freshId('notice'), turn: 0, kind: 'notice', level: event.level, text: event.message });
        case 'reviewed':
            for (const failed of event.failed) {
                put({ id: freshId('notice'), turn: 0, kind: 'notice', level: 'error', text: failed });
            }
            return true;
        case 'check':
            return put({ id: `check-${event.turn}-${event.round}`, turn: event.turn, kind: 'check', ...checked(event) });
        case 'compacted': {
            const text = `The beginning of the conversation was summed up: ${short(event.before)} → ${short(event.after)} tokens.`;
            return put({ id: freshId('compacted'), turn: event.turn, kind: 'compacted', text });
        }
        case 'set_aside':
            return put({
                id: freshId('displaced'),
                turn,
                kind: 'displaced',
                uri: event.uri,
                file: event.file,
                old: event.old,
                proposed: event.new,
                now: event.now,
            });
        default:
            return false;
    }
}

/** A check in words: what was found, or that nothing was. */
function checked(event: Extract<SessionEvent, { type: 'check' }>): { passed: boolean; text: string } {
    if (event.passed) return { passed: true, text: 'Checked: nothing left to do' };
    const found = [];
    if (event.todos > 0) found.push(`${count(event.todos, 'step')} of the plan open`);
    if (event.errors.length > 0) found.push(`${count(event.errors.length, 'new error')}\n${event.errors.join('\n')}`);
    if (event.verify) found.push(`the check failed\n${event.verify}`);
    return { passed: false, text: `Checked: ${found.join(' · ')}` };
}
