// The pages of tests/editors/pages, replayed by the store: both plugins show the same.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Item } from '../src/store/items.ts';
import { Store } from '../src/store/store.ts';

const pages = join(import.meta.dirname, '../../../tests/editors/pages');

function shown(item: Item, all: readonly Item[]): unknown {
    const turn = item.turn ? { turn: item.turn } : {};
    switch (item.kind) {
        case 'prompt':
            return { kind: item.how === 'joined' ? 'steer' : 'prompt', ...turn, text: item.text };
        case 'text':
        case 'thinking':
            return { kind: item.kind, ...turn, text: item.text };
        case 'call': {
            const { kind, call, tool, state, output } = item;
            return { kind, ...turn, call, tool, state, output };
        }
        case 'agent': {
            const items = all.filter(({ thread }) => `agent-${thread}` === item.id).map((one) => shown(one, all));
            return { kind: 'thread', ...turn, call: item.call, state: item.running ? 'started' : 'ended', items };
        }
        case 'check':
            return { kind: 'check', ...turn, passed: item.passed };
        case 'compacted':
            return { kind: 'compacted' };
        case 'displaced':
            return { kind: 'set_aside', ...turn, file: item.file };
        case 'notice':
            return { kind: 'notice', level: item.level, text: item.text };
        case 'end':
            return { kind: 'end', ...turn, reason: item.reason };
    }
}

function transcript(store: Store): unknown[] {
    const items = [...store.transcript.items.values()];
    return items.filter(({ thread }) => !thread).map((item) => shown(item, items));
}

/** Leaves out what is null or not there, as the pages do. */
function said(fields: object): object {
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function held(store: Store): Record<string, unknown> {
    const { head } = store;
    return {
        transcript: transcript(store),
        team: head.team.map(({ name, state, task, session }) => said({ name, state, task, session })),
        board: head.board.map(({ number, subject, status, owner }) => said({ number, subject, status, owner })),
        teammates: Object.fromEntries([...store.teammates].map(([session, own]) => [session, transcript(own)])),
        plan: head.todos.map(({ content, status }) => ({ content, status })),
        changes: head.hunks.map(({ id, file, kind }) => ({ id, file, kind })),
        published: head.published.map(({ hunk, file }) => ({ hunk, file })),
        approvals: head.approvals.map(({ approval }) => approval),
        queued: head.waiting,
        running: head.running?.turn ?? null,
        cost: head.cost,
        summing: head.running?.doing === 'summing up',
        session: head.session,
        title: head.title,
        mode: head.mode,
        model: head.model,
    };
}

for (const name of readdirSync(pages).filter((name) => name.endsWith('.jsonl'))) {
    test(name, () => {
        const store = new Store(() => 1);
        let expected = 0;
        for (const [index, line] of readFileSync(join(pages, name), 'utf8').trim().split('\n').entries()) {
            const { event, history, expect } = JSON.parse(line);
            // The plugin itself tells its store of a prompt that was taken back.
            if (event?.type === 'unqueued') store.unqueued(event.turn);
            else if (event) store.apply(event);
            if (history) store.restore(history);
            if (!expect) continue;
            expected += 1;
            const now = held(store);
            const wanted = Object.fromEntries(Object.keys(expect).map((field) => [field, now[field]]));
            assert.deepEqual(wanted, expect, `line ${index + 1}`);
        }
        assert.ok(expected > 0, 'the page expects something');
    });
}
