// The conversation: prompts, words, thoughts, calls, subagents, ends. The view stays where the reader is, and follows only at its end.

import { memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ChatHead } from '../chat/messages.ts';
import type { Item } from '../store/items.ts';
import { short } from '../store/words.ts';
import { post } from './api.ts';
import { CallView } from './call.tsx';
import { Icon } from './icon.tsx';
import { Markdown } from './markdown.tsx';

/** How near to the end counts as being there, in pixels. */
const AT_END = 24;

export function TranscriptView({ items, hasEarlier, head }: { items: Item[]; hasEarlier: boolean; head: ChatHead }) {
    const box = useRef<HTMLElement>(null);
    const follows = useRef(true);
    const size = useRef('');
    const [isAway, setAway] = useState(false);
    const follow = () => {
        const { current } = box;
        if (!follows.current || !current) return;
        current.scrollTop = current.scrollHeight;
        size.current = sizeOf(current);
    };
    const scrolled = () => {
        const { current } = box;
        if (!current) return;
        // Words wrap elsewhere in a bar of another width, and a question takes room from below: that is not the reader's doing.
        if (follows.current && size.current !== sizeOf(current)) return follow();
        follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < AT_END;
        setAway(!follows.current);
    };
    useLayoutEffect(follow);
    useEffect(() => copyOnClick(box.current), []);
    useEffect(() => {
        const observer = new ResizeObserver(follow);
        if (box.current) observer.observe(box.current);
        return () => observer.disconnect();
    }, []);
    const toEnd = () => {
        follows.current = true;
        setAway(false);
        follow();
    };
    const nested = byThread(items);
    return (
        <div class="scroller">
            <section ref={box} class="transcript" aria-label="Conversation" tabIndex={0} onScroll={scrolled}>
                {hasEarlier && (
                    <button type="button" class="link" onClick={() => post({ type: 'earlier', before: items[0]?.id ?? '' })}>
                        Show earlier messages
                    </button>
                )}
                {items.length === 0 && <Welcome head={head} />}
                {items.filter(({ thread }) => !thread).map((item) => (
                    <ItemView key={item.id} item={item} inside={item.kind === 'agent' ? nested.get(item.id) : undefined} />
                ))}
            </section>
            {isAway && (
                <button type="button" class="to-end" onClick={toEnd}>
                    <Icon name="arrow-down" /> Latest
                </button>
            )}
        </div>
    );
}

function sizeOf({ scrollHeight, clientHeight, clientWidth }: HTMLElement): string {
    return `${scrollHeight} ${clientHeight} ${clientWidth}`;
}

function byThread(items: readonly Item[]): Map<string, Item[]> {
    const nested = new Map<string, Item[]>();
    for (const item of items) {
        if (!item.thread) continue;
        const key = `agent-${item.thread}`;
        nested.set(key, [...(nested.get(key) ?? []), item]);
    }
    return nested;
}

function copyOnClick(box: HTMLElement | null) {
    const copy = (event: MouseEvent) => {
        const button = (event.target as Element).closest('[data-copy]');
        const text = button?.closest('.code')?.querySelector('code')?.textContent;
        if (text) post({ type: 'copy', text });
    };
    box?.addEventListener('click', copy);
    return () => box?.removeEventListener('click', copy);
}

function Welcome({ head }: { head: ChatHead }) {
    if (head.problem) {
        return (
            <div class="welcome">
                <p><Icon name="warning" /> {head.problem.words}</p>
                <button type="button" class="primary" onClick={() => post({ type: 'command', command: 'mend' })}>{head.problem.mend}</button>
            </div>
        );
    }
    if (head.isStarting) return <p class="welcome dim">Starting…</p>;
    if (head.teammate) return <p class="welcome dim">Nothing was said here yet.</p>;
    return (
        <div class="welcome">
            <p>Say what should be done. Changes wait for your review; nothing reaches your files before you accept it.</p>
            {head.offer && (
                <p>
                    <button type="button" onClick={() => post({ type: 'resume', session: head.offer?.session ?? '' })}>Continue “{head.offer.title || 'the last conversation'}”</button>
                </p>
            )}
            {!head.model && (
                <button type="button" class="primary" onClick={() => post({ type: 'command', command: 'model' })}>Choose a model</button>
            )}
        </div>
    );
}

