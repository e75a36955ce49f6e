// What waits for the user's answer. Pinned above the composer, so that nothing scrolls it away; buttons, and what they
// allow, stand outside the scrolled command. It never takes the focus.

import { useState } from 'preact/hooks';
import type { ApprovalAnswer } from '../protocol.ts';
import { answers } from '../store/choices.ts';
import type { Approval, TrustQuestion } from '../store/state.ts';
import { asker } from '../store/words.ts';
import { post } from './api.ts';
import { Icon } from './icon.tsx';

export function Approvals({ approvals, trust }: { approvals: Approval[]; trust: TrustQuestion[] }) {
    const [approval] = approvals;
    const [question] = trust;
    if (approval) return <Question key={approval.approval} approval={approval} more={approvals.length - 1} />;
    if (question) return <Trust question={question} />;
    return null;
}

function Question({ approval, more }: { approval: Approval; more: number }) {
    const [isRefusing, setRefusing] = useState(false);
    const [words, setWords] = useState('');
    const answer = (how: ApprovalAnswer, why?: string) =>
        post({ type: 'approve', approval: approval.approval, answer: how, ...(why ? { words: why } : {}) });
    return (
        <section class="approval" aria-label={`${asker(approval)} asks`}>
            <p class="head" role="alert">
                <Icon name="shield" /> {approval.member && <>{approval.member} asks: </>}<strong>{approval.tool}</strong> {approval.agent ? `by ${approval.agent} ` : ''}· {approval.reason}
                {more > 0 && <span class="dim"> · {more} more</span>}
            </p>
            <div class="what" tabIndex={0} role="region" aria-label="What it would run">
                {approval.unseen.length > 0 && <p class="dim">It won’t see what is unsaved in {approval.unseen.join(', ')}.</p>}
                <pre>{approval.detail}</pre>
            </div>
            {approval.ruleWords && <p class="dim rule">{approval.always ? 'Session and Always allow' : 'Session allows'}: {approval.ruleWords}</p>}
            {isRefusing ? (
                <form class="buttons" onSubmit={(event) => { event.preventDefault(); answer('refuse', words.trim()); }}>
                    <input aria-label="Why not? The model reads it" placeholder="why not? (may stay empty)" value={words} ref={(one) => one?.focus()}
                        onInput={(event) => setWords(event.currentTarget.value)}
                        onKeyDown={(event) => { if (event.key === 'Escape') setRefusing(false); }} />
                    <button type="submit" class="primary">Refuse</button>
                </form>
            ) : (
                <div class="buttons">
                    {answers(approval).map((choice) => (
                        <button key={choice.answer} type="button" title={choice.detail} class={choice.answer === 'once' ? 'primary' : ''}
                            onClick={() => (choice.answer === 'refuse' ? setRefusing(true) : answer(choice.answer))}>
                            {choice.label}
                        </button>
                    ))}
                </div>
            )}
        </section>
    );
}

function Trust({ question }: { question: TrustQuestion }) {
    const { root, hash, enables } = question;
    return (
        <section class="approval" aria-label="Ropewalk asks">
            <p class="head" role="alert"><Icon name="shield" /> The configuration of this folder asks for:</p>
            <div class="what" tabIndex={0} role="region" aria-label="What it asks for">
                <pre>{`${root}\n\n${enables.join('\n')}`}</pre>
            </div>
            <div class="buttons">
                <button type="button" onClick={() => post({ type: 'trust', root, hash, answer: 'never' })}>Never</button>
                <button type="button" class="primary" onClick={() => post({ type: 'trust', root, hash, answer: 'trust' })}>Trust exactly this</button>
            </div>
        </section>
    );
}
