// All that the plugin knows of the current session, besides the conversation itself.

import type { BoardTask, HunkInfo, Mode, SessionEvent, TeamMember, Todo } from '../protocol.ts';

export type Approval = Extract<SessionEvent, { type: 'approval_requested' }>;
export type TrustQuestion = Extract<SessionEvent, { type: 'trust_requested' }>;
export type Published = Extract<SessionEvent, { type: 'published' }>['changes'][number];

/** A prompt that waits for the running turn's end. */
export interface WaitingPrompt {
    turn: number;
    prompt: string;
}

/** A turn under way. */
export interface RunningTurn {
    turn: number;
    /** When it began, in milliseconds since 1970. */
    began: number;
    /** What it is doing, in a word or two. */
    doing: string;
}

export interface SessionHead {
    session: string | null;
    title: string;
    mode: Mode | null;
    model: string | null;
    running: RunningTurn | null;
    waiting: WaitingPrompt[];
    todos: Todo[];
    approvals: Approval[];
    trust: TrustQuestion[];
    /** The members of the session's team. */
    team: TeamMember[];
    /** The tasks of the team's board, by their numbers. */
    board: BoardTask[];
    hunks: HunkInfo[];
    /** Changes that reached the text by themselves since the last turn began: mode `auto`. */
    published: Published[];
    /** What the session cost so far, in US dollars; null where nothing has a price. */
    cost: number | null;
    /** How full the model's context is; null before the first answer. */
    context: { used: number; size: number | null } | null;
}

export function emptyHead(): SessionHead {
    return {
        session: null,
        title: '',
        mode: null,
        model: null,
        running: null,
        waiting: [],
        todos: [],
        approvals: [],
        trust: [],
        team: [],
        board: [],
        hunks: [],
        published: [],
        cost: null,
        context: null,
    };
}