const ItemView = memo(({ item, inside }: { item: Item; inside?: Item[] | undefined }) => {
    switch (item.kind) {
        case 'prompt':
            return <Words item={item} />;
        case 'text':
            return <Markdown text={item.text} isSettled={item.settled} />;
        case 'thinking':
            return <Thoughts text={item.text} isSettled={item.settled} />;
        case 'call':
            return <CallView item={item} />;
        case 'agent':
            return <Agent item={item} inside={inside ?? []} />;
        case 'displaced':
            return <Displaced item={item} />;
        case 'end':
            return <End item={item} />;
        case 'compacted':
            return <p class="notice info"><Icon name="fold" /> <span>{item.text}</span></p>;
        case 'check':
            return <p class={`notice ${item.passed ? 'info' : 'warning'}`}><Icon name={item.passed ? 'pass' : 'warning'} /> <span>{item.text}</span></p>;
        case 'notice':
            return <p class={`notice ${item.level}`}><Icon name={item.level === 'info' ? 'info' : item.level} /> <span>{item.text}</span></p>;
    }
}, (before, now) => before.item === now.item && same(before.inside, now.inside));

function same(before: readonly Item[] | undefined, now: readonly Item[] | undefined): boolean {
    if (!before || !now) return before === now;
    return before.length === now.length && before.every((item, at) => item === now[at]);
}

/** Words that a turn began with, or that joined it. */
function Words({ item }: { item: Extract<Item, { kind: 'prompt' }> }) {
    // Teammates are also spoken to by the lead and by the board, so it is told to whom alone.
    const who = item.to ? `To ${item.to}` : 'You';
    // Marks that the board puts around its words are for the model.
    const text = item.to ? item.text.replace(/<\/?auto-claimed>/g, '').trim() : item.text;
    return (
        <div class="prompt">
            <span class="who">{item.how === 'joined' ? `${who}, meanwhile` : who}</span>
            <p>{text}</p>
        </div>
    );
}

function Thoughts({ text, isSettled }: { text: string; isSettled: boolean }) {
    return (
        <details class="thoughts">
            <summary>{isSettled ? 'Thoughts' : 'Thinking…'}</summary>
            <p>{text}</p>
        </details>
    );
}

function Agent({ item, inside }: { item: Extract<Item, { kind: 'agent' }>; inside: Item[] }) {
    const thread = item.id.slice('agent-'.length);
    const facts = [item.steps > 0 && `${item.steps} steps`, item.tokens > 0 && `${short(item.tokens)} tokens`].filter(Boolean).join(' · ');
    return (
        <details class="agent">
            <summary>
                <Icon name={item.running ? 'loading' : 'check'} spin={item.running} /> <strong>{item.agent}</strong> {item.description}
                {facts && <span class="dim"> · {facts}</span>}
            </summary>
            {item.running && <button type="button" class="link" onClick={() => post({ type: 'stop', thread })}>Stop this one</button>}
            {inside.map((one) => <ItemView key={one.id} item={one} />)}
            {item.note && <p class="dim note">{item.note}</p>}
        </details>
    );
}

function Displaced({ item }: { item: Extract<Item, { kind: 'displaced' }> }) {
    return (
        <div class="card">
            <p><Icon name="git-compare" /> You typed into a proposed change of <strong>{item.file}</strong>. Your text stays; the change no longer waits.</p>
            <div class="buttons">
                <button type="button" onClick={() => post({ type: 'displaced', id: item.id, action: 'both' })}>Show both</button>
                <button type="button" class="primary" onClick={() => post({ type: 'displaced', id: item.id, action: 'again' })}>Ask again</button>
            </div>
        </div>
    );
}

function End({ item }: { item: Extract<Item, { kind: 'end' }> }) {
    return (
        <div class={`end ${item.reason === 'end_turn' ? '' : 'failed'}`}>
            <Icon name={item.reason === 'end_turn' ? 'check' : 'circle-slash'} /> <span>{item.text}</span>
            {item.canUndo && (
                <button type="button" class="link" onClick={() => post({ type: 'undoTurn', turn: item.turn })}>Undo this turn</button>
            )}
            {item.reason === 'error' && /\bAPI key\b/.test(item.text) && (
                <button type="button" class="link" onClick={() => post({ type: 'command', command: 'setKey' })}>Set API Key…</button>
            )}
        </div>
    );
}
