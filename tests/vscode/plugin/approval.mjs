// A question with a command of 200 lines: it stands above the composer, whole and scrolled, its buttons outside. It is answered in every
// way it offers, and by no key that is meant for something else.

import assert from 'node:assert/strict';
import { axe } from './chat.mjs';

export async function run(desk) {
    await desk.edit('greet.py', 'def greet(name):\n    print("hello")\n');
    await desk.running();
    const chat = await desk.chat();
    const { keyboard } = desk.page;
    await chat.locator('#message').focus();
    await keyboard.type('run it');
    await keyboard.press('Enter');
    const box = chat.locator('.approval');
    await box.waitFor();
    await keyboard.type('typing on');
    await keyboard.press('Enter');
    assert.equal(await box.count(), 1, 'no key has answered');
    await looks(desk, chat, box);
    await answers(desk, chat, box);
    await desk.idle();
    const calls = (await desk.items()).filter(({ kind }) => kind === 'call');
    assert.deepEqual(calls.map(({ state }) => state), ['failed', 'done', 'done']);
}

/** The command is there to its last line, and can't push the buttons away. */
async function looks(desk, chat, box) {
    await desk.page.setViewportSize({ width: 1280, height: 420 });
    await desk.picture('approval_low');
    await onScreen(chat, box);
    await desk.page.setViewportSize({ width: 1280, height: 800 });
    await desk.until('the window as high as before', async () => (await chat.evaluate(() => innerHeight)) > 500);
    assert.match(await box.locator('.what pre').textContent(), /line 1\n[^]*line 200/);
    await onScreen(chat, box);
    assert.deepEqual(await box.locator('.buttons button').allTextContents(), ['Refuse', 'Once', 'Session']);
    for (const theme of ['Default Dark Modern', 'Default High Contrast', 'Default Light Modern']) {
        await desk.theme(theme);
        await axe(desk, chat, theme);
        await desk.picture(`approval_${theme.replaceAll(' ', '_').toLowerCase()}`);
    }
}

/** The buttons and the message field can be reached, however high the view is. */
async function onScreen(chat, box) {
    const bottom = await chat.evaluate(() => innerHeight);
    for (const part of [box.locator('.buttons'), chat.locator('.foot')]) {
        const end = await part.evaluate((one) => one.getBoundingClientRect().bottom);
        assert.ok(end <= bottom, `${end} is below ${bottom}`);
    }
}

async function answers(desk, chat, box) {
    const { keyboard } = desk.page;
    // No, with words.
    await box.getByRole('button', { name: 'Refuse' }).click();
    await box.locator('input:focus').waitFor();
    await keyboard.type('too long');
    await keyboard.press('Enter');
    await chat.getByText('second', { exact: false }).first().waitFor();
    // Once, in the chat.
    await box.getByRole('button', { name: 'Once' }).click();
    await desk.until('the third question', async () => (await desk.head()).approvals[0]?.detail.includes('third'));
    // By the palette's box, with the keyboard.
    await desk.command('ropewalk.ui.answer');
    await desk.page.locator('.quick-input-widget .monaco-list-row').nth(1).waitFor();
    await keyboard.type('once');
    await keyboard.press('Enter');
    await box.waitFor({ state: 'detached' });
}
