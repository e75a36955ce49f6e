// The plan, what waits in line, and the changes that wait for review: small lists pinned between transcript and composer.

import type { ChatHead } from '../chat/messages.ts';
import type { Todo } from '../protocol.ts';
import { changesInFiles } from '../store/words.ts';
import { post } from './api.ts';
import { Icon } from './icon.tsx';

const ICONS: Record<Todo['status'], { icon: string; words: string }> = {
    pending: { icon: 'circle-large-outline', words: 'open' },
    in_progress: { icon: 'arrow-right', words: 'under way' },
    completed: { icon: 'check', words: 'done' },
};

export function Plan({ todos }: { todos: Todo[] }) {
    if (todos.length === 0) return null;
    const done = todos.filter(({ status }) => status === 'completed').length;
    const current = todos.find(({ status }) => status === 'in_progress') ?? todos.find(({ status }) => status === 'pending');
    return (
        <details class="plan">
            <summary>
                Plan {done}/{todos.length}{current && <span class="dim"> · {current.content}</span>}
            </summary>
            <ul>
                {todos.map(({ content, status }) => (
                    <li key={content} class={status}>
                        <Icon name={ICONS[status].icon} /> <span class="sr">{ICONS[status].words}: </span>{content}
                    </li>
                ))}
            </ul>
        </details>
    );
}

export function Waiting({ head }: { head: ChatHead }) {
    return (
        <>
            {head.waiting.map(({ turn, prompt }) => (
                <div key={turn} class="queued">
                    <Icon name="clock" /> <span class="title">{prompt}</span>
                    <button type="button" class="link" onClick={() => post({ type: 'unqueue', turn })}>Take back</button>
                </div>
            ))}
            {head.changed.length > 0 && head.approvals.length === 0 && (
                <div class="changed">
                    <span>{changesInFiles(head.changed)}</span>
                    <button type="button" onClick={() => post({ type: 'command', command: 'review' })}>Review</button>
                </div>
            )}
        </>
    );
}
