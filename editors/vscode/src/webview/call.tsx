// A call in one line, with its output below it when it is opened.

import { useEffect, useState } from 'preact/hooks';
import type { CallItem } from '../store/items.ts';
import { post } from './api.ts';
import { Icon, seconds } from './icon.tsx';

/** How many lines of an output are shown; the whole opens as a document. */
const LINES = 400;

const STATES = {
    running: { icon: 'loading', words: 'running' },
    asks: { icon: 'shield', words: 'waits for your answer' },
    stopped: { icon: 'circle-slash', words: 'stopped' },
    done: { icon: 'check', words: 'done' },
    failed: { icon: 'error', words: 'failed' },
};

export function CallView({ item }: { item: CallItem }) {
    const [isOpen, setOpen] = useState(false);
    const { icon, words } = STATES[item.state];
    const isRunning = isOngoing(item);
    return (
        <div class={`call ${item.state}`}>
            <button type="button" class="line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
                <Icon name={icon} spin={item.state === 'running'} />
                <span class="sr">{words}</span>
                <span class="tool">{item.tool}</span>
                <span class="title" title={item.title}>{item.title}</span>
                {isRunning && item.began > 0 && <Clock since={item.began} />}
            </button>
            {isOpen && <Output item={item} />}
        </div>
    );
}

function isOngoing({ state }: CallItem): boolean {
    return state === 'running' || state === 'asks';
}

function Output({ item }: { item: CallItem }) {
    const lines = (item.output || item.preview).replace(/\n$/, '').split('\n');
    const shown = lines.slice(-LINES);
    const isCut = item.cut || lines.length > shown.length;
    return (
        <div class="output">
            {item.place && <p class="dim">{item.place}</p>}
            {item.secret && <p class="notice warning"><Icon name="key" /> <span>It may show secrets of {item.secret}.</span></p>}
            {isCut && <p class="dim">The last {shown.length} lines:</p>}
            {lines.join('') && <pre tabIndex={0} role="region" aria-label={`Output of ${item.tool}`}>{shown.join('\n')}</pre>}
            {!isOngoing(item) && (
                <button type="button" class="link" onClick={() => post({ type: 'whole', call: item.call, title: item.title })}>
                    Open the whole output
                </button>
            )}
        </div>
    );
}

function Clock({ since }: { since: number }) {
    const [now, setNow] = useState(Date.now());
    useEffect(() => {
        const timer = setInterval(() => setNow(Date.now()), 1000);
        return () => clearInterval(timer);
    }, []);
    return <span class="dim clock">{seconds(since, now)}</span>;
}
