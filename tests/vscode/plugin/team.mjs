// A team at work: who works on what is on the screen, one teammate is spoken to, one is stopped, and the review says whose each
// change is. In a wide bar and a narrow one; nothing runs out of it, and axe finds nothing.

import assert from 'node:assert/strict';
import { axe } from './chat.mjs';
import { cut } from './looks.mjs';

/** Side bars as wide and as narrow as people make them, in pixels. */
const WIDE = 480;
const NARROW = 300;

export async function run(desk) {
    await desk.edit('greet.py', 'def greet(name):\n    print("hello", name)\n\n\ndef leave(name):\n    print("bye", name)\n');
    await desk.running();
    await desk.theme('Default Dark Modern');
    const chat = await desk.chat();
    await desk.widen(WIDE);
    await say(desk, chat, 'Three tasks for two, please');
    await desk.gateReached('alice');
    await desk.gateReached('bob');
    await desk.idle();
    await working(desk, { alice: 1, bob: 2 });
    await chat.getByText('Team: alice #1, bob #2').waitFor();
    await say(desk, chat, '/tasks');
    await chat.getByText('#3: A file with notes').waitFor();
    await say(desk, chat, '/team');
    await chat.getByText('bob (tester): working on #2').waitFor();
    await look(desk, chat, 'working');
    await spokenTo(desk, chat);
    await stopped(desk, chat);
    await review(desk, chat);
}

/** Words of the user reach alice by the lead, and her change is there. */
async function spokenTo(desk, chat) {
    await say(desk, chat, 'Tell alice to be brief');
    await chat.getByText('I have told her.').first().waitFor();
    await desk.idle();
    desk.openGate('alice');
    const [change] = await desk.hunks(1);
    assert.deepEqual(change.members.map(({ member, task }) => [member, task]), [['alice', 1]]);
    await desk.gateReached('notes');
    await working(desk, { alice: 3, bob: 2 });
}

async function stopped(desk, chat) {
    await say(desk, chat, '/team stop bob');
    await chat.getByText('bob was asked to end.').waitFor();
    await working(desk, { alice: 3 });
    await chat.getByText('Team: alice #3', { exact: true }).waitFor();
    await say(desk, chat, '/team');
    await chat.getByText('bob (tester): has ended').waitFor();
    await look(desk, chat, 'stopped');
    desk.openGate('bob');
    desk.openGate('notes');
    await desk.hunks(2);
}

/** Each change says whose work it is, in the thread below its lines. */
async function review(desk, chat) {
    await desk.edit('greet.py');
    await desk.keys('n');
    const thread = desk.page.locator('.review-widget').first();
    await thread.getByText('task #1, alice').waitFor();
    await look(desk, chat, 'review');
}

async function say(desk, chat, words) {
    await chat.locator('#message').focus();
    await desk.page.keyboard.type(words);
    await desk.page.keyboard.press('Enter');
}

/** Waits until these teammates alone are at work, each on its task. */
async function working(desk, wanted) {
    await desk.until(`at work: ${JSON.stringify(wanted)}`, async () => {
        const { team } = await desk.head();
        const now = team.filter(({ name, state }) => name !== 'lead' && state === 'working').map(({ name, task }) => [name, task]);
        return JSON.stringify(Object.fromEntries(now)) === JSON.stringify(wanted);
    });
}

async function look(desk, chat, what) {
    for (const [how, width] of [['narrow', NARROW], ['wide', WIDE]]) {
        await desk.widen(width);
        await desk.until('the end of the conversation', () =>
            chat.locator('.transcript').evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight < 24));
        await desk.picture(`team_${what}_${how}`);
        assert.deepEqual(await chat.evaluate(cut), [], `${what}, ${how}`);
        await axe(desk, chat, `${what}, ${how}`);
    }
}
