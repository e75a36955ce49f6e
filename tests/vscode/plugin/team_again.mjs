// A window that is reloaded amid a team's work: a teammate's conversation is whole, with nothing twice, and its question is answered
// from wherever the user is.

import assert from 'node:assert/strict';
import { remembered } from './reload.mjs';
import { row, say } from './team.mjs';

export async function run(desk) {
    await desk.edit('greet.py', 'def greet(name):\n    print("hello")\n');
    await desk.running();
    const before = await desk.chat();
    await say(desk, before, 'Let alice do it');
    await desk.gateReached('alice');
    await desk.idle();
    await row(desk, 'alice').click();
    await before.getByText('I look for a task.').first().waitFor();
    await before.locator('#message').focus();
    await desk.page.keyboard.type('half a thought');
    await desk.until('the draft on the disk', () => remembered(desk).includes('half a thought'));
    await desk.reload();
    await desk.running();
    const chat = await desk.chat();
    await desk.gateReached('again');
    await row(desk, 'alice').click();
    await chat.getByText('I look for a task.').first().waitFor();
    await desk.until('the draft', async () => (await chat.locator('#message').inputValue()) === 'half a thought');
    const prompts = await chat.locator('.prompt .who').allTextContents();
    assert.deepEqual(prompts, ['To alice', 'To alice', 'To alice']);
    assert.equal(await chat.locator('.transcript').getByText('I look for a task.').count(), 1);
    await chat.getByRole('button', { name: 'Stop' }).waitFor();
    desk.openGate('alice');
    desk.openGate('again');
    await chat.getByText('alice asks:').waitFor();
    await row(desk, 'alice').getByText('asks you').waitFor();
    await desk.picture('team_asks');
    await chat.getByRole('button', { name: 'Back' }).click();
    await chat.getByText('She is at it.').first().waitFor();
    await chat.getByText('alice asks:').waitFor();
    await chat.getByRole('button', { name: 'Once' }).click();
    await chat.getByText('All is done.').first().waitFor();
}
