// The ways to answer what waits. The chat and the quick pick offer the same.

import type { ApprovalAnswer } from '../protocol.ts';
import type { Approval } from './state.ts';

export interface Choice {
    label: string;
    answer: ApprovalAnswer;
    /** What it means, in words. */
    detail: string;
}

/** The ways to answer, the safe one first. */
export function answers(approval: Pick<Approval, 'rule' | 'ruleWords' | 'always' | 'unseen'>): Choice[] {
    const unsaved = approval.unseen.length > 0;
    return [
        { label: 'Refuse', answer: 'refuse', detail: '' },
        { label: 'Once', answer: 'once', detail: 'Allow this one' },
        ...(unsaved ? [{ label: 'Save first', answer: 'afterSave' as const, detail: `Save ${approval.unseen.join(', ')}, then allow` }] : []),
        ...(approval.rule ? [{ label: 'Session', answer: 'session' as const, detail: `Until this conversation ends: ${approval.ruleWords ?? ''}` }] : []),
        ...(approval.rule && approval.always ? [{ label: 'Always', answer: 'always' as const, detail: `From now on: ${approval.ruleWords ?? ''}` }] : []),
    ];
}
