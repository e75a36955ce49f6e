// The chat: transcript, what waits, composer. Draws what the host tells, once per frame, and keeps nothing of its own but the draft.

import '@vscode/codicons/dist/codicon.css';
import './style.css';
import { render } from 'preact';
import { useEffect, useReducer, useRef } from 'preact/hooks';
import type { ChatHead, ToWebview } from '../chat/messages.ts';
import { type Item, Transcript, type TranscriptChange } from '../store/items.ts';
import { post, setShown } from './api.ts';
import { Approvals } from './approval.tsx';
import { Composer, type Completed, type Draft } from './composer.tsx';
import { Plan, Waiting } from './plan.tsx';
import { Team, Whose } from './team.tsx';
import { TranscriptView } from './transcript.tsx';

/** How many items the webview holds: the host has the rest. */
const HELD = 400;

const EMPTY: ChatHead = {
    title: '', mode: null, model: null, running: null, waiting: [], todos: [], cost: null, context: null,
    approvals: [], trust: [], team: [], teammate: null, changed: [], problem: null, isStarting: true, offer: null,
};

const root = document.getElementById('root');

class Page {
    transcript = new Transcript();
    head: ChatHead = EMPTY;
    hasEarlier = false;
    draft: Draft | undefined;
    earlier: string[] = [];
    completed: Completed | undefined;
    focus = 0;
    /** The last text that is whole, to be read aloud once. */
    announced = '';

    take(message: ToWebview): void {
        switch (message.type) {
            case 'reset':
                root?.setAttribute('data-ready', '');
                this.fill(message.items);
                this.hasEarlier = message.hasEarlier;
                this.turnTo(message.head, message.draft);
                this.earlier = message.earlier;
                return;
            case 'earlier':
                this.fill(message.items);
                this.hasEarlier = message.hasEarlier;
                return;
            case 'changes':
                return message.changes.forEach((change) => this.change(change));
            case 'head':
                this.head = message.head;
                return;
            case 'completions':
                this.completed = message;
                return;
            case 'draft':
                this.draft = { text: message.text, how: 'back' };
                return;
            case 'sent':
                this.earlier = message.earlier;
                return;
            case 'focus':
                this.focus += 1;
        }
    }

    /** Takes the head of the conversation that is shown from now on, which may be another one. */
    private turnTo(head: ChatHead, draft: string): void {
        const isOfOther = shownIn(this.head) !== shownIn(head);
        if (isOfOther) this.announced = '';
        this.head = head;
        this.draft = { text: draft, how: isOfOther ? 'other' : 'kept' };
        setShown(shownIn(head));
    }

    private fill(items: readonly Item[]): void {
        this.transcript = new Transcript();
        for (const item of items) this.transcript.apply({ op: 'put', item });
    }

    private change(change: TranscriptChange): void {
        if (change.op === 'put' && change.item.kind === 'text' && change.item.settled) this.announce(change.item);
        this.transcript.apply(change);
        if (this.transcript.items.size > HELD) {
            const [oldest] = this.transcript.items.keys();
            if (oldest !== undefined) this.transcript.apply({ op: 'drop', ids: [oldest] });
            this.hasEarlier = true;
        }
    }

    private announce(item: Extract<Item, { kind: 'text' | 'thinking' }>): void {
        const before = this.transcript.items.get(item.id);
        const wasSettled = before?.kind === 'text' && before.settled;
        if (!wasSettled && !item.thread) this.announced = item.text;
    }
}

/** The session of the teammate whose conversation is shown; null for the user's own. */
function shownIn({ teammate }: ChatHead): string | null {
    return teammate?.session ?? null;
}

const page = new Page();

function App() {
    const [, redraw] = useReducer((count: number) => count + 1, 0);
    const frame = useRef(0);
    useEffect(() => {
        const hear = ({ data }: MessageEvent<ToWebview>) => {
            page.take(data);
            frame.current ||= requestAnimationFrame(() => {
                frame.current = 0;
                redraw(0);
            });
        };
        window.addEventListener('message', hear);
        post({ type: 'ready' });
        return () => window.removeEventListener('message', hear);
    }, []);
    const { head } = page;
    return (
        <>
            <h1 class="sr">{head.teammate ? `Conversation of ${head.teammate.name}` : head.title || 'Chat with Ropewalk'}</h1>
            <Whose teammate={head.teammate} />
            <TranscriptView key={shownIn(head) ?? ''} items={[...page.transcript.items.values()]} hasEarlier={page.hasEarlier} head={head} />
            <div class="sr" aria-live="polite" role="status">{page.announced}</div>
            <Plan todos={head.todos} />
            <Team team={head.team} />
            <Approvals approvals={head.approvals} trust={head.trust} />
            <Waiting head={head} />
            <Composer head={head} draft={page.draft} earlier={page.earlier} completed={page.completed} focus={page.focus} />
        </>
    );
}

if (root) render(<App />, root);
