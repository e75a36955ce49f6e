// Where the user types: Enter sends (and joins a running turn), Alt+Enter waits for its end, Esc stops it, `@` and `/` complete.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Completion } from '../protocol.ts';
import type { ChatHead } from '../chat/messages.ts';
import { money } from '../store/words.ts';
import { keepDraft, keptDraft, post } from './api.ts';
import { Icon } from './icon.tsx';

export interface Completed {
    request: number;
    start: number;
    items: Completion[];
}

/** Words that the host puts where the user types. */
export interface Draft {
    text: string;
    /** `kept`: those of this conversation, as it has them; `other`: of another one, in the place of what was typed there; `back`:
     * words that come back, before what was typed since. */
    how: 'kept' | 'other' | 'back';
}

interface Props {
    head: ChatHead;
    draft: Draft | undefined;
    earlier: string[];
    completed: Completed | undefined;
    focus: number;
}

let requests = 0;

export function Composer({ head, draft, earlier, completed, focus }: Props) {
    const box = useRef<HTMLTextAreaElement>(null);
    const [text, setText] = useState(keptDraft());
    const [at, setAt] = useState(0);
    const [asked, setAsked] = useState(0);
    const [recalled, setRecalled] = useState(-1);
    const list = asked > 0 && completed?.request === asked ? completed : undefined;

    const put = (now: string) => {
        setText(now);
        keepDraft(now);
    };
    useEffect(() => {
        if (draft?.how === 'other') {
            put(draft.text);
            setAsked(0);
            setRecalled(-1);
        } else if (draft?.how === 'back') {
            put(text ? `${draft.text}\n${text}` : draft.text);
        } else if (draft?.text) {
            setText(draft.text);
        }
    }, [draft]);
    useEffect(() => {
        if (focus > 0) box.current?.focus();
    }, [focus]);
    useLayoutEffect(() => {
        const { current } = box;
        if (!current) return;
        current.style.height = 'auto';
        current.style.height = `${Math.min(current.scrollHeight + 2, 240)}px`;
    }, [text]);

    const complete = (now: string) => {
        const offset = box.current?.selectionStart ?? now.length;
        const word = /(^|\s)([@/][^\s]*)$/.exec(now.slice(0, offset))?.[2];
        // A slash is a command at the start alone; elsewhere it is a part of a path.
        if (!word || (word.startsWith('/') && offset !== word.length)) return setAsked(0);
        requests += 1;
        setAsked(requests);
        setAt(0);
        post({ type: 'complete', request: requests, text: now, offset });
    };
    const choose = (item: Completed['items'][number]) => {
        if (!list) return;
        const offset = box.current?.selectionStart ?? text.length;
        const before = `${text.slice(0, list.start)}${item.text} `;
        put(before + text.slice(offset).replace(/^ /, ''));
        setAsked(0);
        requestAnimationFrame(() => box.current?.setSelectionRange(before.length, before.length));
    };
    const send = (queue: boolean) => {
        if (!text.trim() || !canSpeak(head)) return;
        post({ type: 'send', text: text.trim(), queue });
        put('');
        setAsked(0);
        setRecalled(-1);
    };
    const recall = (step: number) => {
        const next = recalled + step;
        if (next < -1 || next >= earlier.length) return;
        setRecalled(next);
        put(next < 0 ? '' : (earlier[next] ?? ''));
    };

    const pressed = (event: KeyboardEvent) => {
        if (event.isComposing) return;
        const { key } = event;
        const isListed = list && list.items.length > 0;
        const item = list?.items[at];
        if (isListed && key === 'ArrowDown') setAt((at + 1) % list.items.length);
        else if (isListed && key === 'ArrowUp') setAt((at + list.items.length - 1) % list.items.length);
        else if (isListed && item && (key === 'Tab' || key === 'Enter') && !event.altKey) choose(item);
        else if (isListed && key === 'Escape') setAsked(0);
        else if (key === 'Enter' && !event.shiftKey) send(event.altKey);
        else if (key === 'Escape' && head.running) post({ type: 'stop' });
        else if (key === 'ArrowUp' && (text === '' || recalled >= 0)) recall(1);
        else if (key === 'ArrowDown' && recalled >= 0) recall(-1);
        else return;
        event.preventDefault();
    };

    return (
        <div class="composer">
            {list && list.items.length > 0 && <Choices list={list} at={at} choose={choose} />}
            <label class="sr" for="message">{head.teammate ? `Message to ${head.teammate.name}` : 'Message'}</label>
            <textarea id="message" ref={box} rows={1} value={text} placeholder={invitation(head)} readOnly={!canSpeak(head)}
                aria-autocomplete="list" {...(list?.items.length ? { 'aria-controls': 'choices', 'aria-activedescendant': `choice-${at}` } : {})}
                onInput={(event) => { setRecalled(-1); put(event.currentTarget.value); complete(event.currentTarget.value); }}
                onKeyDown={pressed} />
            <Foot head={head} canSend={text.trim() !== '' && canSpeak(head)} send={() => send(false)} />
        </div>
    );
}

