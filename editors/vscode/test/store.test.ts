// What the store keeps and what it leaves out, where no page says it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BoardTask, SessionEvent, TeamMember } from '../src/protocol.ts';
import { answers } from '../src/store/choices.ts';
import { joined, OUTPUT_KEPT, Transcript } from '../src/store/items.ts';
import { Store } from '../src/store/store.ts';
import { asker, changesInFiles, does, ended, inOrder, isTeammate, madeBy, money, place, short, taskState } from '../src/store/words.ts';

const event = (one: object) => ({ session: 's', ...one }) as SessionEvent;

function running(): Store {
    const store = new Store(() => 1000);
    store.apply(event({ type: 'session_started', title: '', turns: 0, mode: 'review', model: 'a/b', context: 100 }));
    store.apply(event({ type: 'turn_started', turn: 1, prompt: 'go' }));
    return store;
}

test('10,000 deltas are one item, whole, and few changes', () => {
    const store = running();
    const mirror = new Transcript();
    const pieces = Array.from({ length: 10_000 }, (_, index) => `${index} `);
    const changes = pieces.flatMap((text) => store.apply(event({ type: 'text_delta', turn: 1, message: 'm', text })).changes);
    for (const change of joined(changes)) mirror.apply(change);
    assert.equal(joined(changes).length, 2);
    const texts = [...mirror.items.values()].filter(({ kind }) => kind === 'text');
    assert.equal(texts.length, 1);
    assert.ok(texts[0]?.kind === 'text' && texts[0].text === pieces.join(''));
});

