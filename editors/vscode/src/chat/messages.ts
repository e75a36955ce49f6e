// What host and webview say to each other. Types alone: both sides are ours and of one build.

import type { ApprovalAnswer, Completion } from '../protocol.ts';
import type { Item, TranscriptChange } from '../store/items.ts';
import type { Approval, SessionHead, TrustQuestion } from '../store/state.ts';

/** The teammate whose conversation is shown. */
export interface ShownTeammate {
    session: string;
    name: string;
    /** Its role and what it does: `coder · #2 Write the parser`. */
    about: string;
    /** True if it can be spoken to. */
    isHere: boolean;
}

/** A teammate as a button of the user's own conversation. */
export interface TeamButton {
    name: string;
    /** Its name and its task: `alice #2`. */
    label: string;
    /** What it does, in words. */
    about: string;
    isWorking: boolean;
    /** Its conversation; null where that is not here. */
    session: string | null;
}

/** The part of the head that the chat shows: of the conversation that is shown, and questions of all. */
export interface ChatHead extends Pick<SessionHead, 'title' | 'mode' | 'model' | 'running' | 'waiting' | 'todos' | 'cost' | 'context'> {
    /** Null while the user's own conversation is shown. */
    teammate: ShownTeammate | null;
    team: TeamButton[];
    approvals: Approval[];
    trust: TrustQuestion[];
    /** The file of each change that waits. */
    changed: string[];
    /** A sentence on what is wrong with the server, and the name of what mends it. */
    problem: { words: string; mend: string; command: string } | null;
    isStarting: boolean;
    /** A conversation that could be gone on with. */
    offer: { session: string; title: string } | null;
}

export type ToWebview =
    | { type: 'reset'; items: Item[]; hasEarlier: boolean; head: ChatHead; draft: string; earlier: string[] }
    | { type: 'changes'; changes: TranscriptChange[] }
    | { type: 'head'; head: ChatHead }
    | { type: 'earlier'; items: Item[]; hasEarlier: boolean }
    | { type: 'completions'; request: number; start: number; items: Completion[] }
    | { type: 'draft'; text: string }
    | { type: 'focus' }
    | { type: 'sent'; earlier: string[] };

export type FromWebview =
    | { type: 'ready' }
    | { type: 'send'; text: string; queue: boolean }
    | { type: 'draft'; text: string }
    | { type: 'stop'; thread?: string }
    | { type: 'unqueue'; turn: number }
    | { type: 'earlier'; before: string }
    | { type: 'complete'; request: number; text: string; offset: number }
    | { type: 'approve'; approval: number; answer: ApprovalAnswer; words?: string }
    | { type: 'trust'; root: string; hash: string; answer: 'trust' | 'never' }
    | { type: 'whole'; thread?: string; call: string; title: string }
    | { type: 'displaced'; id: string; action: 'both' | 'again' }
    | { type: 'undoTurn'; turn: number }
    | { type: 'copy'; text: string }
    | { type: 'resume'; session: string }
    | { type: 'show'; teammate: { session: string; name: string } | null }
    | { type: 'command'; command: 'review' | 'mode' | 'model' | 'new' | 'sessions' | 'mend' | 'setKey' };

/** A message with the conversation that was on the screen: the session of a teammate, or null for the user's own. */
export type Posted = FromWebview & { of: string | null };
