// A team at work: who works on what is on the screen, a teammate's conversation is read, one is spoken to, stopped and ended, and the
// review says whose each change is. In a wide bar and a narrow one; nothing runs out of it, and axe finds nothing.

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
    await seen(desk, chat);
    await spokenTo(desk, chat);
    await stopped(desk, chat);
    await ended(desk, chat);
    await review(desk, chat);
}

/** Who works on what stands in the view of the team and in the chat. */
async function seen(desk, chat) {
    await row(desk, 'alice').getByText('writer · #1 A docstring for greet()').waitFor();
    await row(desk, 'bob').getByText('tester · #2 A docstring for leave(), and a test of it').waitFor();
    await row(desk, 'Tasks').getByText('0 of 3 done').waitFor();
    await row(desk, 'Tasks').hover();
    await desk.page.mouse.wheel(0, 400);
    await row(desk, '#3 A file with notes').getByText('open').waitFor();
    await desk.page.mouse.wheel(0, -400);
    await chat.getByRole('button', { name: 'bob #2' }).waitFor();
    await say(desk, chat, '/tasks');
    await chat.getByText('#3: A file with notes').waitFor();
    await look(desk, chat, 'working');
    await chat.getByRole('button', { name: 'bob #2' }).focus();
    await desk.page.keyboard.press('Enter');
    await chat.getByText('bob · tester · #2').waitFor();
    await chat.locator('#message:focus').waitFor();
    await desk.command('ropewalk.ui.teammate');
    await desk.page.locator('.quick-input-list').getByText('You and the lead').click();
    await chat.getByText('They find their work on the board.').first().waitFor();
}

/** A row of the view leads to alice's conversation, and words there join her turn. */
async function spokenTo(desk, chat) {
    await chat.locator('#message').fill('half a thought');
    await row(desk, 'alice').click();
    await chat.getByText('alice · writer · #1 A docstring for greet()').waitFor();
    await chat.getByText('I look for a task.').first().waitFor();
    assert.equal(await chat.getByText('They find their work on the board.').count(), 0);
    assert.equal(await chat.locator('#message').inputValue(), '');
    await say(desk, chat, 'Be brief, please.');
    await look(desk, chat, 'teammate');
    desk.openGate('alice');
    await chat.getByText('To alice, meanwhile').waitFor();
    const [change] = await desk.hunks(1);
    assert.deepEqual(change.members.map(({ member, task }) => [member, task]), [['alice', 1]]);
}

/** Stop is for her turn alone. She waits for words then, and goes on by them. */
async function stopped(desk, chat) {
    await desk.gateReached('notes');
    await chat.getByText('alice · writer · #3 A file with notes').waitFor();
    await chat.getByRole('button', { name: 'Stop' }).click();
    await chat.locator('.end').getByText('Stopped').waitFor();
    await row(desk, 'bob').getByText('tester · #2').waitFor();
    await row(desk, 'alice').getByText('writer · waits for work').waitFor();
    await say(desk, chat, 'Go on now.');
    await chat.getByText('Gladly.').first().waitFor();
    await desk.hunks(2);
    await row(desk, 'Tasks').getByText('2 of 3 done').waitFor();
    desk.openGate('notes');
}

/** A teammate is ended from its row, once the user has said so again. */
async function ended(desk, chat) {
    await row(desk, 'bob').hover();
    await row(desk, 'bob').getByRole('button', { name: 'Speak to This Teammate' }).click();
    await chat.getByText('bob · tester · #2').waitFor();
    await chat.locator('#message:focus').waitFor();
    await row(desk, 'bob').hover();
    await row(desk, 'bob').getByRole('button', { name: 'End a Teammate' }).click();
    const dialog = desk.page.locator('.monaco-dialog-box');
    await dialog.getByText('Task #2 goes back to the board').waitFor();
    await desk.picture('team_dialog');
    await dialog.getByRole('button', { name: 'End bob' }).click();
    await row(desk, 'bob').getByText('tester · has ended').waitFor();
    await chat.getByText('bob · tester · has ended').waitFor();
    await chat.getByPlaceholder('bob takes no messages any more').waitFor();
    await look(desk, chat, 'ended');
    desk.openGate('bob');
    await chat.getByRole('button', { name: 'Back' }).click();
    await chat.getByText('They find their work on the board.').first().waitFor();
    await chat.locator('#message:focus').waitFor();
    assert.equal(await chat.locator('#message').inputValue(), 'half a thought');
    assert.equal(await chat.getByText('I look for a task.').count(), 0);
}

/** Each change says whose work it is: in the list, and in the thread below its lines. */
async function review(desk, chat) {
    await row(desk, 'greet.py').getByText('task #1, alice').waitFor();
    await desk.edit('greet.py');
    await desk.keys('n');
    const thread = desk.page.locator('.review-widget').first();
    await thread.getByText('task #1, alice').waitFor();
    await look(desk, chat, 'review');
}

/** A row of the team's view or of the list of changes. */
export function row(desk, name) {
    return desk.page.locator('.pane .monaco-list-row', { has: desk.page.locator('.monaco-icon-label .label-name', { hasText: new RegExp(`^${escaped(name)}$`) }) });
}

function escaped(words) {
    return words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export async function say(desk, chat, words) {
    await chat.locator('#message').focus();
    await desk.page.keyboard.type(words);
    await desk.page.keyboard.press('Enter');
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