test('a megabyte of output is kept at its end, cut at a line', () => {
    const store = running();
    store.apply(event({ type: 'tool_call', turn: 1, call: 'c', tool: 'bash', title: 'bash x', input: {} }));
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${'x'.repeat(40)}\n`);
    for (const text of lines) store.apply(event({ type: 'tool_output', turn: 1, call: 'c', text }));
    const item = [...store.transcript.items.values()].find(({ kind }) => kind === 'call');
    assert.ok(item?.kind === 'call' && item.cut);
    assert.ok(item.output.length <= OUTPUT_KEPT);
    assert.match(item.output, /^line \d+ x/);
    assert.ok(item.output.endsWith(lines.at(-1) ?? '!'));
});

test('a compaction between turns leaves nothing behind, however it ends', () => {
    const summing = event({ type: 'compacting', turn: 1, why: 'asked' });
    const during = running();
    during.apply(summing);
    assert.equal(during.head.running?.doing, 'summing up');
    const store = running();
    store.apply(event({ type: 'turn_ended', turn: 1, stopReason: 'end_turn', message: null }));
    const before = structuredClone(store.head);
    store.apply(summing);
    assert.deepEqual(store.head, before);
    store.apply(event({ type: 'notice', level: 'info', message: 'The summary was stopped; nothing has changed.' }));
    assert.deepEqual(store.head, before);
    store.apply(event({ type: 'turn_started', turn: 2, prompt: 'on' }));
    assert.equal(store.head.running?.doing, 'thinking');
});

const tokens = (cost: number) => ({ input: 100_000, output: 500, cacheRead: 0, cacheWrite: 0, cost });
const used = (cost: number) => ({ step: tokens(cost), inTurn: tokens(cost), total: tokens(cost), context: { used: 50, size: 100 } });

/** The end of a turn as it is shown. */
function end(store: Store, turn: number): { text: string; canUndo: boolean } {
    const item = store.transcript.items.get(`end-${turn}`);
    assert.ok(item?.kind === 'end');
    return { text: item.text, canUndo: item.canUndo };
}

test('what a subagent has used is not what the session and its turn have', () => {
    const store = running();
    store.apply(event({ type: 'usage', turn: 1, ...used(2) }));
    assert.deepEqual([...store.apply(event({ type: 'usage', turn: 1, thread: 't', ...used(0.01) })).head], []);
    assert.equal(store.head.cost, 2);
    store.apply(event({ type: 'turn_ended', turn: 1, stopReason: 'end_turn', message: null }));
    assert.equal(end(store, 1).text, 'Done · 100k tokens in, 500 out · $2.00');
});

test('a question is shown at the call of its thread', () => {
    const store = running();
    for (const thread of [{ thread: 't' }, {}]) {
        store.apply(event({ type: 'tool_call', turn: 1, call: 'c', tool: 'bash', title: 'x', input: {}, ...thread }));
    }
    const state = (id: string) => {
        const item = store.transcript.items.get(id);
        return item?.kind === 'call' ? item.state : undefined;
    };
    const asked = { turn: 1, approval: 7, call: 'c', tool: 'bash', detail: 'x', reason: '' };
    store.apply(event({ type: 'approval_requested', ...asked }));
    assert.deepEqual([state('call--c'), state('call-t-c')], ['asks', 'running']);
    store.apply(event({ type: 'approval_resolved', turn: 1, approval: 7, how: 'allowed' }));
    assert.deepEqual([state('call--c'), state('call-t-c')], ['running', 'running']);
});

test('a turn can be taken back once a change of it is in the files, whichever tool made it, and in its own session alone', () => {
    const change = { hunk: 3, uri: 'file:///a', file: 'a', kind: 'rename', version: null, range: null };
    const store = running();
    const ends = (turn: number) => store.apply(event({ type: 'turn_ended', turn, stopReason: 'end_turn', message: null }));
    store.apply(event({ type: 'published', turn: 1, changes: [change] }));
    ends(1);
    assert.equal(end(store, 1).canUndo, true);
    store.apply(event({ type: 'turn_started', turn: 2, prompt: 'go' }));
    ends(2);
    assert.equal(end(store, 2).canUndo, false);
    store.apply(event({ type: 'published', turn: 2, changes: [change] }));
    assert.equal(end(store, 2).canUndo, true);
    const other = (one: object) => store.apply({ ...event(one), session: 'other' } as SessionEvent);
    other({ type: 'session_started', title: '', turns: 0, mode: 'review', model: 'a/b', context: 100 });
    other({ type: 'turn_started', turn: 1, prompt: 'only say' });
    other({ type: 'turn_ended', turn: 1, stopReason: 'end_turn', message: null });
    assert.equal(end(store, 1).canUndo, false);
    store.restore([{
        turn: 0, at: 0, prompt: 'earlier', stopReason: 'end_turn', usage: {} as never,
        events: [event({ type: 'published', turn: 0, changes: [change] })],
    }]);
    assert.equal(end(store, 0).canUndo, true);
    assert.deepEqual(store.head.published, []);
});

test('events of another session are left out', () => {
    const store = running();
    assert.deepEqual(store.apply({ ...event({ type: 'turn_started', turn: 9, prompt: 'x' }), session: 'other' } as SessionEvent).changes, []);
    assert.equal(store.head.running?.turn, 1);
});

test('the server dies amid a turn: the conversation stays, nothing waits or runs', () => {
    const store = running();
    store.apply(event({ type: 'queued', turn: 2, prompt: 'next' }));
    store.apply(event({ type: 'text_delta', turn: 1, message: 'm', text: 'half' }));
    store.forget();
    assert.equal(store.head.running, null);
    assert.deepEqual(store.head.waiting, []);
    assert.deepEqual([...store.transcript.items.values()].map(({ kind }) => kind), ['prompt', 'text', 'end']);
});

test('history stands before what is shown', () => {
    const store = running();
    store.restore([{
        turn: 0, at: 0, prompt: 'earlier', stopReason: 'end_turn', usage: {} as never,
        events: [event({ type: 'turn_started', turn: 0, prompt: 'earlier' }), event({ type: 'text_delta', turn: 0, message: 'h', text: 'old' })],
    }]);
    const texts = [...store.transcript.items.values()].map((item) => ('text' in item ? item.text : ''));
    assert.deepEqual(texts, ['earlier', 'old', 'Done', 'go']);
    assert.equal(store.head.running?.turn, 1);
});

test('answers: the safe one first, a rule only where there is one', () => {
    const labels = (more: object) => answers({ rule: null, ruleWords: null, always: false, unseen: [], ...more }).map(({ label }) => label);
    assert.deepEqual(labels({}), ['Refuse', 'Once']);
    assert.deepEqual(labels({ rule: 'bash(x)', always: true }), ['Refuse', 'Once', 'Session', 'Always']);
    assert.deepEqual(labels({ rule: 'bash(x)', unseen: ['a.py'] }), ['Refuse', 'Once', 'Save first', 'Session']);
});

test('words for people', () => {
    assert.equal(short(33_364), '33k');
    assert.equal(money(0.004), '<$0.01');
    assert.equal(money(null), '');
    assert.equal(changesInFiles(['a', 'a', 'b']), '3 changes in 2 files');
    assert.equal(ended('end_turn', null, { input: 33_364, output: 594, cost: 0.031 }), 'Done · 33k tokens in, 594 out · $0.03');
    assert.equal(ended('error', 'there is no API key', { input: 0, output: 0, cost: 0 }), 'It failed: there is no API key');
    assert.equal(place('fork', 2), 'on your unsaved text + 2 changes');
});

const of = (member: string, session: string, one: object) => ({ ...one, member, session }) as SessionEvent;
const asked = { type: 'approval_requested', turn: 1, approval: 7, call: 'c', tool: 'bash', detail: 'touch x', reason: '' };
const began = { type: 'session_started', title: '', turns: 0, mode: 'review', model: 'a/b', context: 100 };
const task = (number: number, status: string, owner: string | null = null, blockedBy: number[] = []) =>
    ({ number, subject: `task ${number}`, status, owner, blockedBy, attempt: 0 }) as BoardTask;

test('a teammate asks under its name, and only its own conversation changes by the rest', () => {
    const store = running();
    store.apply(of('alice', 'of alice', began));
    store.apply(of('alice', 'of alice', { type: 'turn_started', turn: 1, prompt: 'write' }));
    const { head, teammates } = store.apply(of('alice', 'of alice', asked));
    assert.deepEqual([[...head], [...teammates.keys()]], [['approvals'], ['of alice']]);
    store.apply(event({ ...asked, approval: 8 }));
    assert.deepEqual(store.head.approvals.map(asker), ['alice', 'Ropewalk']);
    assert.equal(store.head.approvals[0]?.session, 'of alice');
    const called = store.apply(of('alice', 'of alice', { type: 'tool_call', turn: 1, call: 'd', tool: 'bash', title: 'x', input: {} }));
    assert.deepEqual([[...called.head], called.changes], [[], []]);
    assert.equal(called.teammates.get('of alice')?.changes.length, 1);
    const own = store.teammates.get('of alice');
    assert.deepEqual([own?.member, own?.head.session, own?.isWhole], ['alice', 'of alice', true]);
    const [prompt] = own?.transcript.items.values() ?? [];
    assert.ok(prompt?.kind === 'prompt' && prompt.to === 'alice');
});

test('what a teammate has put into the files is not undone from its conversation', () => {
    const store = running();
    const own = store.teammate('of alice', 'alice');
    store.apply(of('alice', 'of alice', { type: 'turn_started', turn: 1, prompt: 'write' }));
    store.apply(of('alice', 'of alice', { type: 'published', turn: 1, changes: [{ hunk: 3 }] }));
    store.apply(of('alice', 'of alice', { type: 'turn_ended', turn: 1, stopReason: 'end_turn', message: null }));
    assert.equal(end(own, 1).canUndo, false);
});

test('the earlier turns of a teammate whose beginning was not seen are put in front once', () => {
    const store = running();
    const turn = (number: number) => ({
        turn: number, at: 0, prompt: `turn ${number}`, stopReason: 'end_turn' as const, usage: {} as never,
        events: [event({ type: 'text_delta', turn: number, message: `m${number}`, text: `said in ${number}` })],
    });
    store.apply(of('alice', 'of alice', { type: 'turn_started', turn: 3, prompt: 'turn 3' }));
    const own = store.teammate('of alice', 'alice');
    assert.deepEqual([own.isWhole, own.firstTurn], [false, 3]);
    // The third has ended while the history was on its way.
    store.apply(of('alice', 'of alice', { type: 'turn_ended', turn: 3, stopReason: 'end_turn', message: null }));
    own.restore([turn(1), turn(2), turn(3)]);
    const prompts = [...own.transcript.items.values()].flatMap((item) => (item.kind === 'prompt' ? [item.text] : []));
    assert.deepEqual([prompts, own.isWhole], [['turn 1', 'turn 2', 'turn 3'], true]);
    const known = store.teammate('of bob', 'bob');
    store.apply(of('bob', 'of bob', { ...began, turns: 2 }));
    assert.deepEqual([known.isWhole, known.firstTurn], [false, undefined]);
});

test('a teammate whose turn began unheard runs by what it says, and only until its end', () => {
    const store = running();
    const own = store.teammate('of alice', 'alice');
    store.apply(of('alice', 'of alice', { type: 'text_delta', turn: 4, message: 'm', text: 'amid' }));
    assert.deepEqual(own.head.running, { turn: 4, began: 1000, doing: 'writing' });
    store.apply(of('alice', 'of alice', { type: 'turn_ended', turn: 4, stopReason: 'end_turn', message: null }));
    own.restore([{ turn: 3, at: 0, prompt: 'x', stopReason: 'end_turn', usage: {} as never, events: [event({ type: 'text_delta', turn: 3, message: 'h', text: 'old' })] }]);
    assert.equal(own.head.running, null);
});

test('a server that dies ends the turns of teammates too', () => {
    const store = running();
    store.apply(of('alice', 'of alice', { type: 'turn_started', turn: 1, prompt: 'write' }));
    const { teammates } = store.forget();
    assert.deepEqual([...teammates.keys()], ['of alice']);
    assert.equal(store.teammates.get('of alice')?.head.running, null);
});

test('what members do and where tasks stand, in words', () => {
    const member = (name: string, state: string, number: number | null = null, session: string | null = 'x') =>
        ({ name, role: '', state, task: number, tokens: 0, cents: 0, session }) as TeamMember;
    const board = [task(3, 'in_progress', 'alice'), task(4, 'completed', 'bob'), task(5, 'pending', null, [3, 4]), task(6, 'pending')];
    const all = [member('lead', 'idle'), member('alice', 'working', 3), member('bob', 'idle'), member('carol', 'working', null, null), member('dan', 'shutdown', null, null)];
    assert.deepEqual(all.map((one) => does(one, board)), ['waits for you', '#3 task 3', 'waits for work', 'works', 'has ended']);
    assert.deepEqual(all.filter(isTeammate).map(({ name }) => name), ['alice', 'bob']);
    assert.deepEqual(board.map(taskState), ['alice', 'done by bob', 'waits for #3 and #4', 'open']);
    assert.deepEqual(inOrder([task(1, 'completed'), task(2, 'pending'), task(3, 'in_progress'), task(4, 'failed')]).map(({ number }) => number), [3, 4, 2, 1]);
});

test('a change of teammates names them with their tasks', () => {
    assert.equal(madeBy({ members: [{ member: 'alice', task: 3 }, { member: 'bob' }] }), 'task #3, alice and bob');
    assert.equal(madeBy({}), '');
});
