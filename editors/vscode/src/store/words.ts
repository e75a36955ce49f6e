// Sentences that people read about turns, tokens and changes. Pure, so that tests can read them too.

import type { BoardTask, HunkInfo, StopReason, TeamMember } from '../protocol.ts';

/** A number of things: `1 change`, `3 changes`. */
export function count(number: number, thing: string): string {
    return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

/** Thousands as people say them: `950`, `33k`, `1.2M`. */
export function short(number: number): string {
    if (number < 1000) return String(number);
    if (number < 999_500) return `${Math.round(number / 1000)}k`;
    return `${(number / 1_000_000).toFixed(1)}M`;
}

/** What was spent, as `$0.03`; empty where nothing has a price. */
export function money(cost: number | null | undefined): string {
    if (cost === null || cost === undefined) return '';
    return cost > 0 && cost < 0.01 ? '<$0.01' : `$${cost.toFixed(2)}`;
}

/** `3 changes in 2 files`. */
export function changesInFiles(files: readonly string[]): string {
    return `${count(files.length, 'change')} in ${count(new Set(files).size, 'file')}`;
}

const ENDS: Record<StopReason, string> = {
    end_turn: 'Done',
    max_tokens: 'Stopped: the answer was too long',
    max_steps: 'Stopped after many steps; say “continue” to go on',
    budget: 'Stopped: the budget is used up; say “continue” to go on',
    refusal: 'The model declined',
    interrupted: 'Stopped',
    error: 'It failed',
};

/** How a turn ended, in one line. */
export function ended(reason: StopReason, message: string | null, tokens: { input: number; output: number; cost?: number | null } | null): string {
    const parts = [ENDS[reason] ?? 'Ended'];
    if (message) parts[0] += `: ${message}`;
    // A turn that got nowhere has used nothing worth a word.
    if (tokens && tokens.input + tokens.output > 0) {
        parts.push(`${short(tokens.input)} tokens in, ${short(tokens.output)} out`);
        const cost = money(tokens.cost);
        if (cost) parts.push(cost);
    }
    return parts.join(' · ');
}

/** Where a command ran, if the user should know. */
export function place(ran: string | null | undefined, changes: number): string {
    if (ran === 'fork') return changes > 0 ? `on your unsaved text + ${count(changes, 'change')}` : 'on your unsaved text';
    if (ran === 'copy') return 'on a copy of the folder';
    if (ran === 'place') return 'on your files as they are on the disk';
    return '';
}

/** Who asks: a teammate by its name. */
export function asker({ member }: { member?: string | null }): string {
    return member || 'Ropewalk';
}

/** The name of the member that the user's own conversation is. */
export const LEAD = 'lead';

/** True if a member can be spoken to and ended: it lives in this server, and is not the user's own conversation. */
export function isTeammate({ name, session, state }: Pick<TeamMember, 'name' | 'session' | 'state'>): boolean {
    return name !== LEAD && Boolean(session) && state !== 'shutdown';
}

/** What a member does, in a few words: `#2 Write the parser`, `waits for work`. */
export function does({ name, state, task }: Pick<TeamMember, 'name' | 'state' | 'task'>, board: readonly BoardTask[]): string {
    const subject = board.find(({ number }) => number === task)?.subject;
    if (state === 'shutdown') return 'has ended';
    if (state === 'gone') return 'is gone';
    if (subject) return `#${task} ${plain(subject)}`;
    if (state === 'idle') return name === LEAD ? 'waits for you' : 'waits for work';
    return 'works';
}

/** What a task waits for or who has it: `alice`, `waits for #1 and #2`. */
export function taskState({ status, owner, blockedBy }: BoardTask): string {
    const by = owner ? plain(owner) : '';
    switch (status) {
        case 'in_progress':
            return by;
        case 'completed':
            return by ? `done by ${by}` : 'done';
        case 'pending':
            return blockedBy.length > 0 ? `waits for ${blockedBy.map((number) => `#${number}`).join(' and ')}` : 'open';
        default:
            return [status, by].filter(Boolean).join(' · ');
    }
}

/** True if nobody will work on a task any more. */
export function isOver({ status }: Pick<BoardTask, 'status'>): boolean {
    return status === 'completed' || status === 'cancelled';
}

/** The tasks as they are read: the one under way first, those that are over last. */
export function inOrder(board: readonly BoardTask[]): BoardTask[] {
    const order = { in_progress: 0, failed: 1, pending: 2, completed: 3, cancelled: 4 };
    return [...board].sort((one, other) => order[one.status] - order[other.status] || one.number - other.number);
}

/** Words on one line, without what could drive or reorder a row. */
export function plain(words: string): string {
    return words.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '�');
}

/** Whose work a change is: `task #3, alice`; empty for the session's own. */
export function madeBy({ members }: Pick<HunkInfo, 'members'>): string {
    return (members ?? []).map(({ member, task }) => (task ? `task #${task}, ${member}` : member)).join(' and ');
}