function canSpeak({ teammate }: ChatHead): boolean {
    return teammate?.isHere ?? true;
}

/** What is said where nothing is typed yet. */
function invitation({ teammate, running }: ChatHead): string {
    if (teammate && !teammate.isHere) return `${teammate.name} takes no messages any more`;
    if (running) return teammate ? `Joins ${teammate.name}’s turn · Alt+Enter: after it` : 'Joins this turn · Alt+Enter: after it';
    return teammate ? `Message to ${teammate.name} · @ file` : 'Message · @ file · / command';
}

function Choices({ list, at, choose }: { list: Completed; at: number; choose(item: Completed['items'][number]): void }) {
    const chosen = useRef<HTMLLIElement>(null);
    useLayoutEffect(() => chosen.current?.scrollIntoView({ block: 'nearest' }), [at]);
    return (
        <ul id="choices" class="choices" role="listbox" aria-label="Completions" tabIndex={-1}>
            {list.items.map((item, index) => (
                <li key={item.text} id={`choice-${index}`} role="option" aria-selected={index === at} ref={index === at ? chosen : null}
                    onMouseDown={(event) => { event.preventDefault(); choose(item); }}>
                    <Icon name={item.kind === 'file' ? 'file' : 'symbol-event'} /> <span class="title">{item.text}</span> <span class="dim">{item.detail}</span>
                </li>
            ))}
        </ul>
    );
}

function Foot({ head, canSend, send }: { head: ChatHead; canSend: boolean; send(): void }) {
    const full = head.context?.size ? `${Math.round((100 * head.context.used) / head.context.size)}%` : '';
    const model = head.model?.split('/').slice(1).join('/') || head.model || 'no model';
    return (
        <div class="foot">
            {!head.teammate && (
                <>
                    <button type="button" class="pick" title="Choose mode" onClick={() => post({ type: 'command', command: 'mode' })}>{head.mode ?? 'mode'} <Icon name="chevron-down" /></button>
                    <button type="button" class="pick model" title={`Choose model (${head.model ?? 'none'})`} onClick={() => post({ type: 'command', command: 'model' })}><span>{model}</span> <Icon name="chevron-down" /></button>
                </>
            )}
            <span class="facts dim">
                {money(head.cost)} {full && <span title="How much of what the model takes is used"><span class="sr">context </span>{full}</span>}
            </span>
            {head.running && (
                <button type="button" class="icon" title="Stop (Esc)" onClick={() => post({ type: 'stop' })}><Icon name="debug-stop" /><span class="sr">Stop</span></button>
            )}
            <button type="button" class="icon" title="Send (Enter)" disabled={!canSend} onClick={send}><Icon name="send" /><span class="sr">Send</span></button>
        </div>
    );
}
