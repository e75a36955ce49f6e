// The window is reloaded while changes wait, and the server is killed amid a turn: draft, conversation, changes and mode are there again.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export async function run(desk) {
    await desk.edit('greet.py', 'def greet(name):\n    print("hello")\n');
    await desk.running();
    const chat = await desk.chat();
    await chat.locator('#message:focus').waitFor();
    await chat.locator('#message').fill('greet by name');
    await chat.locator('#message').press('Enter');
    await desk.hunks(1);
    await desk.idle();
    await chat.locator('#message').fill('half a thought');
    await desk.until('the draft on the disk', () => remembered(desk).includes('half a thought'));
    await reload(desk);
    await crash(desk);
}

/** What the extension has written down for this folder. */
export function remembered({ home }) {
    const folder = join(home, 'user-data');
    const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('memory.json'));
    return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
}

async function reload(desk) {
    await desk.reload();
    await desk.running();
    await desk.hunks(1);
    const chat = await desk.chat();
    await desk.until('the draft', async () => (await chat.locator('#message').inputValue()) === 'half a thought');
    await chat.getByText('It greets by name.').first().waitFor();
    assert.equal((await desk.head()).mode, 'review');
    const shown = (await desk.items()).map(({ kind }) => kind).filter((kind) => kind !== 'notice');
    assert.deepEqual(shown, ['prompt', 'call', 'text', 'end']);
    await desk.picture('reload');
}

async function crash(desk) {
    const chat = await desk.chat();
    await chat.locator('#message').fill('say more');
    await chat.locator('#message').press('Enter');
    await desk.gateReached('amid');
    await chat.getByText('Amid the turn').first().waitFor();
    const pid = await desk.serverPid();
    process.kill(pid, 'SIGKILL');
    await desk.until('another server', async () => {
        const now = await desk.serverPid();
        return now && now !== pid;
    });
    await desk.running();
    await desk.hunks(1);
    await desk.idle();
    desk.openGate('amid');
    const items = await desk.items();
    const ends = items.filter(({ kind }) => kind === 'end').map(({ reason }) => reason);
    assert.deepEqual(ends, ['end_turn', 'interrupted']);
    assert.ok(items.some(({ kind, text }) => kind === 'text' && text.startsWith('Amid the turn')));
    await chat.getByText('Amid the turn').first().waitFor();
}
